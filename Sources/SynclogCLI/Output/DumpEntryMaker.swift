import SynclogJournal
import SynclogRecords

/// Makes what `dump` shows of the journal's entries.
struct DumpEntryMaker {
    private let journal: Journal
    private var zones: ZoneNumbers
    /// The zone of the last record.
    private var lastZone: (number: UInt64, name: String, shown: String)?
    private var places = RecordPlaces()
    /// A session, and commits that are in it.
    private var session: (commits: ClosedRange<UInt64>, info: SessionInfo)?
    /// The last known commit; sessions of later ones are not settled.
    var head: UInt64 = 0

    init(journal: Journal) {
        self.journal = journal
        zones = ZoneNumbers(journal: journal)
    }

    /// Fills the entry with what is shown of a view.
    mutating func fill(_ entry: inout DumpEntry, with view: borrowing EntryView) throws(JournalError) {
        let session = try session(at: view.commit)
        entry.removeAll()
        entry.address.position = view.position
        entry.address.cursor = Cursor(
            kind: .journal, journal: journal.id, session: session.label, position: view.position)
        entry.address.wall = view.wall
        entry.address.monotonic = view.clock - session.clock
        entry.device = view.device
        if view.space == .record {
            try fill(&entry, withRecord: view)
        } else {
            fill(&entry, with: content(view.copy(), commit: view.commit), of: view)
        }
    }

    private mutating func session(at commit: UInt64) throws(JournalError) -> SessionInfo {
        if let session, session.commits.contains(commit) { return session.info }
        let info: SessionInfo
        do throws(JournalError) {
            info = try journal.session(at: commit)
        } catch {
            // Where the label cannot be read the entry is still shown, in the session before.
            guard case .corrupted = error else { throw error }
            info = session?.info ?? SessionInfo(label: 0, commit: 0, clock: 0)
        }
        // A later commit in the same session means that all between are.
        let later = min(head, commit + Self.sessionReach)
        let reaches = later > commit && (try? journal.session(at: later)) == info
        session = (commit...(reaches ? later : commit), info)
        return info
    }

    private static let sessionReach: UInt64 = 10_000

    // MARK: Records

    private mutating func fill(
        _ entry: inout DumpEntry, withRecord view: borrowing EntryView
    ) throws(JournalError) {
        let zone = try zone(view.zone)
        let name = view.name
        var tombstone: StoredTombstone?
        var isReadable = true
        do throws(CBORError) {
            switch view.operation {
            case .put: try places.read(view.value)
            case .delete: tombstone = try StoredTombstone(value: view.copy().value)
            case .note: break
            }
        } catch {
            isReadable = false
        }
        entry.text += zone.shown.utf8
        if isReadable, view.operation != .note {
            entry.text.append(UInt8(ascii: "/"))
            if let tombstone {
                entry.text += tombstone.type.utf8
            } else {
                entry.text.append(view.value.extracting(places.type))
            }
        }
        endSubject(&entry, view.commit)
        entry.begin("MESSAGE")
        if isReadable {
            switch view.operation {
            case .put: entry.text.append("saved ")
            case .delete: entry.text.append("deleted ")
            case .note: entry.text.append("note about ")
            }
        }
        entry.text.append(shown: name)
        if !isReadable { entry.text.append(": the value cannot be read") }
        entry.endValue()
        entry.begin("PRIORITY")
        entry.text.append(decimal: isReadable ? 6 : 2)
        entry.endValue()
        entry.add("KIND", isReadable && view.operation == .note ? "sync" : "change")
        entry.add("ZONE", zone.name.utf8.span)
        entry.add("RECORD", name)
        guard isReadable else { return Self.addDevice(view.device, to: &entry) }
        switch view.operation {
        case .put:
            entry.add("TYPE", view.value.extracting(places.type))
            entry.add("OP", "save")
            entry.begin("TAG")
            entry.text.append(
                ChangeTag(commit: view.commit, index: view.index, checksum: crc32c(view.value)))
            entry.endValue()
            Self.addDevice(view.device, to: &entry)
            addFields(of: view.value, to: &entry)
        case .delete:
            if let tombstone { entry.add("TYPE", tombstone.type.utf8.span) }
            entry.add("OP", "delete")
            if let base = tombstone?.baseTag {
                entry.begin("BASE_TAG")
                entry.text.append(base)
                entry.endValue()
            }
            Self.addDevice(view.device, to: &entry)
        case .note:
            entry.add("OP", "note")
            Self.addDevice(view.device, to: &entry)
        }
    }

