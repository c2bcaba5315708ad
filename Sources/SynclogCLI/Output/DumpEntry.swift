import SynclogJournal
import SynclogRecords

/// One entry of a journal as `dump` shows it: fields in a fixed order, each with one value or more.
///
/// It is made once and filled again for each entry: names and values lie one behind the other in one buffer, so that
/// nothing is allocated for an entry.
struct DumpEntry: Sendable {
    /// The facts that address it.
    struct Address: Hashable, Sendable {
        var position: JournalPosition
        var cursor: Cursor
        /// Microseconds since 1970.
        var wall: Int64
        /// Microseconds since the session's label.
        var monotonic: Int64
    }

    /// Where a field lies in the text.
    struct Place: Sendable {
        /// The name that export and JSON show.
        var name: Range<Int>
        /// The name that people read: `.title` for a user's field.
        var plainName: Range<Int>
        /// The places of its values among those of all fields; a list has several.
        var values: Range<Int>
        /// The first eight bytes of the name, for sorting.
        fileprivate var start: UInt64
    }

    var address = Address(
        position: .start,
        cursor: Cursor(kind: .journal, journal: JournalID(high: 0, low: 0), session: 0, position: .start),
        wall: 0, monotonic: 0)
    /// The number of the device that made the commit.
    var device: UInt32 = 0
    /// What the short forms show before the message: zone and type, or kind.
    private(set) var subject = 0..<0
    /// Everything but what addresses the entry, message first.
    private(set) var fields: [Place] = []
    private var values: [Range<Int>] = []
    /// Names and values; what is appended here belongs to the value that ``endValue()`` ends.
    var text: [UInt8] = []
    private var mark = 0

    /// Empties it for the next entry.
    mutating func removeAll() {
        fields.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: true)
        mark = 0
    }

    /// The bytes of a name or value.
    @_lifetime(borrow self)
    func bytes(_ place: Range<Int>) -> Span<UInt8> { text.span.extracting(place) }

    /// The place of a value.
    func value(_ number: Int) -> Range<Int> { values[number] }

    /// The place of the summary, which is always there.
    var message: Range<Int> { values[0] }

    /// Whether a field's name comes before another's.
    func precedes(_ a: Place, _ b: Place) -> Bool {
        a.start != b.start ? a.start < b.start : bytes(a.name).bytesPrecede(bytes(b.name))
    }

    // MARK: Filling

    /// Ends the subject.
    mutating func endSubject() {
        subject = mark..<text.count
        mark = text.count
    }

    /// Begins a field.
    mutating func begin(_ name: StaticString) {
        text.append(name)
        let place = endName()
        begin(place, plainName: place)
    }

    /// Begins a field of a record.
    mutating func begin(user key: Span<UInt8>) {
        UserFieldName.append(key, to: &text)
        let name = endName()
        text.append(UInt8(ascii: "."))
        text.append(key)
        begin(name, plainName: endName())
    }

    private mutating func endName() -> Range<Int> {
        defer { mark = text.count }
        return mark..<text.count
    }

    private mutating func begin(_ name: Range<Int>, plainName: Range<Int>) {
        var start: UInt64 = 0
        for place in 0..<8 {
            start = start << 8 | UInt64(place < name.count ? text[name.lowerBound + place] : 0)
        }
        fields.append(
            Place(name: name, plainName: plainName, values: values.count..<values.count, start: start))
    }

    /// Ends a value of the field that was begun last.
    mutating func endValue() {
        values.append(mark..<text.count)
        mark = text.count
        fields[fields.count - 1].values = fields[fields.count - 1].values.lowerBound..<values.count
    }

    /// Adds a field with one value.
    mutating func add(_ name: StaticString, _ value: Span<UInt8>) {
        begin(name)
        text.append(value)
        endValue()
    }

    /// Adds a field with one value that stands in the program.
    mutating func add(_ name: StaticString, _ value: StaticString) {
        begin(name)
        text.append(value)
        endValue()
    }
}

/// The fields that address an entry, in their order.
enum AddressField {
    case cursor, commit, index, journal, wall, monotonic, session

    static let all: [AddressField] = [.cursor, .commit, .index, .journal, .wall, .monotonic, .session]

    /// The field's name.
    var name: StaticString {
        switch self {
        case .cursor: "__CURSOR"
        case .commit: "__SEQNUM"
        case .index: "__INDEX"
        case .journal: "__SEQNUM_ID"
        case .wall: "__REALTIME_TIMESTAMP"
        case .monotonic: "__MONOTONIC_TIMESTAMP"
        case .session: "_BOOT_ID"
        }
    }

    /// Appends its value, which is printable ASCII.
    func append(_ address: DumpEntry.Address, to out: inout [UInt8]) {
        switch self {
        case .cursor: address.cursor.append(to: &out)
        case .commit: out.append(decimal: address.position.commit)
        case .index: out.append(decimal: address.position.index)
        case .journal:
            out.append(hex: address.cursor.journal.high, width: 16)
            out.append(hex: address.cursor.journal.low, width: 16)
        case .wall: out.append(decimal: address.wall)
        case .monotonic: out.append(decimal: address.monotonic)
        case .session:
            out.append("0000000000000000")
            out.append(hex: address.cursor.session, width: 16)
        }
    }
}

/// Names of user fields as importers of the journal format keep them: `F_` and A–Z, 0–9, `_`.
enum UserFieldName {
    /// The name in export and JSON: small letters become capitals, every other byte but a digit `_` and two hex digits.
    static func encode(_ key: String) -> String {
        var out: [UInt8] = []
        append(key.utf8.span, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the name in export and JSON.
    static func append(_ key: Span<UInt8>, to out: inout [UInt8]) {
        out.append("F_")
        for place in key.indices {
            let byte = key[place]
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): out.append(byte - 0x20)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): out.append(byte)
            default:
                out.append(UInt8(ascii: "_"))
                appendCapitalHex(byte >> 4, to: &out)
                appendCapitalHex(byte & 15, to: &out)
            }
        }
    }

    private static func appendCapitalHex(_ digit: UInt8, to out: inout [UInt8]) {
        out.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }

    /// The key that a name stands for, or nil if it is none of ours.
    static func decode(_ name: String) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.starts(with: "F_".utf8) else { return nil }
        var key: [UInt8] = []
        var place = 2
        while place < bytes.count {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): key.append(byte + 0x20)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): key.append(byte)
            case UInt8(ascii: "_"):
                guard place + 2 < bytes.count, let high = hexDigit(bytes[place + 1]),
                    let low = hexDigit(bytes[place + 2])
                else { return nil }
                key.append(high << 4 | low)
                place += 2
            default: return nil
            }
            place += 1
        }
        return String(validating: key, as: UTF8.self)
    }
}

/// What the journal export format and its JSON take for text.
enum PrintableText {
    /// Whether bytes are UTF-8 without control characters other than tabs and, where allowed, line feeds.
    static func isText(_ bytes: Span<UInt8>, lineFeeds: Bool) -> Bool {
        if bytes.isPrintableASCII { return true }
        for place in bytes.indices {
            let byte = bytes[place]
            if byte >= 0x20, byte < 0x7F { continue }
            if byte < 0x80, byte != 0x09, byte != 0x0A || !lineFeeds { return false }
            // The C1 controls, which are two bytes each.
            if byte == 0xC2, place + 1 < bytes.count, bytes[place + 1] < 0xA0 { return false }
        }
        return bytes.isUTF8
    }
}
