import SynclogJournal
import SynclogRecords

/// Makes what `dump` shows of the journal's entries.
struct DumpEntryMaker {
    private let journal: Journal
    private var zones: ZoneDirectory
    private var session: (commit: UInt64, info: SessionInfo)?

    init(journal: Journal) {
        self.journal = journal
        zones = ZoneDirectory(journal: journal)
    }

    /// The entry as fields.
    mutating func entry(_ entry: Entry, in commit: CommitInfo) throws(JournalError) -> DumpEntry {
        let session = try session(at: commit.number)
        let position = JournalPosition(commit: commit.number, index: entry.index)
        let address = DumpEntry.Address(
            position: position,
            cursor: Cursor(kind: .journal, journal: journal.id, session: session.label, position: position),
            wall: commit.wall, monotonic: commit.clock - session.clock)
        var content = try content(StoredEntry(commit: commit, entry: entry))
        content.fields.append(DumpEntry.Field("DEVICE", String(commit.device)))
        content.fields += content.user
        return DumpEntry(
            address: address, message: content.message,
            device: commit.device == 0 ? "local" : "device-\(commit.device)",
            subject: "\(content.subject)[\(commit.number)]",
            fields: [
                DumpEntry.Field("MESSAGE", content.message),
                DumpEntry.Field("PRIORITY", String(content.priority)),
                DumpEntry.Field("KIND", content.kind),
            ] + content.fields)
    }

    private mutating func session(at commit: UInt64) throws(JournalError) -> SessionInfo {
        if let session, session.commit == commit { return session.info }
        let info = try journal.session(at: commit)
        session = (commit, info)
        return info
    }

    /// What an entry's value says.
    private struct Content {
        var message: String
        var priority = 6
        var kind = "change"
        var subject: String
        var fields: [DumpEntry.Field] = []
        var user: [DumpEntry.Field] = []
    }

