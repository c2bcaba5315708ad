import SynclogJournal

/// What is decided on a zone to be made or deleted; a commit of its own.
struct ZoneDecision: Sendable {
    /// What is wanted.
    enum Change: Sendable {
        case save
        case delete(ZoneDeletionReason)
    }

    var zoneID: RecordZone.ID
    /// The key of the zone's entry.
    var zoneKey: EntryKey
    var change: Change
    /// The item's place in the request: zones to save, then zones to delete.
    var place: Int
    var operation: Operation?
    var limits: DatabaseLimits

    /// Decides and puts what is to be stored.
    ///
    /// - Returns: The zone's result, or the refusal of the whole request.
    func decide(on state: inout some DecisionState) throws(JournalError) -> Result<
        Result<RecordZone, SyncError>, SyncError
    > {
        var known: StoredOutcomes?
        if let operation {
            switch try state.outcomes(
                of: operation, zoneKey: [], retention: limits.operationRetention)
            {
            case .success(let outcomes): known = outcomes
            case .failure(let error): return .failure(error)
            }
        }
        let live = try state.liveZone(zoneKey, id: zoneID)
        if let outcome = known?.outcomes[place] {
            if case .refused(let code) = outcome {
                return .success(.failure(.refusedBefore(code, recordID: nil, zoneID: zoneID)))
            }
            return .success(.success(RecordZone(zoneID: zoneID, creationDate: (try? live.get())?.created)))
        }
        let stored = try state.entry(for: zoneKey)
        switch (change, live) {
        case (.save, .success(let zone)):
            return .success(.success(RecordZone(zoneID: zoneID, creationDate: zone.created)))
        case (.save, .failure(let error)):
            var content = StoredZone(created: state.clock)
            if let stored {
                guard let deletion = try? StoredZoneDeletion(value: stored.entry.value),
                    stored.entry.operation == .delete
                else { return .success(.failure(error)) }
                content.deletedBefore = stored.commit.number
                content.reasonBefore = deletion.reason
            }
            _ = try state.put(zoneKey, value: content.encoded(), firstSeen: stored?.entry.firstSeen)
        case (.delete, .failure(var error)):
            if error.code == .userDeletedZone { error.code = .zoneNotFound }
            return .success(.failure(error))
        case (.delete(let reason), .success):
            let value = StoredZoneDeletion(reason: UInt64(reason.rawValue)).encoded()
            _ = try state.delete(zoneKey, value: value, firstSeen: stored?.entry.firstSeen)
        }
        if let operation, var outcomes = known {
            outcomes.outcomes[place] = .done
            try state.keep(outcomes, of: operation, zoneKey: [])
        }
        return .success(
            .success(RecordZone(zoneID: zoneID, creationDate: Timestamp(microsecondsSince1970: state.clock))))
    }
}
