import Glibc
import SynclogJournal
import TestSupport
import Testing

@testable import SynclogRecords

/// Repeats of a request are told the first outcome and store nothing twice.
@Suite struct RetryTests {
    static let other = RecordZone.ID(zoneName: "other")
    static let device = DeviceID(high: 0xD, low: 1)

    /// The context of a device's operation, or of a command's.
    static func context(_ counter: UInt64, bits: UInt64 = 77, device: DeviceID? = device) -> RequestContext {
        var context = RequestContext()
        context.device = device
        context.operation = OperationID(counter: counter, bits: bits)
        return context
    }

    @Test(arguments: [true, false]) func `a repeated request is stored once`(hasDevice: Bool) throws {
        let fixture = try Fixture(zones: [notes, Self.other])
        let database = fixture.database
        try database.save(note("doomed"))
        let context = Self.context(1, device: hasDevice ? Self.device : nil)
        let saves = [note("a", ["n": 1]), note("b", in: Self.other), note("c")]
        let deletions = [RecordDeletion(recordID: id("doomed")), RecordDeletion(recordID: id("nothing"))]
        let first = try database.send(saves, deleting: deletions, context: context)
        #expect(first.saves.allSatisfy { $0.code == nil })
        let head = try database.headCommit()
        // Somebody else goes on in the meantime.
        var theirs = try database.record(id("a"))
        theirs["n"] = 2
        theirs = try database.save(theirs)
        try database.save(note("doomed", ["back": 1]))
        database.close()
        let again = try fixture.another()
        let second = try again.send(saves, deleting: deletions, context: context)
        #expect(second.saves == first.saves, "tags, stamps and device of the first outcome")
        #expect(second.deletions == first.deletions)
        #expect(try again.headCommit() == head + 2, "the repeat stores nothing")
        #expect(try again.record(id("a")) == theirs)
        #expect(try again.record(id("doomed"))["back"] == 1, "and deletes nothing")
    }

    /// The disk fills up after some write; the request is repeated when there is room again.
    @Test(arguments: [true, false]) func `a repeat executes the items that have no outcome`(hasDevice: Bool)
        throws
    {
        var half = 0
        for skipped in 0..<8 {
            let fixture = try Fixture(zones: [notes, Self.other])
            let context = Self.context(1, device: hasDevice ? Self.device : nil)
            let saves = [note("a"), note("b", in: Self.other)]
            fixture.system.setFailures(
                FailurePlan([
                    FailurePlan.Rule([.write], pathContains: ".lz4", skipping: skipped, code: ENOSPC)
                ]))
            let first = try? fixture.database.send(saves, context: context).saves
            fixture.system.setFailures(FailurePlan())
            let a = try? fixture.database.record(id("a"))
            if let first, first[0].code == nil, first[1].code == .quotaExceeded {
                half += 1
                #expect(code { _ = try fixture.database.record(id("b", in: Self.other)) } == .unknownItem)
            }
            let second = try fixture.another().send(saves, context: context).saves
            if let a { #expect(try second[0].get().changeTag == a.recordChangeTag, "stored once") }
            #expect(
                try second[1].get().changeTag
                    == fixture.database.record(id("b", in: Self.other)).recordChangeTag)
            #expect(try fixture.database.changes().modifications.count == 1)
        }
        #expect(half > 0, "no schedule stored one zone and not the other")
    }

    @Test func `refused items of a stored request are refused again`() throws {
        let database = try Fixture().database
        let there = try database.save(note("there"))
        let context = Self.context(1)
        let saves = [note("new"), note("there")]
        let first = try database.send(saves, atomically: false, context: context)
        #expect(first.saves.map(\.code) == [nil, .serverRecordChanged])
        try database.delete(there.recordID)
        let second = try database.send(saves, atomically: false, context: context)
        #expect(second.saves[0] == first.saves[0])
        #expect(second.saves[1].code == .serverRecordChanged, "although it would go through now")
    }

