import Glibc
import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport
import Testing

/// Zones are deleted by processes that are killed on the way.
@Suite(.long) struct ZoneCrashTests {
    /// A purge moved the data away before it wrote its mark; killed in between, the store began again at number 0.
    @Test(arguments: [nil, 0, 1, 2] as [UInt64?])
    func `a process is killed at any call of a zone's deletion, and numbers go on above all that were given`(
        loss: UInt64?
    ) throws {
        let machine = MemoryFileSystem(tracksDurability: true)
        let clock = ManualClock()
        let made = try JournalDatabase.create(
            at: "/db", owner: "me", options: .test(machine, segmentSize: 6 << 10, clock: clock))
        try made.save(zone: notes)
        for number in 0..<12 { try made.save(note("r\(number)", ["a": .string("text")])) }
        let head = try made.headCommit()
        var turn = 0
        while true {
            let copy = machine.copy()
            let end = turn
            let files = copy.process { $0.number == end ? .killed(bytesBefore: 40) : .goesOn }
            var isDeleted = false
            do {
                let database = try JournalDatabase.open(
                    at: "/db", options: .test(files, segmentSize: 6 << 10, seed: 3, clock: clock))
                try database.delete(zone: notes, reason: .purged)
                isDeleted = true
            } catch {
                #expect(files.process?.isAlive == false, "call \(turn): \(error)")
            }
            let left =
                loss.map { copy.afterPowerLoss($0 == 0 ? .nothingUnsynced : .anySectors(seed: $0)) } ?? copy
            let next = try JournalDatabase.open(
                at: "/db", options: .test(left, segmentSize: 6 << 10, seed: 4, clock: clock))
            let isThere = try next.zones().contains { $0.zoneID == notes }
            #expect(!isThere || !isDeleted, "call \(turn)")
            if isThere {
                #expect(try next.changes().modifications.count == 12, "call \(turn)")
            } else {
                #expect(code { _ = try next.record(id("r1")) } == .userDeletedZone)
                try next.save(zone: notes)
                #expect(try next.changes().modifications.isEmpty, "call \(turn)")
            }
            try next.save(note("after"))
            #expect(try next.headCommit() > head, "call \(turn)")
            if files.process?.isAlive == true { break }
            turn += 1
        }
        #expect(turn > 15)
    }
}
