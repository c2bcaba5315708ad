import SynclogJournal

/// The part of a request that concerns one zone, and what is decided on it: pure, so that a log may ask again.
struct RecordDecision: Sendable {
    /// What became of an item.
    enum Outcome: Sendable {
        case saved(SavedRecord)
        case deleted
    }

    /// An item with its place in the request.
    struct Item: Sendable {
        var place: Int
        var content: ModifyItem
        /// What is wrong with it whatever the state.
        var problem: SyncError?
    }

    var zoneID: RecordZone.ID
    /// The key of the zone's entry.
    var zoneKey: EntryKey
    var items: [Item]
    var policy: SavePolicy
    var atomically: Bool
    var operation: Operation?
    /// The device's number.
    var device: UInt32
    var limits: DatabaseLimits

    /// A write that is due if nothing stops it.
    private enum Write {
        case put(StoredRecord, value: [UInt8], firstSeen: UInt64?, mergedWithOther: Bool)
        case delete(value: [UInt8], firstSeen: UInt64)
        /// There is nothing to delete.
        case nothing
    }

    /// Decides all items and puts what is to be stored.
    ///
    /// - Returns: One result per item, in order; or the refusal of the whole request.
    func decide(on state: inout some DecisionState) throws(JournalError) -> Result<
        [Result<Outcome, SyncError>], SyncError
    > {
        var known: StoredOutcomes?
        if let operation {
            switch try state.outcomes(
                of: operation, zoneKey: zoneKey.name, retention: limits.operationRetention)
            {
            case .success(let outcomes): known = outcomes
            case .failure(let error): return .failure(error)
            }
        }
        let open = items.indices.filter { known?.outcomes[items[$0].place] == nil }
        var results = try items.map { item throws(JournalError) -> Result<Outcome, SyncError> in
            guard let outcome = known?.outcomes[item.place] else { return .success(.deleted) }
            return try repeated(outcome, of: item, state)
        }
        guard !open.isEmpty else { return .success(results) }
        let zone: LiveZone
        switch try state.liveZone(zoneKey, id: zoneID) {
        case .success(let found): zone = found
        case .failure(let error):
            for place in open {
                var error = error
                error.recordID = items[place].content.recordID
                results[place] = .failure(error)
            }
            return .success(results)
        }
        var writes: [(place: Int, write: Write)] = []
        var answerSize = 0
        var failed = false
        for place in open {
            switch try decide(items[place], in: zone, on: state, answerSize: &answerSize) {
            case .success(let write): writes.append((place, write))
            case .failure(let error):
                results[place] = .failure(error)
                failed = true
            }
        }
        if let error = commitProblem(writes.map(\.write)) {
            for (place, _) in writes { results[place] = .failure(error(items[place].content.recordID)) }
            return .success(results)
        }
        if atomically, failed {
            for (place, _) in writes {
                results[place] = .failure(.batchRequestFailed(items[place].content.recordID))
            }
            return .success(results)
        }
        try store(writes, open: open, known: known, zone: zone, state: &state, results: &results)
        return .success(results)
    }

    private func store(
        _ writes: [(place: Int, write: Write)], open: [Int], known: StoredOutcomes?, zone: LiveZone,
        state: inout some DecisionState, results: inout [Result<Outcome, SyncError>]
    ) throws(JournalError) {
        var outcomes = known
        var stored = false
        for (place, write) in writes {
            let key = items[place].content.recordID.key(inZone: zone.number)
            switch write {
            case .put(let content, let value, let firstSeen, let merged):
                let index = try state.put(key, value: value, firstSeen: firstSeen)
                let tag = ChangeTag(commit: state.number, index: index, checksum: crc32c(value))
                outcomes?.outcomes[items[place].place] = .saved(
                    commit: 0, index: index, checksum: tag.checksum, created: content.created, modified: 0,
                    mergedWithOther: merged)
                results[place] = .success(
                    .saved(
                        SavedRecord(
                            changeTag: tag, creationDate: Timestamp(microsecondsSince1970: content.created),
                            modificationDate: Timestamp(microsecondsSince1970: state.clock), device: device,
                            mergedWithOther: merged)))
                stored = true
            case .delete(let value, let firstSeen):
                _ = try state.delete(key, value: value, firstSeen: firstSeen)
                outcomes?.outcomes[items[place].place] = .done
                results[place] = .success(.deleted)
                stored = true
            case .nothing:
                outcomes?.outcomes[items[place].place] = .done
                results[place] = .success(.deleted)
            }
        }
        guard stored, let operation, var outcomes else { return }
        for place in open {
            if case .failure(let error) = results[place] {
                outcomes.outcomes[items[place].place] = .refused(error.code)
            }
        }
        try state.keep(outcomes, of: operation, zoneKey: zoneKey.name)
    }

