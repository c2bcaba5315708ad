import SynclogJournal

extension JournalDatabase {
    /// Reads a page of a zone's changes; see ``Database/recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:context:)``.
    func recordZoneChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ChangeToken?, desiredKeys: [String]?,
        resultsLimit: Int,
        head: UInt64
    ) throws(SyncError) -> RecordZoneChanges {
        try check(resultsLimit: resultsLimit)
        try validate(token, kind: .zone)
        let zone = try mapped { () throws(JournalError) in try liveZone(zoneID) }.get()
        if let token, token.cursor.scope != zone.number {
            throw try otherScope(token.cursor.scope, zoneID: zoneID)
        }
        let stage = WalkStage(token, head: head)
        let walk = ZoneWalk(
            zoneID: zoneID, zone: zone.number, stage: stage, desiredKeys: desiredKeys,
            countMax: resultsLimit == 0 ? limits.pageCountMax : resultsLimit, sizeMax: limits.pageSizeMax)
        let page = try walk.read(journal, head: head)
        // What was compacted away meanwhile is missing from the page, and its floor tells so.
        try validate(token, kind: .zone)
        return RecordZoneChanges(
            modifications: page.modifications, deletions: page.deletions,
            changeToken: try stage.token(
                at: page.end, moreComing: page.moreComing, kind: .zone, scope: zone.number, journal),
            moreComing: page.moreComing)
    }

    /// Reads a page of the zones that changed, in the order of their last changes.
    func databaseChanges(
        since token: ChangeToken?, resultsLimit: Int, head: UInt64
    ) throws(SyncError) -> DatabaseChanges {
        try check(resultsLimit: resultsLimit)
        try validate(token, kind: .database)
        let stage = WalkStage(token, head: head)
        let changes = try DatabaseWalk(stage: stage).read(journal)
        try validate(token, kind: .database)
        let countMax = resultsLimit == 0 ? limits.pageCountMax : resultsLimit
        var end = max(head, stage.start)
        var page = DatabaseChanges(
            modifications: [], deletions: [],
            changeToken: try stage.token(at: end, moreComing: false, kind: .database, scope: 0, journal),
            moreComing: false)
        for (place, change) in changes.enumerated() {
            if place >= countMax, changes[place - 1].commit != change.commit {
                end = changes[place - 1].commit
                page.moreComing = true
                page.changeToken = try stage.token(
                    at: end, moreComing: true, kind: .database, scope: 0, journal)
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
        var cursor = token.cursor
        // Only a walk from the beginning can do without the tombstones up to its bound.
        if !WalkStage(token, head: 0).isFromBeginning { cursor.bound = 0 }
        let judged = cursor
        try mapped { () throws(JournalError) in try journal.validate(judged) }
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
