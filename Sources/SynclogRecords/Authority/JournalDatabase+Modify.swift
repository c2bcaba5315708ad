import SynclogJournal

extension JournalDatabase {
    /// Saves and deletes records, one commit per zone in the order in which the request names them.
    func modifyRecords(
        _ request: DatabaseRequest.ModifyRecords, context: RequestContext
    ) throws(SyncError) -> DatabaseAnswer.Body {
        let items = request.items
        try limits.check(itemCount: items.count)
        try limits.check(sizeOf: request)
        try checkOncePerRecord(items)
        var results = items.map { item in
            Result<RecordDecision.Outcome, SyncError>.failure(.noAnswer(item.recordID))
        }
        let operation = operation(of: context) { request.digest() }
        let device = try deviceNumber(context.device)
        var anyStored = false
        for group in groups(of: items) {
            let first = items[group[0]].recordID.zoneID
            guard let zoneKey = key(of: first) else {
                for place in group {
                    var error = SyncError.zoneNotFound(items[place].recordID.zoneID)
                    error.recordID = items[place].recordID
                    results[place] = .failure(error)
                }
                continue
            }
            let decision = RecordDecision(
                zoneID: first, zoneKey: zoneKey,
                items: group.map { place in
                    RecordDecision.Item(
                        place: place, content: items[place], problem: limits.problem(with: items[place]))
                },
                policy: request.savePolicy, atomically: request.atomically, operation: operation,
                device: device,
                limits: limits)
            let decided: Result<[Result<RecordDecision.Outcome, SyncError>], SyncError>
            do throws(JournalError) {
                let committed = try journal.commit(device: device) { tx throws(JournalError) in
                    try decision.decide(on: &tx)
                }
                anyStored = anyStored || committed.commit != nil
                decided = committed.result
            } catch {
                guard anyStored else { throw SyncError(error) }
                for place in group {
                    var failure = SyncError(error)
                    failure.recordID = items[place].recordID
                    results[place] = .failure(failure)
                }
                continue
            }
            for (place, result) in zip(group, try decided.get()) { results[place] = result }
        }
        return .modifiedRecords(
            saves: results.prefix(request.saves.count).map { result in
                result.flatMap { outcome in
                    if case .saved(let saved) = outcome {
                        .success(saved)
                    } else {
                        .failure(.unexpectedAnswer)
                    }
                }
            },
            deletions: results.dropFirst(request.saves.count).map { result in
                if case .failure(let error) = result { error } else { nil }
            })
    }

    /// Makes and deletes zones, each in a commit of its own.
    func modifyRecordZones(
        saving: [RecordZone.ID], deleting: [RecordZone.ID], reason: ZoneDeletionReason,
        context: RequestContext
    ) throws(SyncError) -> DatabaseAnswer.Body {
        try limits.check(itemCount: saving.count + deleting.count)
        let operation = operation(of: context) {
            zonesDigest(saving: saving, deleting: deleting, reason: reason)
        }
        let device = try deviceNumber(context.device)
        var results: [Result<RecordZone, SyncError>] = []
        var anyStored = false
        for (place, id) in (saving + deleting).enumerated() {
            let saves = place < saving.count
            guard let zoneKey = key(of: id) else {
                results.append(
                    .failure(
                        saves
                            ? SyncError(
                                .permissionFailure, "the zone would belong to another owner",
                                nextStep: "make zones of the database's own owner", zoneID: id)
                            : .zoneNotFound(id)))
                continue
            }
            if let problem = saves ? limits.problem(with: id) : deletionProblem(id) {
                results.append(.failure(problem))
                continue
            }
            let decision = ZoneDecision(
                zoneID: id, zoneKey: zoneKey, change: saves ? .save : .delete(reason), place: place,
                operation: operation, limits: limits)
            do throws(SyncError) {
                let committed = try mapped { () throws(JournalError) in
                    try journal.commit(device: device) { tx throws(JournalError) in
                        try decision.decide(on: &tx)
                    }
                }
                anyStored = anyStored || committed.commit != nil
                results.append(try committed.result.get())
            } catch {
                guard anyStored else { throw error }
                var failure = error
                failure.zoneID = id
                results.append(.failure(failure))
            }
        }
        return .modifiedRecordZones(
            saves: Array(results.prefix(saving.count)),
            deletions: results.dropFirst(saving.count).map { result in
                if case .failure(let error) = result { error } else { nil }
            })
    }

    private func deletionProblem(_ id: RecordZone.ID) -> SyncError? {
        guard id.zoneName.hasSameBytes(as: RecordZone.ID.defaultZoneName) else { return nil }
        return .invalid(
            "the default zone cannot be deleted", nextStep: "delete its records instead", zoneID: id)
    }

    /// The places of the items by zone, in the order in which zones come first.
    private func groups(of items: [ModifyItem]) -> [[Int]] {
        var groups: [[Int]] = []
        var places: [RecordZone.ID: Int] = [:]
        for (place, item) in items.enumerated() {
            let zoneID = canonical(item.recordID.zoneID)
            if let group = places[zoneID] {
                groups[group].append(place)
            } else {
                places[zoneID] = groups.count
                groups.append([place])
            }
        }
        return groups
    }

    private func checkOncePerRecord(_ items: [ModifyItem]) throws(SyncError) {
        var seen: Set<Record.ID> = []
        for id in items.map(\.recordID) {
            let canonicalID = Record.ID(recordName: id.recordName, zoneID: canonical(id.zoneID))
            guard seen.insert(canonicalID).inserted else {
                throw .invalid(
                    "the record is in the request twice", nextStep: "send one change per record and request",
                    recordID: id)
            }
        }
    }

    /// The identity with the placeholder for the database's own owner.
    private func canonical(_ id: RecordZone.ID) -> RecordZone.ID {
        id.ownerName.hasSameBytes(as: owner) ? RecordZone.ID(zoneName: id.zoneName) : id
    }

    private func operation(of context: RequestContext, digest: () -> [UInt8]) -> Operation? {
        context.operation.map { id in Operation(device: context.device, id: id, digest: digest()) }
    }

    /// The number of a device, which is given one by its first request that writes.
    private func deviceNumber(_ device: DeviceID?) throws(SyncError) -> UInt32 {
        guard let device else { return 0 }
        let result = try mapped { () throws(JournalError) in
            if let known = try journal.device(device) { return known.map(\.number) }
            return try journal.commit { tx throws(JournalError) in try tx.register(device) }.result
        }
        return try result.get()
    }
}

extension SyncError {
    fileprivate static func noAnswer(_ id: Record.ID) -> SyncError {
        SyncError(.internalError, "the item was not looked at", nextStep: "send it again", recordID: id)
    }
}