    private mutating func content(_ stored: StoredEntry) throws(JournalError) -> Content {
        switch stored.entry.key.space {
        case .record: return try record(stored)
        case .zone: return zone(stored)
        case .database: return account(stored)
        case .session:
            return plain(
                stored, "session \(Self.hex(stored.entry.key.name)) began", kind: "sync", op: "session")
        case .operation: return plain(stored, "outcome of an operation kept", kind: "sync", op: "outcome")
        case .lease: return plain(stored, "lease of a replica", kind: "sync", op: "lease")
        case .device: return plain(stored, "device", kind: "account", op: "device")
        case .floor: return plain(stored, "floor moved", kind: "compaction", op: "floor")
        case .reserve: return plain(stored, "commit numbers reserved", kind: "sync", op: "reserve")
        case .conflict: return plain(stored, "conflict", kind: "conflict", op: "conflict", priority: 4)
        case .quarantine: return plain(stored, "parked", kind: "conflict", op: "park", priority: 3)
        default:
            let number = stored.entry.key.space.rawValue
            return plain(stored, "entry of space \(number)", kind: "sync", op: "space-\(number)")
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [hexCharacter($0 >> 4), hexCharacter($0 & 15)] }, as: UTF8.self)
    }

    private func plain(
        _ stored: StoredEntry, _ text: String, kind: String, op: String, priority: Int = 7
    ) -> Content {
        let gone = stored.entry.operation == .delete ? " dropped" : ""
        return Content(
            message: text + gone, priority: priority, kind: kind, subject: kind,
            fields: [DumpEntry.Field("OP", op)])
    }

    private mutating func record(_ stored: StoredEntry) throws(JournalError) -> Content {
        let key = stored.entry.key
        let zone = try zones.name(of: key.zone)
        let zoneName = zone ?? "#\(key.zone)"
        let name = String(decoding: key.name, as: UTF8.self)
        var content = Content(message: "", subject: shown(zoneName))
        content.fields = [DumpEntry.Field("ZONE", zoneName), DumpEntry.Field("RECORD", [key.name])]
        do throws(CBORError) {
            switch stored.entry.operation {
            case .put:
                let id = Record.ID(recordName: name, zoneID: RecordZone.ID(zoneName: zoneName))
                let record = try Record(stored, recordID: id)
                content.message = "saved \(shown(name))"
                content.subject += "/" + record.recordType
                content.fields += [
                    DumpEntry.Field("TYPE", record.recordType), DumpEntry.Field("OP", "save"),
                    DumpEntry.Field("TAG", record.recordChangeTag?.text ?? ""),
                ]
                var types: [(String, JSONValue)] = []
                for key in record.allKeys() {
                    guard let value = record[key] else { continue }
                    let dumped = DumpValue(value)
                    types.append((key, .string(dumped.type)))
                    if !dumped.values.isEmpty {
                        content.user.append(DumpEntry.Field(user: key, dumped.values))
                    }
                }
                content.user.insert(DumpEntry.Field("FIELD_TYPES", JSONWriter.text(.members(types))), at: 0)
            case .delete:
                let tombstone = try StoredTombstone(value: stored.entry.value)
                content.message = "deleted \(shown(name))"
                content.subject += "/" + tombstone.type
                content.fields += [DumpEntry.Field("TYPE", tombstone.type), DumpEntry.Field("OP", "delete")]
                if let base = tombstone.baseTag {
                    content.fields.append(DumpEntry.Field("BASE_TAG", base.text))
                }
            case .note:
                content.message = "note about \(shown(name))"
                content.kind = "sync"
                content.fields.append(DumpEntry.Field("OP", "note"))
            }
        } catch {
            content.message = "\(shown(name)): the value cannot be read"
            content.priority = 2
            content.user = []
        }
        return content
    }

    private mutating func zone(_ stored: StoredEntry) -> Content {
        zones.learn(stored.entry, commit: stored.commit.number)
        let name = ZoneDirectory.name(in: stored.entry.key) ?? "?"
        let gone = stored.entry.operation == .delete
        var content = Content(
            message: "\(gone ? "deleted" : "made") zone \(shown(name))", subject: shown(name))
        content.fields = [
            DumpEntry.Field("ZONE", name), DumpEntry.Field("OP", gone ? "delete-zone" : "create-zone"),
        ]
        if gone {
            let reason = (try? StoredZoneDeletion(value: stored.entry.value))
                .flatMap { UInt8(exactly: $0.reason) }.flatMap(ZoneDeletionReason.init(rawValue:))
            let text =
                switch reason {
                case .deleted: "deleted"
                case .purged: "purged"
                case .encryptedDataReset: "encryptedDataReset"
                case nil: "unknown"
                }
            content.fields.append(DumpEntry.Field("RESULT", text))
            if reason != .deleted { content.message += " (\(text))" }
        }
        return content
    }

    private func account(_ stored: StoredEntry) -> Content {
        var content = plain(stored, "made the database", kind: "account", op: "create-database", priority: 6)
        content.subject = "database"
        return content
    }
}

/// A value as text or bytes, and the name of its type.
struct DumpValue: Hashable, Sendable {
    /// The type, in the grammar of `--types`; `json:` stands before it if the one value is JSON.
    var type: String
    /// One value, or those of a list.
    var values: [[UInt8]]

    private static let jsonPrefix = "json:"

    init(_ value: RecordValue) {
        let kind = FieldKind(of: value)
        type = kind.text
        let elements = if case .list(let list) = value { list.elements } else { [value] }
        if elements.allSatisfy({ Self.isNamed($0, by: kind) }) {
            values = elements.map(Self.bytes)
        } else {
            type = Self.jsonPrefix + type
            values = [JSONWriter.bytes(ValueJSON.json(value))]
        }
    }

    init(type: String, values: [[UInt8]]) {
        self.type = type
        self.values = values
    }

    /// Whether a value's text together with the kind says where a reference points.
    private static func isNamed(_ value: RecordValue, by kind: FieldKind) -> Bool {
        guard case .reference(let reference) = value, case .reference(let zone) = kind.element else {
            return true
        }
        return sameOptionalBytes(reference.zoneName, zone)
    }

