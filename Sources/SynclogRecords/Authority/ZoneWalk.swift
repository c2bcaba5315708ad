import SynclogJournal

/// A walk over a zone from a position on.
struct ZoneWalk {
    struct Page {
        var modifications: [Record] = []
        var deletions: [RecordZoneChanges.Deletion] = []
        /// The last commit that the page covers.
        var end: UInt64
        var moreComing = false
    }

    var zoneID: RecordZone.ID
    /// The zone's number.
    var zone: UInt64
    var stage: WalkStage
    var desiredKeys: [String]?
    var countMax: Int
    var sizeMax: Int
    /// A page may end empty after so many bytes of superseded versions.
    static let scanSizeMax = 32 << 20

    func read(_ journal: Journal, head: UInt64) throws(SyncError) -> Page {
        var page = Page(end: max(head, stage.start))
        var size = 0
        var scanned = 0
        var reader = try mapped { () throws(JournalError) in
            try journal.read(
                after: .end(of: stage.start), filter: ReadFilter(zones: [zone], spaces: [.record]))
        }
        while let commit = try mapped({ () throws(JournalError) in try reader.next() }) {
            for entry in commit.entries where entry.operation != .note {
                scanned += entry.value.count + 64
                let position = JournalPosition(commit: commit.info.number, index: entry.index)
                let newest = try mapped { () throws(JournalError) in try journal.position(of: entry.key) }
                guard newest == position else { continue }
                try add(entry, in: commit.info, to: &page, size: &size)
            }
            page.end = max(page.end, commit.info.number)
            let full = page.modifications.count + page.deletions.count >= countMax || size >= sizeMax
            if full || scanned >= Self.scanSizeMax {
                let rest = try mapped { () throws(JournalError) in
                    try journal.zonesChanged(after: commit.info.number)[zone]
                }
                if rest != nil {
                    page.end = commit.info.number
                    page.moreComing = true
                    break
                }
            }
        }
        return page
    }

    private func add(_ entry: Entry, in commit: CommitInfo, to page: inout Page, size: inout Int)
        throws(SyncError)
    {
        if entry.operation == .delete, !stage.tellsDeletion(at: commit.number, firstSeen: entry.firstSeen) {
            return
        }
        guard let name = String(validating: entry.key.name, as: UTF8.self) else {
            throw .notUnderstood(zoneID: zoneID)
        }
        let id = Record.ID(recordName: name, zoneID: zoneID)
        do throws(CBORError) {
            if entry.operation == .put {
                let record = try Record(
                    StoredEntry(commit: commit, entry: entry), recordID: id, desiredKeys: desiredKeys)
                page.modifications.append(record)
                if desiredKeys == nil {
                    size += entry.value.count
                } else {
                    var writer = CBORWriter()
                    writer.fields(record.fields)
                    size += writer.bytes.count
                }
            } else {
                let tombstone = try StoredTombstone(value: entry.value)
                page.deletions.append(.init(recordID: id, recordType: tombstone.type))
            }
        } catch {
            throw .notUnderstood(recordID: id)
        }
        size += 64 + entry.key.name.count
    }
}
