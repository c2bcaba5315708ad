/// An authority over records, here or elsewhere.
///
/// It has one requirement, so that transports, loggers and tests wrap one door; the methods with CloudKit's names are
/// extensions.
public protocol Database: Sendable {
    /// Answers a request.
    ///
    /// Failures of single items are in the answer; what is thrown concerns the request as a whole.
    func perform(_ request: DatabaseRequest) async throws(SyncError) -> DatabaseAnswer
}

extension Database {
    /// Tells who the database is.
    public func identify(context: RequestContext = RequestContext()) async throws(SyncError) -> DatabaseAnswer
    {
        try await perform(DatabaseRequest(.identify, context: context))
    }

    /// Saves and deletes records; each zone of the request is a commit of its own.
    ///
    /// - Returns: One result per record. A saved record comes back with its new tag and without changed keys.
    public func modifyRecords(
        saving records: [Record], deleting deletions: [RecordDeletion],
        savePolicy: SavePolicy = .ifServerRecordUnchanged, atomically: Bool = true,
        context: RequestContext = RequestContext()
    ) async throws(SyncError) -> (
        saveResults: [Record.ID: Result<Record, SyncError>],
        deleteResults: [Record.ID: Result<Void, SyncError>]
    ) {
        let body = DatabaseRequest.ModifyRecords(
            saves: records.map { record in RecordSave(record, policy: savePolicy) }, deletions: deletions,
            savePolicy: savePolicy, atomically: atomically)
        let answer = try await perform(DatabaseRequest(.modifyRecords(body), context: context))
        guard case .modifiedRecords(let saved, let deleted) = answer.body, saved.count == records.count,
            deleted.count == deletions.count
        else { throw .unexpectedAnswer }
        var saveResults: [Record.ID: Result<Record, SyncError>] = [:]
        saveResults.reserveCapacity(records.count)
        for (record, result) in zip(records, saved) {
            switch result {
            case .success(let saved):
                var record = record
                record.completeSave(saved)
                saveResults[record.recordID] = .success(record)
            case .failure(var error):
                if error.code == .serverRecordChanged {
                    error.clientRecord = record
                    error.ancestorRecord = record.recordChangeTag == nil ? nil : record.ancestor
                }
                saveResults[record.recordID] = .failure(error)
            }
        }
        var deleteResults: [Record.ID: Result<Void, SyncError>] = [:]
        for (deletion, error) in zip(deletions, deleted) {
            deleteResults[deletion.recordID] = error.map { .failure($0) } ?? .success(())
        }
        return (saveResults, deleteResults)
    }

    /// Saves records, and deletes records in whatever version is there.
    @_disfavoredOverload
    public func modifyRecords(
        saving records: [Record], deleting recordIDs: [Record.ID],
        savePolicy: SavePolicy = .ifServerRecordUnchanged, atomically: Bool = true,
        context: RequestContext = RequestContext()
    ) async throws(SyncError) -> (
        saveResults: [Record.ID: Result<Record, SyncError>],
        deleteResults: [Record.ID: Result<Void, SyncError>]
    ) {
        try await modifyRecords(
            saving: records, deleting: recordIDs.map { id in RecordDeletion(recordID: id) },
            savePolicy: savePolicy, atomically: atomically, context: context)
    }

    /// Reads records by name.
    ///
    /// `desiredKeys` nil means all fields, an empty list none. What is too much for one answer is asked for again.
    public func records(
        for ids: [Record.ID], desiredKeys: [String]? = nil, context: RequestContext = RequestContext()
    ) async throws(SyncError) -> [Record.ID: Result<Record, SyncError>] {
        var results: [Record.ID: Result<Record, SyncError>] = [:]
        results.reserveCapacity(ids.count)
        var open = ids
        while !open.isEmpty {
            let answer = try await perform(
                DatabaseRequest(.records(ids: open, desiredKeys: desiredKeys), context: context))
            guard case .records(let found) = answer.body, found.count == open.count else {
                throw .unexpectedAnswer
            }
            var left: [Record.ID] = []
            for (id, result) in zip(open, found) {
                if case .failure(let error) = result, error.code == .limitExceeded {
                    left.append(id)
                } else {
                    results[id] = result
                }
            }
            guard left.count < open.count else { throw .unexpectedAnswer }
            open = left
        }
        return results
    }

