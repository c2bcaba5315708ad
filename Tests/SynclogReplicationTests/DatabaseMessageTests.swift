import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

@testable import SynclogReplication

private let zoneID = RecordZone.ID(zoneName: "é", ownerName: "me")
private let recordID = Record.ID(recordName: "e\u{301}", zoneID: zoneID)
private let tag = ChangeTag(commit: .max, index: 3, checksum: 0xFFFF_FFFF)
private let token = ChangeToken(
    Cursor(kind: .zone, journal: someID, session: 4, position: .end(of: 9), scope: 2, bound: 12))

/// A record with a field of each kind.
private func someRecord() -> Record {
    var record = Record(recordType: "T", recordID: recordID)
    let values: [RecordValue] = [
        .string(""), .string("e\u{301}é\u{1F600}"), .int64(.min), .int64(.max), .double(.infinity),
        .double(-0.0),
        .bytes([0, 255]), .bytes([]), .date(milliseconds: -1),
        .location(Location(latitude: 1, longitude: -2, altitude: 3, timestampMilliseconds: 5)),
        .reference(Reference(recordName: "r", zoneName: "z")), .reference(Reference(recordName: "r")),
        .list(.strings(["a", ""])), .list(.int64s([])), .list(.dates(milliseconds: [1, -1])),
        .unknown(UnknownValue(cbor: [0x82, 0x18, 0x63, 0x61, 0x78])),
    ]
    for (place, value) in values.enumerated() { record["f\(place)"] = value }
    return record
}

private func context() -> RequestContext {
    var context = RequestContext()
    context.database = someID
    context.owner = "me"
    context.device = DeviceID(high: 1, low: .max)
    context.confirmedOperation = OperationID(counter: 1, bits: 2)
    context.operation = OperationID(counter: 2, bits: .max)
    return context
}

private let requests: [DatabaseRequest] = [
    DatabaseRequest(.identify),
    DatabaseRequest(.identify, context: context()),
    DatabaseRequest(
        .modifyRecords(
            DatabaseRequest.ModifyRecords(
                saves: [
                    RecordSave(someRecord(), policy: .allKeys),
                    RecordSave(
                        recordID: recordID, recordType: "T", baseTag: tag,
                        changes: [FieldChange(key: "cleared", value: nil)]),
                ],
                deletions: [
                    RecordDeletion(recordID: recordID), RecordDeletion(recordID: recordID, changeTag: tag),
                ],
                savePolicy: .changedKeys, atomically: false)), context: context()),
    DatabaseRequest(.records(ids: [recordID], desiredKeys: nil)),
    DatabaseRequest(.records(ids: [], desiredKeys: [])),
    DatabaseRequest(.records(ids: [recordID, recordID], desiredKeys: ["a", "é"])),
    DatabaseRequest(.recordZoneChanges(zoneID: zoneID, since: nil, desiredKeys: nil, resultsLimit: 0)),
    DatabaseRequest(.recordZoneChanges(zoneID: zoneID, since: token, desiredKeys: ["a"], resultsLimit: .max)),
    DatabaseRequest(.databaseChanges(since: nil, resultsLimit: 1)),
    DatabaseRequest(.databaseChanges(since: token, resultsLimit: -1)),
    DatabaseRequest(.modifyRecordZones(saving: [zoneID], deleting: [.default], reason: .purged)),
    DatabaseRequest(.allRecordZones),
]

private let conflict: SyncError = {
    var error = SyncError(
        .serverRecordChanged, "another version is there", nextStep: "merge", recordID: recordID,
        zoneID: zoneID,
        retryAfter: .milliseconds(1500), zoneDeletionReason: .encryptedDataReset,
        itemErrors: [SyncError.ItemError(error: SyncError(.zoneNotFound, "gone", nextStep: "make it"))],
        serverRecord: fetched())
    return error
}()

