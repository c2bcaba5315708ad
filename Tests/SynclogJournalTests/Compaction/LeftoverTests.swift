import SynclogJournal
import TestSupport
import Testing

@Suite struct LeftoverTests {
    /// A process died between naming the merged segment and removing its inputs; another one knew only those.
    @Test
    func `inputs that a dead compaction left are ignored and then removed, under the eyes of an open handle`()
        throws
    {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 95)
        try fill(journal, &model, &workload, count: 180)
        let inputs = system.segments(of: "/j").dropLast()
        #expect(inputs.count >= 2)
        let kept = try inputs.map { ($0, try #require(system.contents($0))) }
        let other = try Journal.open(at: "/j", options: .test(system, seed: 96))
        _ = try journal.compact(everything: true)
        for (path, bytes) in kept {
            _ = try system.open(path, .createNew)
            try system.setContents(path, bytes)
        }
        let fresh = try Journal.open(at: "/j", mode: .readOnly, options: .test(system, seed: 97))
        #expect(try fresh.verify().isSound)
        for key in model.keys {
            #expect(try fresh.entry(for: key)?.position == model.entry(for: key)?.position)
        }
        _ = try journal.compact()
        for (path, _) in kept where path != system.segments(of: "/j").first {
            #expect(try system.status(path) == nil)
        }
        // The handle that was open all the time goes on, reading and writing.
        for key in model.keys {
            #expect(try other.entry(for: key)?.position == model.entry(for: key)?.position)
        }
        try other.apply([put("after", "x")])
        #expect(try journal.head().commit == other.head().commit)
        #expect(try journal.verify().isSound)
    }

    @Test func `a compaction of what is merged already and all needed writes nothing`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 94)
        try fill(journal, &model, &workload, count: 180)
        _ = try journal.compact(everything: true)
        let before = system.image(of: "/j")
        let counted = try journal.compact(dryRun: true)
        let idle = try journal.compact(everything: true)
        #expect(system.image(of: "/j") == before)
        #expect(idle.segments == 0 && idle.bytesAfter == idle.bytesBefore && idle.entries == counted.entries)
        #expect(counted.segments == 1 && idle.kept == counted.kept)
    }

    /// Compactions that were killed again and again left drafts in `tmp`, which only a recovery removed.
    @Test func `the draft of a dead compaction goes with the next one`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 98)
        try fill(journal, &model, &workload, count: 180)
        // Killed behind the first write to its draft: nothing it does after that reaches the files.
        system.setFailures(
            FailurePlan([
                FailurePlan.Rule([.write], pathContains: "/tmp/", skipping: 1, code: 5),
                FailurePlan.Rule([.remove], code: 5),
            ]))
        #expect(throws: JournalError.self) { try journal.compact() }
        let left = system.copy()
        #expect(try left.list("/j/tmp").count == 1)
        let next = try Journal.open(at: "/j", options: .test(left, seed: 99))
        _ = try next.compact()
        #expect(try left.list("/j/tmp").isEmpty)
        #expect(try next.commits().last == model.commits.last && next.verify().isSound)
    }
}
