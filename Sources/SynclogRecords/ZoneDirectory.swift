package import SynclogJournal

/// The zones of a database by number and name, built from its zone entries.
package struct ZoneDirectory: Sendable {
    private var live: [[UInt8]: (number: UInt64, zone: RecordZone)] = [:]
    private var names: [UInt64: RecordZone.ID] = [:]

    /// Makes an empty directory, to be fed with ``note(_:in:)``.
    package init() {}

    /// Reads the zone entries of a journal up to its last known head.
    package init(reading journal: Journal) throws(JournalError) {
        var reader = try journal.read(filter: ReadFilter(zones: [], spaces: [.zone]))
        while let commit = try reader.next() {
            for entry in commit.entries { note(entry, in: commit.info) }
        }
    }

    /// Takes in an entry; entries of other spaces are left alone.
    package mutating func note(_ entry: Entry, in commit: CommitInfo) {
        guard entry.key.space == .zone, entry.operation != .note,
            let key = try? StoredZone.names(in: entry.key)
        else { return }
        let id = RecordZone.ID(zoneName: key.name)
        guard entry.operation == .put, let content = try? StoredZone(value: entry.value) else {
            live[entry.key.name] = nil
            return
        }
        let number = content.number == 0 ? commit.number : content.number
        live[entry.key.name] = (
            number,
            RecordZone(zoneID: id, creationDate: Timestamp(microsecondsSince1970: content.created))
        )
        names[number] = id
    }

    /// The zones that are there, in no order.
    package var zones: [RecordZone] { live.values.map(\.zone) }

    /// The name that a zone's number stands for, also when the zone is gone.
    package func zoneID(of number: UInt64) -> RecordZone.ID? { names[number] }

    /// The number of a zone that is there.
    package func number(of id: RecordZone.ID) -> UInt64? {
        live.values.first { $0.zone.zoneID.zoneName.hasSameBytes(as: id.zoneName) }?.number
    }

    /// All numbers that a zone's name has stood for, rising.
    package func numbers(of id: RecordZone.ID) -> [UInt64] {
        names.filter { $0.value.zoneName.hasSameBytes(as: id.zoneName) }.keys.sorted()
    }
}

/// An entry of a database's journal, understood.
package enum DatabaseEvent: Sendable {
    /// A record was saved.
    case recordSaved(Record)
    /// A record was deleted; the tag is the version the deletion was based on.
    case recordDeleted(Record.ID, recordType: String, baseTag: ChangeTag?)
    /// A zone was made.
    case zoneSaved(RecordZone.ID, number: UInt64)
    /// A zone was deleted.
    case zoneDeleted(RecordZone.ID, reason: ZoneDeletionReason)
    /// The database was made.
    case databaseMade(container: String, owner: String)
    /// Something this version shows only as an entry.
    case other

    /// Understands an entry; a record in a zone whose name is not known has `zone-<number>` for it.
    package init(_ entry: Entry, in commit: CommitInfo, zones: ZoneDirectory) {
        let stored = StoredEntry(commit: commit, entry: entry)
        self = .other
        switch (entry.key.space, entry.operation) {
        case (.record, .put), (.record, .delete):
            guard let name = String(validating: entry.key.name, as: UTF8.self) else { return }
            let zoneID = zones.zoneID(of: entry.key.zone) ?? RecordZone.ID(zoneName: "zone-\(entry.key.zone)")
            let id = Record.ID(recordName: name, zoneID: zoneID)
            if entry.operation == .put {
                if let record = try? Record(stored, recordID: id) { self = .recordSaved(record) }
            } else if let tombstone = try? StoredTombstone(value: entry.value) {
                self = .recordDeleted(id, recordType: tombstone.type, baseTag: tombstone.baseTag)
            }
        case (.zone, .put):
            guard let key = try? StoredZone.names(in: entry.key),
                let content = try? StoredZone(value: entry.value)
            else { return }
            self = .zoneSaved(
                RecordZone.ID(zoneName: key.name),
                number: content.number == 0 ? commit.number : content.number)
        case (.zone, .delete):
            guard let key = try? StoredZone.names(in: entry.key),
                let content = try? StoredZoneDeletion(value: entry.value)
            else { return }
            self = .zoneDeleted(
                RecordZone.ID(zoneName: key.name),
                reason: ZoneDeletionReason(rawValue: UInt8(clamping: content.reason)) ?? .deleted)
        case (.database, .put):
            guard let facts = try? StoredDatabase(value: entry.value) else { return }
            self = .databaseMade(container: facts.container, owner: facts.owner)
        default: return
        }
    }
}