    private func decide(
        _ item: Item, in zone: LiveZone, on state: some DecisionState, answerSize: inout Int
    ) throws(JournalError) -> Result<Write, SyncError> {
        if let problem = item.problem { return .failure(problem) }
        let id = item.content.recordID
        let stored = try state.entry(for: id.key(inZone: zone.number))
        let current = stored.flatMap { stored in stored.entry.operation == .put ? stored : nil }
        switch item.content {
        case .save(let save):
            guard policy == .ifServerRecordUnchanged else { break }
            switch (current, save.baseTag) {
            case (nil, nil): break
            case (nil, _?): return .failure(.unknownItem(id))
            case (let current?, let tag):
                if tag != ChangeTag(current) {
                    return .failure(conflict(id, insert: tag == nil, current, answerSize: &answerSize))
                }
            }
        case .delete(let deletion):
            guard let current else { return .success(.nothing) }
            if let tag = deletion.changeTag, tag != ChangeTag(current) {
                return .failure(conflict(id, insert: false, current, answerSize: &answerSize))
            }
        }
        var content: StoredRecord?
        if let current {
            content = try? StoredRecord(value: current.entry.value)
            guard content != nil else { return .failure(.notUnderstood(recordID: id)) }
        }
        switch item.content {
        case .save(let save):
            let merged =
                policy != .ifServerRecordUnchanged && current.map { ChangeTag($0) != save.baseTag } ?? false
            var new =
                content ?? StoredRecord(type: save.recordType, fields: FieldTable(), created: state.clock)
            new.type = save.recordType
            for change in save.changes { new.fields[change.key] = change.value }
            let value = new.encoded()
            guard value.count <= limits.recordSizeMax else {
                return .failure(limits.tooLarge(id, size: value.count))
            }
            return .success(
                .put(new, value: value, firstSeen: stored?.entry.firstSeen, mergedWithOther: merged))
        case .delete(let deletion):
            let tombstone = StoredTombstone(type: content?.type ?? "", baseTag: deletion.changeTag)
            return .success(
                .delete(value: tombstone.encoded(), firstSeen: stored?.entry.firstSeen ?? state.number))
        }
    }

    /// A conflict with the record the authority has, as long as the answer does not get too large.
    private func conflict(
        _ id: Record.ID, insert: Bool, _ current: StoredEntry, answerSize: inout Int
    ) -> SyncError {
        answerSize += current.entry.value.count
        let server = answerSize <= limits.answerSizeMax ? try? Record(current, recordID: id) : nil
        return .serverRecordChanged(id, insert: insert, server: server)
    }

    /// What is wrong with all writes together, or nil.
    private func commitProblem(_ writes: [Write]) -> ((Record.ID) -> SyncError)? {
        let size = writes.reduce(0) { sum, write in
            switch write {
            case .put(_, let value, _, _), .delete(let value, _): sum + value.count
            case .nothing: sum
            }
        }
        guard size > limits.commitSizeMax else { return nil }
        return { [limits] id in
            .limit(
                "the commit", max: limits.commitSizeMax, actual: size, unit: "bytes",
                nextStep: "split the request into halves and send both", recordID: id)
        }
    }

    /// What a repeat of an item is told.
    private func repeated(
        _ outcome: StoredOutcomes.Outcome, of item: Item, _ state: some DecisionState
    ) throws(JournalError) -> Result<Outcome, SyncError> {
        switch outcome {
        case .saved(let commit, let index, let checksum, let created, let modified, let merged):
            return .success(
                .saved(
                    SavedRecord(
                        changeTag: ChangeTag(commit: commit, index: index, checksum: checksum),
                        creationDate: Timestamp(microsecondsSince1970: created),
                        modificationDate: Timestamp(microsecondsSince1970: modified), device: device,
                        mergedWithOther: merged)))
        case .done: return .success(.deleted)
        case .refused(let code):
            let id = item.content.recordID
            var error = SyncError.refusedBefore(code, recordID: id, zoneID: nil)
            if code == .serverRecordChanged,
                case .success(let zone) = try state.liveZone(zoneKey, id: zoneID),
                let current = try state.entry(for: id.key(inZone: zone.number)),
                current.entry.operation == .put
            {
                error.serverRecord = try? Record(current, recordID: id)
            }
            return .failure(error)
        }
    }
}
