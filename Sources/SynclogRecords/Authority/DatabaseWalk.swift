import SynclogJournal

/// A walk over the zones of a database from a commit on.
struct DatabaseWalk {
    /// What is told of a zone.
    struct Change {
        var zoneID: RecordZone.ID
        /// The commit of the zone's last change.
        var commit: UInt64
        var deletion: ZoneDeletionReason?
        var isModified: Bool
    }

    var stage: WalkStage

    /// All changes in the order of their commits.
    func read(_ journal: Journal) throws(SyncError) -> [Change] {
        let (keys, touched) = try mapped { () throws(JournalError) in try changedKeys(journal) }
        var changes: [Change] = []
        for key in keys {
            guard let stored = try mapped({ () throws(JournalError) in try journal.entry(for: key) }) else {
                continue
            }
            do throws(CBORError) {
                let name = try StoredZone.names(in: key).name
                if let change = try change(of: stored, id: RecordZone.ID(zoneName: name), touched: touched) {
                    changes.append(change)
                }
            } catch {
                throw .notUnderstood()
            }
        }
        return changes.sorted { $0.commit < $1.commit }
    }

    /// The keys of all zones that were made, deleted or written to after the start, and the last commit in each zone.
    private func changedKeys(_ journal: Journal) throws(JournalError) -> ([EntryKey], [UInt64: UInt64]) {
        var keys: [EntryKey] = []
        var known: Set<EntryKey> = []
        var reader = try journal.read(
            after: .end(of: stage.start), filter: ReadFilter(zones: [], spaces: [.zone]))
        while let commit = try reader.next() {
            for entry in commit.entries where entry.operation != .note && known.insert(entry.key).inserted {
                keys.append(entry.key)
            }
        }
        let touched = try journal.zonesChanged(after: stage.start)
        for number in touched.keys.sorted() where number <= stage.start {
            guard let key = try journal.zoneKey(ofNumber: number), known.insert(key).inserted else {
                continue
            }
            keys.append(key)
        }
        return (keys, touched)
    }

    private func change(
        of stored: StoredEntry, id: RecordZone.ID, touched: [UInt64: UInt64]
    ) throws(CBORError) -> Change? {
        let commit = stored.commit.number
        let firstSeen = stored.entry.firstSeen
        guard stored.entry.operation == .put else {
            let reason = try StoredZoneDeletion(value: stored.entry.value).reason
            guard stage.tellsDeletion(at: commit, firstSeen: firstSeen) else { return nil }
            return Change(zoneID: id, commit: commit, deletion: Self.reason(reason), isModified: false)
        }
        let content = try StoredZone(value: stored.entry.value)
        let number = content.number == 0 ? commit : content.number
        let last = max(commit, touched[number] ?? 0)
        guard last > stage.start else { return nil }
        let deleted = stage.tellsDeletion(at: content.deletedBefore, firstSeen: firstSeen)
        return Change(
            zoneID: id, commit: last, deletion: deleted ? Self.reason(content.reasonBefore) : nil,
            isModified: true)
    }

    private static func reason(_ stored: UInt64) -> ZoneDeletionReason {
        ZoneDeletionReason(rawValue: UInt8(clamping: stored)) ?? .deleted
    }
}
