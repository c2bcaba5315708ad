import SynclogJournal

extension JournalDatabase {
    /// Reads a page of a zone's changes; see ``Database/recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:context:)``.
    func recordZoneChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ChangeToken?, desiredKeys: [String]?, resultsLimit: Int
    ) throws(SyncError) -> RecordZoneChanges {
        try check(resultsLimit: resultsLimit)
        let head = try mapped { () throws(JournalError) in try journal.head() }
        try validate(token, kind: .zone)
        let zone = try mapped { () throws(JournalError) in try liveZone(zoneID) }.get()
        if let token, token.cursor.scope != zone.number {
            throw try otherScope(token.cursor.scope, zoneID: zoneID)
        }
        let walk = ZoneWalk(
            zoneID: zoneID, zone: zone.number, start: token?.cursor.position ?? .start,
            bound: token.map(\.cursor.bound) ?? head.commit, desiredKeys: desiredKeys,
            countMax: resultsLimit == 0 ? limits.pageCountMax : resultsLimit, sizeMax: limits.pageSizeMax)
        let page = try walk.read(journal, head: head.commit)
        return RecordZoneChanges(
            modifications: page.modifications, deletions: page.deletions,
            changeToken: ChangeToken(
                try mapped { () throws(JournalError) in
                    try journal.cursor(
                        at: .end(of: page.end), kind: .zone, scope: zone.number,
                        bound: page.moreComing ? walk.bound : 0)
                }),
            moreComing: page.moreComing)
    }

    /// Reads a page of the zones that changed, in the order of their last changes.
    func databaseChanges(since token: ChangeToken?, resultsLimit: Int) throws(SyncError) -> DatabaseChanges {
        try check(resultsLimit: resultsLimit)
        let head = try mapped { () throws(JournalError) in try journal.head() }
        try validate(token, kind: .database)
        let start = token?.cursor.position.commit ?? 0
        let bound = token.map(\.cursor.bound) ?? head.commit
        let walk = DatabaseWalk(start: start, bound: bound)
        let changes = try walk.read(journal)
        var page = DatabaseChanges(
            modifications: [], deletions: [],
            changeToken: ChangeToken(
                try mapped { () throws(JournalError) in
                    try journal.cursor(at: .end(of: head.commit), kind: .database)
                }),
            moreComing: false)
        let countMax = resultsLimit == 0 ? limits.pageCountMax : resultsLimit
        for (place, change) in changes.enumerated() {
            if place >= countMax, changes[place - 1].commit != change.commit {
                page.moreComing = true
                page.changeToken = ChangeToken(
                    try mapped { () throws(JournalError) in
                        try journal.cursor(
                            at: .end(of: changes[place - 1].commit), kind: .database, bound: bound)
                    })
                break
            }
            if let reason = change.deletion {
                page.deletions.append(.init(zoneID: change.zoneID, reason: reason))
            }
            if change.isModified { page.modifications.append(change.zoneID) }
        }
        return page
    }

    private func check(resultsLimit: Int) throws(SyncError) {
        guard resultsLimit < 0 else { return }
        throw .invalid("the limit of results is negative", nextStep: "pass 0 for the authority's choice")
    }

    /// Refuses a token that is not of this database's history, or was made for another kind of walk.
    private func validate(_ token: ChangeToken?, kind: Cursor.Kind) throws(SyncError) {
        guard let token else { return }
        try mapped { () throws(JournalError) in try journal.validate(token.cursor) }
        guard token.cursor.kind == kind else { throw SyncError(.wrongScope) }
    }

    /// What is wrong with a token whose zone is not this one: an earlier zone of the name, or another zone.
    private func otherScope(_ scope: UInt64, zoneID: RecordZone.ID) throws(SyncError) -> SyncError {
        let made = try mapped { () throws(JournalError) in try journal.zoneKey(ofNumber: scope) }
        guard let made, made != key(of: zoneID) else {
            return SyncError(
                .changeTokenExpired, "the zone was deleted and made again since the token was made",
                nextStep: "drop the local copy of the zone and fetch it without a token", zoneID: zoneID)
        }
        var error = SyncError(.wrongScope)
        error.zoneID = zoneID
        return error
    }
}

extension Journal {
    /// The key of the zone that a commit made, if that entry is still kept.
    func zoneKey(ofNumber number: UInt64) throws(JournalError) -> EntryKey? {
        guard number > 0 else { return nil }
        var reader = try read(after: .end(of: number - 1), filter: ReadFilter(zones: [], spaces: [.zone]))
        guard let commit = try reader.next(), commit.info.number == number else { return nil }
        return commit.entries.first { $0.operation == .put }?.key
    }
}

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
    var start: JournalPosition
    /// In a walk from the beginning the head at its start: tombstones up to it are left out.
    ///
    /// Else 0.
    var bound: UInt64
    var desiredKeys: [String]?
    var countMax: Int
    var sizeMax: Int
    /// A page may end empty after so many bytes of superseded versions.
    static let scanSizeMax = 32 << 20

    func read(_ journal: Journal, head: UInt64) throws(SyncError) -> Page {
        var page = Page(end: max(head, start.commit))
        var size = 0
        var scanned = 0
        var reader = try mapped { () throws(JournalError) in
            try journal.read(after: start, filter: ReadFilter(zones: [zone], spaces: [.record]))
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
        if entry.operation == .delete, commit.number <= bound || entry.firstSeen > start.commit { return }
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

    var start: UInt64
    /// In a walk from the beginning the head at its start: deletions up to it are left out.
    ///
    /// Else 0.
    var bound: UInt64

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
        var reader = try journal.read(after: .end(of: start), filter: ReadFilter(zones: [], spaces: [.zone]))
        while let commit = try reader.next() {
            for entry in commit.entries where entry.operation != .note && known.insert(entry.key).inserted {
                keys.append(entry.key)
            }
        }
        let touched = try journal.zonesChanged(after: start)
        for number in touched.keys.sorted() where number <= start {
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
        let seenBefore = stored.entry.firstSeen <= start
        guard stored.entry.operation == .put else {
            let reason = try StoredZoneDeletion(value: stored.entry.value).reason
            guard seenBefore, commit > max(start, bound) else { return nil }
            return Change(zoneID: id, commit: commit, deletion: Self.reason(reason), isModified: false)
        }
        let content = try StoredZone(value: stored.entry.value)
        let number = content.number == 0 ? commit : content.number
        let last = max(commit, touched[number] ?? 0)
        guard last > start else { return nil }
        let deleted = seenBefore && content.deletedBefore > max(start, bound)
        return Change(
            zoneID: id, commit: last, deletion: deleted ? Self.reason(content.reasonBefore) : nil,
            isModified: true)
    }

    private static func reason(_ stored: UInt64) -> ZoneDeletionReason {
        ZoneDeletionReason(rawValue: UInt8(clamping: stored)) ?? .deleted
    }
}
