import SynclogRecords

/// The kind of a field as `types` and `--types` name it: `bytes`, `reference@zones`, `date[]`, and so on.
struct FieldKind: Hashable, Sendable {
    /// The kind of one value.
    enum Element: Hashable, Sendable {
        case string, int64, double, bytes, date, location
        /// A reference; the zone is where bare names lie, nil for the record's own zone.
        case reference(zone: String?)
        /// A value of a kind that this version does not know.
        case unknown
    }

    /// The kind of one value.
    var element: Element
    /// Whether the field holds a list of such values.
    var isList = false

    private static let plain: [(String, Element)] = [
        ("string", .string), ("int64", .int64), ("double", .double), ("bytes", .bytes), ("date", .date),
        ("location", .location), ("reference", .reference(zone: nil)), ("unknown", .unknown),
    ]

    /// The names that a message lists.
    static let allNames =
        "string, int64, double, bytes, date, location, reference, reference@ZONE, and lists such as date[]"

    init(_ element: Element, isList: Bool = false) {
        self.element = element
        self.isList = isList
    }

    /// Reads a name.
    init?(_ text: String) {
        var rest = text.utf8[...]
        isList = rest.suffix(2).elementsEqual("[]".utf8)
        if isList { rest = rest.dropLast(2) }
        if let at = rest.firstIndex(of: UInt8(ascii: "@")) {
            let zone = rest[rest.index(after: at)...]
            guard rest[..<at].elementsEqual("reference".utf8), !zone.isEmpty else { return nil }
            element = .reference(zone: String(Substring(zone)))
            return
        }
        guard let found = Self.plain.first(where: { $0.0.utf8.elementsEqual(rest) }) else { return nil }
        element = found.1
        if element == .unknown, isList { return nil }
    }

    /// The name.
    var text: String {
        let name: String
        switch element {
        case .reference(let zone?): name = "reference@\(zone)"
        default: name = Self.plain.first { $0.1 == element }?.0 ?? "unknown"
        }
        return name + (isList ? "[]" : "")
    }

    /// The kind of a value.
    init(of value: RecordValue) {
        switch value {
        case let value where value.hasReservedAction: self.init(.unknown)
        case .string: self.init(.string)
        case .int64: self.init(.int64)
        case .double: self.init(.double)
        case .bytes: self.init(.bytes)
        case .date: self.init(.date)
        case .location: self.init(.location)
        case .reference(let reference): self.init(.reference(zone: Self.nameable(reference.zoneName)))
        case .unknown: self.init(.unknown)
        case .list(let list): self.init(of: list)
        }
    }

    private init(of list: RecordList) {
        switch list {
        case .strings: self.init(.string, isList: true)
        case .int64s: self.init(.int64, isList: true)
        case .doubles: self.init(.double, isList: true)
        case .bytes: self.init(.bytes, isList: true)
        case .dates: self.init(.date, isList: true)
        case .locations: self.init(.location, isList: true)
        case .references(let references):
            let first = references.first?.zoneName
            let same = references.allSatisfy { sameOptionalBytes($0.zoneName, first) }
            self.init(.reference(zone: same ? Self.nameable(first) : nil), isList: true)
        }
    }

    /// A zone's name if the grammar of words and of `--types` can hold it; where not, the value's own object names the zone.
    private static func nameable(_ zone: String?) -> String? {
        guard let zone, !zone.isEmpty,
            !zone.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "=") }),
            !zone.utf8.suffix(2).elementsEqual("[]".utf8), sameBytes(shown(zone), zone)
        else { return nil }
        return zone
    }

    /// Compares names of zones as bytes.
    static func == (a: FieldKind, b: FieldKind) -> Bool { a.isList == b.isList && sameBytes(a.text, b.text) }

    /// Hashes what `==` compares.
    func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

/// Whether two optional texts are the same bytes.
func sameOptionalBytes(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return sameBytes(a, b)
}

/// The kinds of fields by name, in the order given.
struct KindTable: Sendable {
    private(set) var rows: [(field: String, kind: FieldKind)] = []

    init() {}

    /// Reads the grammar of `--types`: `FIELD:KIND,FIELD:KIND`.
    init(option text: String) throws(CommandFailure) {
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            let pair = part.split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false
            )
            .map { String(Substring($0)) }
            guard pair.count == 2, !pair[0].isEmpty, let kind = FieldKind(pair[1]) else {
                throw .usage(
                    "--types: '\(shown(String(Substring(part))))' is not FIELD:KIND",
                    next: "kinds are \(FieldKind.allNames)")
            }
            try add(pair[0], kind)
        }
    }

    /// Adds a field's kind; a field has only one.
    mutating func add(_ field: String, _ kind: FieldKind) throws(CommandFailure) {
        if let old = self[field], old != kind {
            throw .usage(
                "field '\(shown(field))' is given two kinds, \(old.text) and \(kind.text)", next: "name one")
        }
        rows.append((field, kind))
    }

    /// The kind of a field, if it was given.
    subscript(field: String) -> FieldKind? { rows.first { sameBytes($0.field, field) }?.kind }
}
