import SynclogJournal
import SynclogRecords

/// Makes what `dump` shows of the journal's entries.
struct DumpEntryMaker {
    private let journal: Journal
    private var zones: ZoneNumbers
    private var session: (commit: UInt64, info: SessionInfo)?

    init(journal: Journal) {
        self.journal = journal
        zones = ZoneNumbers(journal: journal)
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
        let info: SessionInfo
        do throws(JournalError) {
            info = try journal.session(at: commit)
        } catch {
            // Where the label cannot be read the entry is still shown, in the session before.
            guard case .corrupted = error else { throw error }
            info = session?.info ?? SessionInfo(label: 0, commit: 0, clock: 0)
        }
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
        case .lease: return lease(stored)
        case .state where stored.entry.operation == .note && stored.entry.key.name == Array("recovery".utf8):
            return recovery(stored)
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
        let name = ZoneNumbers.name(in: stored.entry.key) ?? "?"
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

    private func lease(_ stored: StoredEntry) -> Content {
        guard let lease = Lease(value: stored.entry.value) else {
            return plain(stored, "lease", kind: "sync", op: "lease")
        }
        let holder = lease.kind == .replica ? "replica" : "device"
        let state = lease.expired ? " expired" : ""
        return plain(
            stored, "lease\(state): a \(holder) has up to commit \(lease.commit)", kind: "sync", op: "lease")
    }

    /// What the first commit after a recovery tells of it: what was found, segment, offset and size.
    private func recovery(_ stored: StoredEntry) -> Content {
        var reader = CBORReader(stored.entry.value)
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
        return plain(stored, text, kind: "recovery", op: "recovery", priority: 4)
    }

    private func account(_ stored: StoredEntry) -> Content {
        var content = plain(stored, "made the database", kind: "account", op: "create-database", priority: 6)
        content.subject = "database"
        return content
    }
}