    /// The name of a zone, as it is and as it is shown.
    private mutating func zone(_ number: UInt64) throws(JournalError) -> (name: String, shown: String) {
        if let lastZone, lastZone.number == number { return (lastZone.name, lastZone.shown) }
        let name = try zones.name(of: number) ?? "#\(number)"
        let text = shown(name)
        lastZone = (number, name, text)
        return (name, text)
    }

    /// Adds the types of a record's fields, then the fields.
    private func addFields(of value: Span<UInt8>, to entry: inout DumpEntry) {
        // Values that need more than their bytes are made once, for their type and their text.
        var others: [DumpValue] = []
        entry.begin("FIELD_TYPES")
        entry.text.append(UInt8(ascii: "{"))
        for (number, field) in places.fields.enumerated() {
            if number > 0 { entry.text.append(UInt8(ascii: ",")) }
            JSONWriter.append(utf8: value.extracting(field.key), to: &entry.text)
            entry.text.append(UInt8(ascii: ":"))
            switch field.value {
            case .string: entry.text.append("\"string\"")
            case .int64: entry.text.append("\"int64\"")
            case .double: entry.text.append("\"double\"")
            case .bytes: entry.text.append("\"bytes\"")
            case .date: entry.text.append("\"date\"")
            case .other(let place):
                others.append(DumpValue(RecordValue(item: value.extracting(place))))
                JSONWriter.append(string: others[others.count - 1].type, to: &entry.text)
            }
        }
        entry.text.append(UInt8(ascii: "}"))
        entry.endValue()
        var other = 0
        for field in places.fields {
            if case .other = field.value {
                other += 1
                if others[other - 1].values.isEmpty { continue }
            }
            entry.begin(user: value.extracting(field.key))
            switch field.value {
            case .string(let place), .bytes(let place): entry.text.append(value.extracting(place))
            case .int64(let number): entry.text.append(decimal: number)
            case .double(let number): entry.text += DoubleText.text(number).utf8
            case .date(let milliseconds): InternetDate.append(milliseconds, to: &entry.text)
            case .other:
                for value in others[other - 1].values {
                    entry.text += value
                    entry.endValue()
                }
                continue
            }
            entry.endValue()
        }
    }

    private static func addDevice(_ device: UInt32, to entry: inout DumpEntry) {
        entry.begin("DEVICE")
        entry.text.append(decimal: device)
        entry.endValue()
    }

    private func endSubject(_ entry: inout DumpEntry, _ commit: UInt64) {
        entry.text.append(UInt8(ascii: "["))
        entry.text.append(decimal: commit)
        entry.text.append(UInt8(ascii: "]"))
        entry.endSubject()
    }

    // MARK: Everything else, which is rare

    /// What an entry's value says.
    private struct Content {
        var message: String
        var priority = 6
        var kind: String
        var subject: String
        var fields: [(name: StaticString, value: String)] = []
    }

    private func fill(_ entry: inout DumpEntry, with content: Content, of view: borrowing EntryView) {
        entry.text += content.subject.utf8
        endSubject(&entry, view.commit)
        entry.add("MESSAGE", content.message.utf8.span)
        entry.begin("PRIORITY")
        entry.text.append(decimal: content.priority)
        entry.endValue()
        entry.add("KIND", content.kind.utf8.span)
        for field in content.fields { entry.add(field.name, field.value.utf8.span) }
        Self.addDevice(view.device, to: &entry)
    }

