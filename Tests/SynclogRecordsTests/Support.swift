import SynclogJournal
import SynclogRecords
import TestSupport

/// Lower-case hex.
func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { hexadecimal(UInt64($0), digits: 2) }.joined() }

/// The bytes of hex digits, or nil.
func unhexed(_ hex: String) -> [UInt8]? {
    let digits = Array(hex)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var result: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
        guard let byte = UInt8(String(digits[place...place + 1]), radix: 16) else { return nil }
        result.append(byte)
    }
    return result
}

let notes = RecordZone.ID(zoneName: "notes")

/// The identity of a record in the zone "notes", or another.
func id(_ name: String, in zone: RecordZone.ID = notes) -> Record.ID {
    Record.ID(recordName: name, zoneID: zone)
}

/// A record to be saved as new.
func note(_ name: String, _ fields: [String: RecordValue] = [:], in zone: RecordZone.ID = notes) -> Record {
    var record = Record(recordType: "Note", recordID: id(name, in: zone))
    for key in fields.keys.sorted() { record[key] = fields[key] }
    return record
}

/// A database in memory, and what lies under it.
struct Fixture {
    let system = MemoryFileSystem()
    let clock = ManualClock()
    let database: JournalDatabase

    /// Makes a database with the zone "notes".
    init(limits: DatabaseLimits = DatabaseLimits(), seed: UInt64 = 1, zones: [RecordZone.ID] = [notes]) throws
    {
        database = try JournalDatabase.create(
            at: "/db", owner: "me", options: .test(system, seed: seed, clock: clock), limits: limits)
        for zone in zones { try database.save(zone: zone) }
    }

    /// Another process's handle on the same directory.
    func another(seed: UInt64 = 2, mode: JournalMode = .shared) throws -> JournalDatabase {
        try JournalDatabase.open(at: "/db", mode: mode, options: .test(system, seed: seed, clock: clock))
    }
}

extension JournalDatabase {
    /// Makes a zone.
    func save(zone: RecordZone.ID) throws {
        let answer = try perform(
            DatabaseRequest(.modifyRecordZones(saving: [zone], deleting: [], reason: .deleted)))
        if case .modifiedRecordZones(let saves, _) = answer.body { _ = try saves[0].get() }
    }

    /// Deletes a zone.
    func delete(zone: RecordZone.ID, reason: ZoneDeletionReason = .deleted) throws {
        let answer = try perform(
            DatabaseRequest(.modifyRecordZones(saving: [], deleting: [zone], reason: reason)))
        if case .modifiedRecordZones(_, let deletions) = answer.body, let error = deletions[0] { throw error }
    }

    /// Sends saves and deletions and returns the answer's results.
    func send(
        _ records: [Record] = [], deleting deletions: [RecordDeletion] = [],
        policy: SavePolicy = .ifServerRecordUnchanged, atomically: Bool = true,
        context: RequestContext = RequestContext()
    ) throws(SyncError) -> (saves: [Result<SavedRecord, SyncError>], deletions: [SyncError?]) {
        let body = DatabaseRequest.ModifyRecords(
            saves: records.map { RecordSave($0, policy: policy) }, deletions: deletions, savePolicy: policy,
            atomically: atomically)
        guard
            case .modifiedRecords(let saves, let deleted) =
                try perform(DatabaseRequest(.modifyRecords(body), context: context)).body
        else { throw SyncError(.internalError, "no such answer", nextStep: "mend the test") }
        return (saves, deleted)
    }

    /// Saves one record and returns it as the client then has it.
    @discardableResult
    func save(_ record: Record, policy: SavePolicy = .ifServerRecordUnchanged) throws(SyncError) -> Record {
        var record = record
        record.completeSave(try send([record], policy: policy).saves[0].get())
        return record
    }

    /// Deletes one record.
    func delete(_ id: Record.ID, tag: ChangeTag? = nil) throws(SyncError) {
        if let error = try send(deleting: [RecordDeletion(recordID: id, changeTag: tag)]).deletions[0] {
            throw error
        }
    }

    /// Reads one record.
    func record(_ id: Record.ID, desiredKeys: [String]? = nil) throws(SyncError) -> Record {
        guard
            case .records(let results) =
                try perform(DatabaseRequest(.records(ids: [id], desiredKeys: desiredKeys))).body
        else { throw SyncError(.internalError, "no such answer", nextStep: "mend the test") }
        return try results[0].get()
    }

    /// Reads a page of a zone's changes.
    func changes(
        in zone: RecordZone.ID = notes, since token: ChangeToken? = nil, desiredKeys: [String]? = nil,
        limit: Int = 0
    ) throws(SyncError) -> RecordZoneChanges {
        let body = DatabaseRequest.Body.recordZoneChanges(
            zoneID: zone, since: token, desiredKeys: desiredKeys, resultsLimit: limit)
        guard case .recordZoneChanges(let page) = try perform(DatabaseRequest(body)).body else {
            throw SyncError(.internalError, "no such answer", nextStep: "mend the test")
        }
        return page
    }

    /// Reads a page of the database's changes.
    func databaseChanges(since token: ChangeToken? = nil, limit: Int = 0) throws(SyncError) -> DatabaseChanges
    {
        guard
            case .databaseChanges(let page) =
                try perform(DatabaseRequest(.databaseChanges(since: token, resultsLimit: limit))).body
        else { throw SyncError(.internalError, "no such answer", nextStep: "mend the test") }
        return page
    }

    /// Reads all zones.
    func zones() throws(SyncError) -> [RecordZone] {
        guard case .recordZones(let zones) = try perform(DatabaseRequest(.allRecordZones)).body else {
            throw SyncError(.internalError, "no such answer", nextStep: "mend the test")
        }
        return zones
    }

    /// The number of the last commit.
    func headCommit() throws -> UInt64 { try journal.head().commit }
}

/// The code of the error that a body throws, or nil.
func code(_ body: () throws -> Void) -> SyncError.Code? {
    do {
        try body()
        return nil
    } catch let error as SyncError {
        return error.code
    } catch {
        return SyncError.Code(rawValue: "\(error)")
    }
}

extension Result where Failure == SyncError {
    /// The code of the failure, or nil.
    var code: SyncError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
