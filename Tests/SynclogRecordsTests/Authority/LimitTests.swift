import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport
import Testing

/// Limits are checked before anything is written.
@Suite(.long) struct LimitTests {
    @Test(arguments: [(400, nil), (401, .limitExceeded)] as [(Int, SyncError.Code?)])
    func `items of a request`(count: Int, expected: SyncError.Code?) throws {
        let database = try Fixture().database
        let head = try database.headCommit()
        let saves = (0..<count - 100).map { note("\($0)") }
        let deletions = (0..<100).map { RecordDeletion(recordID: id("d\($0)")) }
        #expect(code { _ = try database.send(saves, deleting: deletions) } == expected)
        #expect(try database.headCommit() == head + (expected == nil ? 1 : 0))
        let ids = (0..<count).map { id("\($0)") }
        #expect(
            code { _ = try database.perform(DatabaseRequest(.records(ids: ids, desiredKeys: nil))) }
                == expected)
        let zones = (0..<count).map { RecordZone.ID(zoneName: "z\($0)") }
        if expected != nil {
            let request = DatabaseRequest(.modifyRecordZones(saving: zones, deleting: [], reason: .deleted))
            #expect(code { _ = try database.perform(request) } == .limitExceeded)
        }
    }

    @Test func `bytes of a record, of a request and of a commit`() throws {
        let database = try Fixture().database
        func text(_ count: Int) -> RecordValue { .bytes([UInt8](repeating: 7, count: count)) }
        #expect(try database.send([note("a", ["a": text(900_000)])]).saves[0].code == nil)
        #expect(try database.send([note("b", ["a": text(1 << 20)])]).saves[0].code == .limitExceeded)
        let two = ["c", "d"].map { note($0, ["a": text(1_040_000)]) }
        #expect(try database.send(two).saves.map(\.code) == [nil, nil])
        let head = try database.headCommit()
        let three = ["e", "f", "g"].map { note($0, ["a": text(700_000)]) }
        #expect(code { _ = try database.send(three) } == .limitExceeded)
        // Small changes of large records are stored whole; together they may be too much for one commit.
        var merged = try database.record(id("a"), desiredKeys: [])
        merged["b"] = text(200_000)
        #expect(try database.send([merged]).saves[0].code == .limitExceeded, "the merged record is too large")
        #expect(try database.headCommit() == head)

        var limits = DatabaseLimits()
        limits.commitSizeMax = 1_500_000
        let narrow = try Fixture(limits: limits).database
        for name in ["a", "b"] { try narrow.save(note(name, ["a": text(900_000)])) }
        let small = try ["a", "b"].map { name in
            var record = try narrow.record(id(name), desiredKeys: [])
            record["b"] = 1
            return record
        }
        #expect(
            try narrow.send(small, atomically: false).saves.map(\.code) == [.limitExceeded, .limitExceeded])
        for record in small { try narrow.save(record) }
    }

    @Test(
        arguments: [
            ("", .invalidArguments), ("a", nil), ("_a", .reserved), ("a_", nil), ("🌍", nil), ("a\u{0}b", nil),
            (" ", nil),
            ("255", nil), ("256", .invalidArguments), ("é255", nil), ("é256", .invalidArguments),
        ] as [(String, SyncError.Code?)]) func `record and zone names`(
            name: String, expected: SyncError.Code?
        ) throws
    {
        let long = [
            "255": String(repeating: "a", count: 255), "256": String(repeating: "a", count: 256),
            "é255": String(repeating: "é", count: 127) + "a", "é256": String(repeating: "é", count: 128),
        ]
        let name = long[name] ?? name
        let database = try Fixture().database
        #expect(try database.send([note(name)]).saves[0].code == expected)
        #expect(
            try database.send(deleting: [RecordDeletion(recordID: id(name))]).deletions[0]?.code == expected)
        #expect(code { try database.save(zone: RecordZone.ID(zoneName: name)) } == expected)
    }

    @Test(arguments: [
        ("a", true), ("A_9", true), ("type", true), ("", false), ("_a", false), ("9a", false), ("a-b", false),
        ("a b", false), ("é", false), ("a.b", false), ("255", true), ("256", false),
    ]) func `type and field names`(name: String, good: Bool) throws {
        let name = Int(name).map { String(repeating: "a", count: $0) } ?? name
        let database = try Fixture().database
        let expected: SyncError.Code? = good ? nil : .invalidArguments
        #expect(try database.send([note("f", [name: 1])]).saves[0].code == expected)
        #expect(try database.send([Record(recordType: name, recordID: id("t"))]).saves[0].code == expected)
    }

    @Test(arguments: [
        ("an asset", RecordValue.unknown(UnknownValue(cbor: [0x82, 0x10, 0x01]))),
        ("an encrypted value", .unknown(UnknownValue(cbor: [0x82, 0x11, 0x01]))),
        ("a deleting reference", .reference(Reference(recordName: "x", action: .deleteSelf))),
        ("a list of them", .list(.references([Reference(recordName: "x", action: .deleteSelf)]))),
    ]) func `what is reserved is refused by name`(what: String, value: RecordValue) throws {
        let database = try Fixture().database
        let result = try database.send([note("r", ["secret": value])]).saves[0]
        #expect(result.code == .reserved)
        guard case .failure(let error) = result else { return }
        #expect(error.description.contains("secret"))
        #expect(error.description.hasPrefix("record r in zone notes: "))
    }

    @Test func `records that are too much for one answer are asked for again`() async throws {
        var limits = DatabaseLimits()
        limits.answerSizeMax = 1000
        let database = try Fixture(limits: limits).database
        let records = (0..<10).map { note("\($0)", ["a": .bytes([UInt8](repeating: 1, count: 400))]) }
        _ = try await database.modifyRecords(saving: records, deleting: [])
        let found = try await database.records(for: records.map(\.recordID))
        #expect(found.count == 10)
        #expect(found.values.allSatisfy { $0.code == nil })
        let conflicts = try await database.modifyRecords(saving: records, deleting: [], atomically: false)
            .saveResults
        let servers = conflicts.values.compactMap { result in
            if case .failure(let error) = result { error.serverRecord } else { nil }
        }
        #expect(conflicts.values.allSatisfy { $0.code == .serverRecordChanged })
        #expect(servers.count == 2, "server records are left out when there are too many")
    }
}
