import SynclogJournal

extension JournalDatabase {
    /// Reads records by name, up to the last known head.
    func records(for ids: [Record.ID], desiredKeys: [String]?) throws(SyncError) -> [Result<
        Record, SyncError
    >] {
        try limits.check(itemCount: ids.count)
        return try mapped { () throws(JournalError) in
            var zones: [RecordZone.ID: Result<LiveZone, SyncError>] = [:]
            var results: [Result<Record, SyncError>] = []
            var size = 0
            for id in ids {
                if zones[id.zoneID] == nil { zones[id.zoneID] = try liveZone(id.zoneID) }
                switch zones[id.zoneID] ?? .failure(.zoneNotFound(id.zoneID)) {
                case .failure(var error):
                    error.recordID = id
                    results.append(.failure(error))
                case .success(let zone):
                    guard size < limits.answerSizeMax else {
                        results.append(.failure(.answerFull(id)))
                        continue
                    }
                    guard let stored = try journal.entry(for: id.key(inZone: zone.number)),
                        stored.entry.operation == .put
                    else {
                        results.append(.failure(.unknownItem(id)))
                        continue
                    }
                    size += stored.entry.value.count
                    let record = try? Record(stored, recordID: id, desiredKeys: desiredKeys)
                    results.append(record.map { .success($0) } ?? .failure(.notUnderstood(recordID: id)))
                }
            }
            return results
        }
    }

    /// Reads all zones up to the last known head, in rising order of their names' bytes.
    func allRecordZones() throws(SyncError) -> [RecordZone] {
        let directory = try mapped { () throws(JournalError) in try ZoneDirectory(reading: journal) }
        return directory.zones.sorted { first, second in
            first.zoneID.zoneName.bytesPrecede(second.zoneID.zoneName)
        }
    }

    /// The zone of an identity, or why it cannot be used; up to the last known head.
    func liveZone(_ id: RecordZone.ID) throws(JournalError) -> Result<LiveZone, SyncError> {
        guard let key = key(of: id) else { return .failure(.zoneNotFound(id)) }
        return try journal.liveZone(key, id: id)
    }
}

extension SyncError {
    fileprivate static func answerFull(_ id: Record.ID) -> SyncError {
        SyncError(
            .limitExceeded, "the answer was full before this record", nextStep: "ask for it again",
            recordID: id)
    }
}