/// A record as an authority gives it.
private func fetched() -> Record {
    var record = someRecord()
    record.completeSave(
        SavedRecord(
            changeTag: tag, creationDate: Timestamp(microsecondsSince1970: -5),
            modificationDate: Timestamp(microsecondsSince1970: 7), device: 3, mergedWithOther: false))
    return record
}

private let bodies: [DatabaseAnswer.Body] = [
    .identified,
    .modifiedRecords(
        saves: [
            .success(
                SavedRecord(
                    changeTag: tag, creationDate: Timestamp(microsecondsSince1970: .min),
                    modificationDate: Timestamp(microsecondsSince1970: .max), device: .max,
                    mergedWithOther: true)),
            .failure(conflict),
        ], deletions: [nil, conflict]),
    .records([.success(fetched()), .failure(conflict)]),
    .recordZoneChanges(
        RecordZoneChanges(
            modifications: [fetched()],
            deletions: [RecordZoneChanges.Deletion(recordID: recordID, recordType: "T")], changeToken: token,
            moreComing: true)),
    .databaseChanges(
        DatabaseChanges(
            modifications: [zoneID, .default],
            deletions: [DatabaseChanges.Deletion(zoneID: zoneID, reason: .purged)],
            changeToken: token, moreComing: false)),
    .modifiedRecordZones(
        saves: [.success(RecordZone(zoneID: zoneID, creationDate: Timestamp(microsecondsSince1970: 1)))],
        deletions: [conflict, nil]),
    .recordZones([RecordZone(zoneID: zoneID, creationDate: nil)]),
]

private let answers: [DatabaseAnswer] = bodies.map { body in
    DatabaseAnswer(
        database: someID, container: "local", owner: "me", session: .max, head: 5,
        lastOperation: OperationID(counter: 1, bits: 2), body: body)
}

@Suite struct DatabaseMessageTests {
    @Test(arguments: requests)
    fileprivate func `a request reads back as it was written`(request: DatabaseRequest) throws {
        #expect(try DatabaseRequest(wireBytes: request.wireBytes) == request)
    }

    @Test(arguments: answers)
    fileprivate func `an answer reads back as it was written`(answer: DatabaseAnswer) throws {
        #expect(try DatabaseAnswer(wireBytes: answer.wireBytes) == answer)
    }

    @Test func `an error reads back as it was written`() throws {
        #expect(try SyncError(wireBytes: conflict.wireBytes) == conflict)
    }

    @Test func `errors inside errors have an end`() {
        var error = SyncError(.partialFailure, "", nextStep: "")
        for _ in 0..<6 {
            error = SyncError(
                .partialFailure, "", nextStep: "", itemErrors: [SyncError.ItemError(error: error)])
        }
        #expect(throws: CBORError.self) { try SyncError(wireBytes: error.wireBytes) }
    }

    @Test func `what is cut anywhere is an error`() {
        for bytes in requests.map(\.wireBytes) {
            for end in 0..<bytes.count {
                #expect(throws: CBORError.self) { try DatabaseRequest(wireBytes: Array(bytes[..<end])) }
            }
        }
        for bytes in answers.map(\.wireBytes) {
            for end in 0..<bytes.count {
                #expect(throws: CBORError.self) { try DatabaseAnswer(wireBytes: Array(bytes[..<end])) }
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `changed bytes never trap`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var understood = 0
        for round in 0..<4000 {
            var bytes =
                round % 2 == 0
                ? requests[round / 2 % requests.count].wireBytes
                : answers[round / 2 % answers.count].wireBytes
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: .min ... .max, using: &generator)
            }
            if round % 2 == 0 {
                if (try? DatabaseRequest(wireBytes: bytes)) != nil { understood += 1 }
            } else if (try? DatabaseAnswer(wireBytes: bytes)) != nil {
                understood += 1
            }
        }
        #expect(understood > 0 && understood < 4000, "seed \(seed)")
    }
}