    private mutating func content(_ entry: Entry, commit: UInt64) -> Content {
        switch entry.key.space {
        case .zone: return zone(entry, commit)
        case .database: return account(entry)
        case .session:
            return plain(
                entry, "session \(Self.hex(entry.key.name)) began", kind: "sync", op: "session")
        case .operation: return plain(entry, "outcome of an operation kept", kind: "sync", op: "outcome")
        case .lease: return lease(entry)
        case .state where entry.operation == .note && entry.key.name == Array("recovery".utf8):
            return recovery(entry)
        case .device: return plain(entry, "device", kind: "account", op: "device")
        case .floor: return plain(entry, "floor moved", kind: "compaction", op: "floor")
        case .reserve: return plain(entry, "commit numbers reserved", kind: "sync", op: "reserve")
        case .conflict: return plain(entry, "conflict", kind: "conflict", op: "conflict", priority: 4)
        case .quarantine: return plain(entry, "parked", kind: "conflict", op: "park", priority: 3)
        default:
            let number = entry.key.space.rawValue
            return plain(entry, "entry of space \(number)", kind: "sync", op: "space-\(number)")
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [hexCharacter($0 >> 4), hexCharacter($0 & 15)] }, as: UTF8.self)
    }

    private func plain(
        _ entry: Entry, _ text: String, kind: String, op: String, priority: Int = 7
    ) -> Content {
        let gone = entry.operation == .delete ? " dropped" : ""
        return Content(
            message: text + gone, priority: priority, kind: kind, subject: kind,
            fields: [("OP", op)])
    }

    private mutating func zone(_ entry: Entry, _ commit: UInt64) -> Content {
        zones.learn(entry, commit: commit)
        lastZone = nil
        let name = ZoneNumbers.name(in: entry.key) ?? "?"
        let gone = entry.operation == .delete
        var content = Content(
            message: "\(gone ? "deleted" : "made") zone \(shown(name))", kind: "change",
            subject: shown(name))
        content.fields = [("ZONE", name), ("OP", gone ? "delete-zone" : "create-zone")]
        if gone {
            let reason = (try? StoredZoneDeletion(value: entry.value))
                .flatMap { UInt8(exactly: $0.reason) }.flatMap(ZoneDeletionReason.init(rawValue:))
            let text =
                switch reason {
                case .deleted: "deleted"
                case .purged: "purged"
                case .encryptedDataReset: "encryptedDataReset"
                case nil: "unknown"
                }
            content.fields.append(("RESULT", text))
            if reason != .deleted { content.message += " (\(text))" }
        }
        return content
    }

    private func lease(_ entry: Entry) -> Content {
        guard let lease = Lease(value: entry.value) else {
            return plain(entry, "lease", kind: "sync", op: "lease")
        }
        let holder = lease.kind == .replica ? "replica" : "device"
        let state = lease.expired ? " expired" : ""
        return plain(
            entry, "lease\(state): a \(holder) has up to commit \(lease.commit)", kind: "sync", op: "lease")
    }

    /// What the first commit after a recovery tells of it: what was found, segment, offset and size.
    private func recovery(_ entry: Entry) -> Content {
        var reader = CBORReader(entry.value)
        var text = "recovery"
        do throws(CBORError) {
            _ = try reader.array()
            let what = try reader.text()
            let segment = try reader.unsigned()
            let offset = try reader.unsigned()
            let size = try reader.unsigned()
            let place = "segment \(segment), offset \(offset)"
            text =
                what == "torn"
                ? "recovery kept \(size) torn bytes aside, from \(place)"
                : "recovery copied whole commits that were not known durable, from \(place)"
        } catch {
            text = "recovery"
        }
        return plain(entry, text, kind: "recovery", op: "recovery", priority: 4)
    }

    private func account(_ entry: Entry) -> Content {
        var content = plain(entry, "made the database", kind: "account", op: "create-database", priority: 6)
        content.subject = "database"
        return content
    }
}
