import Glibc
import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// Commits that are written but not durable yet.
@Suite(.long) struct RelaxedTests {
    /// A relaxed commit of one put.
    @discardableResult
    private func relaxed(_ journal: Journal, _ name: String, _ text: String) throws -> UInt64 {
        let made = try journal.commitRelaxed { (transaction: inout CommitTransaction) throws(JournalError) in
            _ = try transaction.put(recordKey(name), value: textValue(text))
        }
        return try #require(made.commit).number
    }

    @Test func `they need an exclusive journal`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        let before = system.image(of: "/j")
        let error = #expect(throws: JournalError.self) {
            try journal.commitRelaxed { (transaction: inout CommitTransaction) throws(JournalError) in
                _ = try transaction.put(recordKey("a"), value: textValue("1"))
            }
        }
        #expect(error == .relaxedNeedsExclusive)
        var after = system.image(of: "/j")
        after["LOCK"] = before["LOCK"]
        #expect(after == before)
    }

    @Test func `few of them cost no sync, and later decisions of the same handle see them`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: .test(system))
        try relaxed(journal, "first", "0")
        let syncs = system.counts.dataSyncs + system.counts.syncs
        for number in 0..<50 { try relaxed(journal, "n", "\(number)") }
        #expect(system.counts.dataSyncs + system.counts.syncs == syncs)
        let seen = try journal.commit {
            (transaction: inout CommitTransaction) throws(JournalError) -> [UInt8]? in
            try transaction.entry(for: recordKey("n"))?.entry.value
        }
        #expect(seen.result == textValue("49"))
    }

    @Test func `nobody else sees them before they are durable`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: .test(system))
        let durable = try journal.apply([put("a", "1")])
        let last = try relaxed(journal, "b", "2")
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        #expect(try reader.head().commit < last)
        #expect(try reader.commits() == [durable])
        try journal.sync()
        #expect(try reader.head().commit == last)
        #expect(try reader.commits().map(\.info.number) == [durable.info.number, last])
    }

    @Test(arguments: ["sync", "close", "commit"])
    func `a sync, a close and a durable commit make them durable`(how: String) throws {
        let system = MemoryFileSystem(tracksDurability: true)
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: .test(system))
        try journal.apply([put("a", "1")])
        var numbers: [UInt64] = []
        for number in 0..<20 { numbers.append(try relaxed(journal, "n\(number)", "x")) }
        switch how {
        case "sync": try journal.sync()
        case "close": journal.close()
        default: numbers.append(try journal.apply([put("z", "1")]).info.number)
        }
        #expect(try recovered(system.afterPowerLoss()).suffix(numbers.count).map(\.info.number) == numbers)
    }

    /// Whoever saw a number of a commit that is gone must never meet other content under it.
    @Test(arguments: [1, 50, 10_050])
    func `after a loss of power their numbers are not used again`(count: Int) throws {
        let system = MemoryFileSystem(tracksDurability: true)
        let options = JournalOptions.test(system, segmentSize: 4 << 20)
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: options)
        let durable = try journal.apply([put("a", "1")])
        var last: UInt64 = 0
        for number in 0..<count { last = try relaxed(journal, "n\(number)", "x") }
        // What is kept in memory is bounded: many of them are synced now and then.
        #expect(system.counts.dataSyncs < 10 + count / 500)
        let left = system.afterPowerLoss()
        let found = try recovered(left)
        #expect(found.first == durable)
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.info.number < $1.info.number })
        let next = try Journal.open(at: "/j", options: .test(left, seed: 9)).apply([put("next", "x")])
        #expect(next.info.number > last)
    }

    @Test func `a failed sync of relaxed commits poisons the handle`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: .test(system))
        let durable = try journal.apply([put("a", "1")])
        try relaxed(journal, "b", "2")
        system.setFailures(FailurePlan([.init([.syncData], times: 1, code: EIO)]))
        #expect(throws: JournalError.self) { try journal.sync() }
        let error = #expect(throws: JournalError.self) { try journal.apply([put("c", "3")]) }
        guard case .durabilityUnknown = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try recovered(system.afterPowerLoss()).first == durable)
    }
}
