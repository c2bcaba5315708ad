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
    /// The head at the start of a walk from the beginning that is not done yet, else 0.
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
    static let size = 60
}