    /// Reads a page of a zone's changes, from the beginning with a nil token.
    ///
    /// `resultsLimit` counts records, 0 is the authority's choice; a page ends after the commit that reaches a limit.
    public func recordZoneChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ChangeToken?, desiredKeys: [String]? = nil,
        resultsLimit: Int = 0, context: RequestContext = RequestContext()
    ) async throws(SyncError) -> RecordZoneChanges {
        let body = DatabaseRequest.Body.recordZoneChanges(
            zoneID: zoneID, since: token, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
        let answer = try await perform(DatabaseRequest(body, context: context))
        guard case .recordZoneChanges(let page) = answer.body else { throw .unexpectedAnswer }
        return page
    }

    /// Reads a page of the zones that changed, from the beginning with a nil token.
    public func databaseChanges(
        since token: ChangeToken?, resultsLimit: Int = 0, context: RequestContext = RequestContext()
    ) async throws(SyncError) -> DatabaseChanges {
        let answer = try await perform(
            DatabaseRequest(.databaseChanges(since: token, resultsLimit: resultsLimit), context: context))
        guard case .databaseChanges(let page) = answer.body else { throw .unexpectedAnswer }
        return page
    }

    /// Makes zones and deletes zones; each is a commit of its own, saves first.
    public func modifyRecordZones(
        saving zones: [RecordZone], deleting zoneIDs: [RecordZone.ID], reason: ZoneDeletionReason = .deleted,
        context: RequestContext = RequestContext()
    ) async throws(SyncError) -> (
        saveResults: [RecordZone.ID: Result<RecordZone, SyncError>],
        deleteResults: [RecordZone.ID: Result<Void, SyncError>]
    ) {
        let body = DatabaseRequest.Body.modifyRecordZones(
            saving: zones.map(\.zoneID), deleting: zoneIDs, reason: reason)
        let answer = try await perform(DatabaseRequest(body, context: context))
        guard case .modifiedRecordZones(let saved, let deleted) = answer.body, saved.count == zones.count,
            deleted.count == zoneIDs.count
        else { throw .unexpectedAnswer }
        var saveResults: [RecordZone.ID: Result<RecordZone, SyncError>] = [:]
        for (zone, result) in zip(zones, saved) { saveResults[zone.zoneID] = result }
        var deleteResults: [RecordZone.ID: Result<Void, SyncError>] = [:]
        for (id, error) in zip(zoneIDs, deleted) {
            deleteResults[id] = error.map { .failure($0) } ?? .success(())
        }
        return (saveResults, deleteResults)
    }

    /// Reads all zones, in rising order of their names' bytes.
    public func allRecordZones(context: RequestContext = RequestContext()) async throws(SyncError)
        -> [RecordZone]
    {
        let answer = try await perform(DatabaseRequest(.allRecordZones, context: context))
        guard case .recordZones(let zones) = answer.body else { throw .unexpectedAnswer }
        return zones
    }

    /// Reads all live records of a zone by a walk from the beginning, in rising order of their names' bytes.
    public func allRecords(
        inZoneWith zoneID: RecordZone.ID, desiredKeys: [String]? = nil,
        context: RequestContext = RequestContext()
    ) async throws(SyncError) -> [Record] {
        var found: [Record.ID: Record] = [:]
        var token: ChangeToken?
        var more = true
        while more {
            let page = try await recordZoneChanges(
                inZoneWith: zoneID, since: token, desiredKeys: desiredKeys, context: context)
            guard !page.moreComing || page.changeToken != token else { throw .unexpectedAnswer }
            for deletion in page.deletions { found[deletion.recordID] = nil }
            for record in page.modifications { found[record.recordID] = record }
            token = page.changeToken
            more = page.moreComing
        }
        return found.values.sorted { first, second in
            first.recordID.recordName.bytesPrecede(second.recordID.recordName)
        }
    }
}

extension SyncError {
    /// The authority answered something else than what was asked.
    static let unexpectedAnswer = SyncError(
        .internalError, "the database's answer does not fit the request",
        nextStep: "check that both sides run the same version of synclog")
}
