import SynclogRecords

/// What an import wants of one record or zone.
struct RecordWish: Sendable {
    /// What is wanted.
    enum Action: Sendable {
        /// The record with these fields; `replaces` also clears all others.
        case save(type: String?, fields: [FieldArgument], replaces: Bool)
        /// No record.
        case delete
        /// The zone itself.
        case makeZone
        /// No zone.
        case deleteZone
    }

    var zone: String
    /// The record's name; empty for a zone.
    var name: String
    var action: Action
    /// Where the wish stands, for messages: `'file', line 3`.
    var place: String
    /// About how many bytes it is stored in.
    var size: Int

    init(zone: String, name: String, action: Action, place: String) {
        self.zone = zone
        self.name = name
        self.action = action
        self.place = place
        size = 64 + name.utf8.count
        if case .save(_, let fields, _) = action {
            for field in fields { size += field.field.utf8.count + 8 + (field.value?.storedSize ?? 1) }
        }
    }

    /// Checks what can be checked without a database, so that a bad file changes nothing.
    func validate() throws(CommandFailure) {
        if case .makeZone = action { return }
        if case .deleteZone = action { return }
        func refuse(_ reason: String) -> CommandFailure {
            CommandFailure(.usage, "\(place): \(reason)", next: "correct it; nothing was imported")
        }
        guard !name.isEmpty else { throw refuse("the record's name is empty") }
        guard name.utf8.count <= 255 else { throw refuse("the record's name is longer than 255 bytes") }
        guard name.utf8.first != UInt8(ascii: "_") else {
            throw refuse("the record's name begins with _, which is reserved")
        }
        if case .save(let type?, _, _) = action, !FieldArgument.isFieldName(type) {
            throw refuse("the record's type is not an ASCII letter, then letters, digits and _, at most 255")
        }
    }
}

extension RecordValue {
    /// About how many bytes the value is stored in; never much too small.
    fileprivate var storedSize: Int {
        switch self {
        case .string(let text): text.utf8.count + 5
        case .int64, .double: 9
        case .date: 12
        case .bytes(let bytes): bytes.count + 5
        case .location: 180
        case .reference(let reference):
            reference.recordName.utf8.count + (reference.zoneName?.utf8.count ?? 0) + 16
        case .list(let list): list.elements.reduce(8) { $0 + $1.storedSize }
        case .unknown(let value): value.cbor.count
        }
    }
}

/// What an import did.
struct ImportCounts: Hashable, Sendable {
    var new = 0
    var changed = 0
    var deleted = 0
    var unchanged = 0

    static func += (a: inout ImportCounts, b: ImportCounts) {
        a.new += b.new
        a.changed += b.changed
        a.deleted += b.deleted
        a.unchanged += b.unchanged
    }
}