    @Test func `a request in which nothing was stored leaves nothing and is evaluated anew`() throws {
        let database = try Fixture().database
        try database.save(note("there"))
        // The device's number is given out before.
        try database.save(note("before"))
        _ = try database.send([note("x")], context: Self.context(1))
        let head = try database.headCommit()
        let context = Self.context(2)
        let saves = [note("new"), note("there")]
        #expect(
            try database.send(saves, context: context).saves.map(\.code) == [
                .batchRequestFailed, .serverRecordChanged,
            ])
        #expect(
            try database.send(deleting: [RecordDeletion(recordID: id("no"))], context: Self.context(3))
                .deletions == [nil])
        #expect(try database.headCommit() == head)
        try database.delete(id("there"))
        #expect(try database.send(saves, context: context).saves.map(\.code) == [nil, nil])
    }

    @Test func `another copy of the device is told apart`() throws {
        let database = try Fixture().database
        _ = try database.send([note("a")], context: Self.context(5))
        let head = try database.headCommit()
        #expect(
            code { _ = try database.send([note("b")], context: Self.context(5)) } == .deviceCloned,
            "another request")
        #expect(
            code { _ = try database.send([note("a")], context: Self.context(5, bits: 78)) } == .deviceCloned,
            "other bits")
        var reading = RequestContext()
        reading.device = Self.device
        reading.confirmedOperation = OperationID(counter: 5, bits: 78)
        #expect(
            code { _ = try database.perform(DatabaseRequest(.identify, context: reading)) } == .deviceCloned,
            "whatever is asked")
        #expect(try database.headCommit() == head)
        #expect(try database.send([note("b")], context: Self.context(6)).saves[0].code == nil)
    }

    @Test func `an operation from before the last one is forgotten, not done`() throws {
        let database = try Fixture().database
        _ = try database.send([note("a")], context: Self.context(1))
        _ = try database.send([note("b")], context: Self.context(3))
        let head = try database.headCommit()
        #expect(code { _ = try database.send([note("a")], context: Self.context(1)) } == .operationForgotten)
        #expect(code { _ = try database.send([note("c")], context: Self.context(2)) } == .operationForgotten)
        #expect(try database.headCommit() == head)
        var context = RequestContext()
        context.device = Self.device
        let answer = try database.perform(DatabaseRequest(.identify, context: context))
        #expect(answer.lastOperation == OperationID(counter: 3, bits: 77))
        context.device = DeviceID(high: 0, low: 0)
        #expect(try database.perform(DatabaseRequest(.identify, context: context)).lastOperation == nil)
    }

    @Test func `an outcome that is not kept any longer is forgotten, not done again`() throws {
        let fixture = try Fixture(zones: [notes, Self.other])
        let saves = [note("a")]
        _ = try fixture.database.send(saves, context: Self.context(1))
        fixture.clock.set(fixture.clock.read() + 29 * 86_400_000_000)
        try fixture.database.save(note("time passes"))
        #expect(try fixture.database.send(saves, context: Self.context(1)).saves[0].code == nil, "still kept")
        fixture.clock.set(fixture.clock.read() + 2 * 86_400_000_000)
        try fixture.database.save(note("later"))
        _ = try fixture.database.journal.compact(everything: true)
        let operation = Operation(device: Self.device, id: OperationID(counter: 1, bits: 77), digest: [])
        let zoneKey = StoredZone.key(owner: "me", name: notes.zoneName).name
        #expect(
            try fixture.database.journal.entry(for: StoredOutcomes.key(operation, zoneKey: zoneKey)) == nil,
            "compaction has dropped the outcome")
        let head = try fixture.database.headCommit()
        #expect(
            code { _ = try fixture.database.send(saves, context: Self.context(1)) } == .operationForgotten)
        #expect(try fixture.database.headCommit() == head)
        #expect(try fixture.database.send([note("b")], context: Self.context(2)).saves[0].code == nil)
    }

    @Test func `devices get numbers, which commits carry`() throws {
        let database = try Fixture().database
        for number in 1...3 as ClosedRange<UInt64> {
            let device = DeviceID(high: number, low: 0)
            for counter in 1...2 as ClosedRange<UInt64> {
                let name = "\(number)-\(counter)"
                _ = try database.send([note(name)], context: Self.context(counter, device: device))
                #expect(try database.record(id(name)).modifiedByDevice == UInt32(number))
            }
        }
        try database.save(note("none"))
        #expect(try database.record(id("none")).modifiedByDevice == 0)
    }

    @Test func `repeated requests on zones`() throws {
        let database = try Fixture(zones: [Self.other]).database
        let request = DatabaseRequest(
            .modifyRecordZones(saving: [notes], deleting: [Self.other], reason: .deleted),
            context: Self.context(1))
        let first = try database.perform(request)
        // Somebody makes the deleted zone again; the repeat must not delete that.
        try database.save(zone: Self.other)
        let head = try database.headCommit()
        let second = try database.perform(request)
        #expect(second.body == first.body)
        #expect(try database.headCommit() == head)
        #expect(try database.zones().map(\.zoneID.zoneName) == ["_defaultZone", "notes", "other"])
    }

    @Test func `an operation id without a device is good for one request`() throws {
        let database = try Fixture().database
        let context = Self.context(99, device: nil)
        _ = try database.send([note("a")], context: context)
        #expect(code { _ = try database.send([note("b")], context: context) } == .invalidArguments)
        #expect(code { _ = try database.record(id("b")) } == .unknownItem)
        _ = try database.send([note("b")], context: Self.context(1, device: nil))
        #expect(
            try database.send([note("a")], context: context).saves[0].code == nil, "later ones don't matter")
    }
}
