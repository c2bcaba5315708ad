/// A reader's position that can be kept: "I have everything up to here".
///
/// It names the journal, the session in force, the position, a scope and, for a walk from the beginning, the bound
/// of that walk. Its text form is 80 characters of base64url, opaque, and safe in a shell.
public struct Cursor: Hashable, Sendable {
    /// What a cursor was made for; mixing them is an error.
    public enum Kind: UInt8, Sendable {
        /// A position in a journal, for reading and following.
        case journal = 1
        /// A database change token.
        case database = 2
        /// A zone change token.
        case zone = 3
    }

    /// What the cursor was made for.
    public var kind: Kind
    /// The journal it belongs to.
    public var journal: JournalID
    /// The session in force at its commit.
    public var session: UInt64
    /// The position: everything up to and including it has been seen.
    public var position: JournalPosition
    /// The zone's number for a zone token, else 0.
    public var scope: UInt64
    /// The head at the start of a walk that is not done yet, else 0.
    public var bound: UInt64

    /// Makes a cursor.
    public init(
        kind: Kind, journal: JournalID, session: UInt64, position: JournalPosition, scope: UInt64 = 0,
        bound: UInt64 = 0
    ) {
        self.kind = kind
        self.journal = journal
        self.session = session
        self.position = position
        self.scope = scope
        self.bound = bound
    }

    /// The number of bytes in the fixed layout.
    public static let size = 60

    /// The fixed layout: journal, session, commit, index, scope, bound, kind, check digits.
    public var bytes: [UInt8] { Array(copying: layout.span) }

    private var layout: InlineArray<60, UInt8> {
        var layout = InlineArray<60, UInt8>(repeating: 0)
        var span = layout.mutableSpan
        unsafe span.withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: journal.high.littleEndian, toByteOffset: 0, as: UInt64.self)
            unsafe bytes.storeBytes(of: journal.low.littleEndian, toByteOffset: 8, as: UInt64.self)
            unsafe bytes.storeBytes(of: session.littleEndian, toByteOffset: 16, as: UInt64.self)
            unsafe bytes.storeBytes(of: position.commit.littleEndian, toByteOffset: 24, as: UInt64.self)
            unsafe bytes.storeBytes(of: position.index.littleEndian, toByteOffset: 32, as: UInt32.self)
            unsafe bytes.storeBytes(of: scope.littleEndian, toByteOffset: 36, as: UInt64.self)
            unsafe bytes.storeBytes(of: bound.littleEndian, toByteOffset: 44, as: UInt64.self)
            unsafe bytes.storeBytes(of: UInt32(kind.rawValue).littleEndian, toByteOffset: 52, as: UInt32.self)
            let check = unsafe crc32c(UnsafeRawBufferPointer(rebasing: bytes[..<56]))
            unsafe bytes.storeBytes(of: check.littleEndian, toByteOffset: 56, as: UInt32.self)
        }
        return layout
    }

    /// Reads the fixed layout; anything wrong is ``JournalError/malformedCursor``.
    public init(bytes: [UInt8]) throws(JournalError) {
        guard bytes.count == Self.size, bytes.crc(0..<56) == bytes.word32(at: 56),
            let kind = Kind(rawValue: UInt8(clamping: bytes.word32(at: 52)))
        else { throw .malformedCursor }
        self.kind = kind
        journal = JournalID(high: bytes.word64(at: 0), low: bytes.word64(at: 8))
        session = bytes.word64(at: 16)
        position = JournalPosition(commit: bytes.word64(at: 24), index: bytes.word32(at: 32))
        scope = bytes.word64(at: 36)
        bound = bytes.word64(at: 44)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// 80 characters of base64url.
    public var text: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text form; nothing is allocated where there is room for it.
    package func append(to text: inout [UInt8]) {
        let layout = layout
        let alphabet = Self.alphabet
        var start = 0
        while start < Self.size {
            let group =
                UInt32(layout[start]) << 16 | UInt32(layout[start + 1]) << 8 | UInt32(layout[start + 2])
            text.append(alphabet[Int(group >> 18)])
            text.append(alphabet[Int(group >> 12) & 63])
            text.append(alphabet[Int(group >> 6) & 63])
            text.append(alphabet[Int(group) & 63])
            start += 3
        }
    }

    /// Reads the text form; anything wrong is ``JournalError/malformedCursor``.
    public init(text: String) throws(JournalError) {
        let characters = Array(text.utf8)
        guard characters.count == 80 else { throw .malformedCursor }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: 80, by: 4) {
            var group: UInt32 = 0
            for character in characters[start..<start + 4] {
                guard let value = Self.alphabet.firstIndex(of: character) else { throw .malformedCursor }
                group = group << 6 | UInt32(value)
            }
            for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(shift))) }
        }
        try self.init(bytes: bytes)
    }
}