    private static func bytes(_ value: RecordValue) -> [UInt8] {
        switch value {
        case .string(let text): Array(text.utf8)
        case .int64(let number): Array(String(number).utf8)
        case .double(let number): Array(DoubleText.text(number).utf8)
        case .bytes(let bytes): bytes
        case .date(let milliseconds): Array(InternetDate.text(milliseconds).utf8)
        case .location(let location): JSONWriter.bytes(ValueJSON.json(location))
        case .reference(let reference): Array(reference.recordName.utf8)
        case .unknown(let value): value.cbor
        case .list: JSONWriter.bytes(ValueJSON.json(value))
        }
    }

    /// The value again.
    func value() throws(ValueError) -> RecordValue {
        let isJSON = type.hasPrefix(Self.jsonPrefix)
        let name = isJSON ? String(type.dropFirst(Self.jsonPrefix.count)) : type
        guard let kind = FieldKind(name) else { throw ValueError(reason: "has an unknown type") }
        if isJSON {
            guard values.count == 1, let json = try? JSONParser.parse(values[0]),
                let value = try ValueJSON.value(json, kind: kind)
            else { throw ValueError(reason: "is not one value of JSON") }
            return value
        }
        var elements: [RecordValue] = []
        for bytes in values { elements.append(try Self.element(bytes, kind.element)) }
        if kind.isList { return ValueJSON.list(elements, kind.element) }
        guard elements.count == 1 else {
            throw ValueError(reason: "has \(elements.count) values, but its type is no list")
        }
        return elements[0]
    }

    private static func element(_ bytes: [UInt8], _ kind: FieldKind.Element) throws(ValueError) -> RecordValue
    {
        switch kind {
        case .bytes: return .bytes(bytes)
        case .unknown: return .unknown(UnknownValue(cbor: bytes))
        case .location:
            guard let json = try? JSONParser.parse(bytes),
                let value = try ValueJSON.value(json, kind: FieldKind(.location))
            else { throw ValueError(reason: "is not a location") }
            return value
        default:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ValueError(reason: "is not UTF-8")
            }
            return try ValueJSON.element(text: text, kind)
        }
    }
}

/// The names of zones by their numbers; a zone that was made again has a number of its own.
struct ZoneDirectory {
    private let journal: Journal
    private var names: [UInt64: String?] = [:]

    init(journal: Journal) { self.journal = journal }

    /// The zone's name in a zone entry's key.
    static func name(in key: EntryKey) -> String? { (try? StoredZone.names(in: key))?.name }

    /// Takes over what a zone entry says.
    mutating func learn(_ entry: Entry, commit: UInt64) {
        guard entry.operation == .put, let stored = try? StoredZone(value: entry.value) else { return }
        names[stored.number == 0 ? commit : stored.number] = Self.name(in: entry.key)
    }

    /// The name of a zone; nil if its entry is not kept.
    mutating func name(of number: UInt64) throws(JournalError) -> String? {
        if let known = names[number] { return known }
        // A zone has the number of the commit that made it, so its entry is found there.
        var reader = try journal.read(
            after: .end(of: number - min(number, 1)), filter: ReadFilter(spaces: [.zone]))
        reader.onDamage = { _ in }
        if number > 0, let commit = try reader.next(), commit.info.number == number {
            for entry in commit.entries where entry.key.space == .zone { learn(entry, commit: number) }
        }
        let name = names[number] ?? nil
        names[number] = .some(name)
        return name
    }

    /// The numbers that zones whose names match have had, up to the known head.
    static func numbers(
        _ journal: Journal, after commit: UInt64 = 0, matching: (String) -> Bool
    ) throws(JournalError) -> Set<UInt64> {
        var found: Set<UInt64> = []
        var reader = try journal.read(after: .end(of: commit), filter: ReadFilter(spaces: [.zone]))
        reader.onDamage = { _ in }
        while let commit = try reader.next() {
            for entry in commit.entries where entry.key.space == .zone && entry.operation == .put {
                guard let name = name(in: entry.key), matching(name) else { continue }
                let stored = try? StoredZone(value: entry.value)
                let number = stored?.number ?? 0
                found.insert(number == 0 ? commit.info.number : number)
            }
        }
        return found
    }
}
