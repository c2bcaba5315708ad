import SynclogJournal
import TestSupport
import Testing

/// A crash in the group that carries an index checkpoint.
@Suite struct CheckpointTests {
    /// The story: after 150 kills a follower's copy had a segment that `verify` called damaged.
    ///
    /// The group with the checkpoint was written, but its writer was killed before HEAD. The next one copied its commits to
    /// a segment of their own and was killed too, before it closed the old one. The third closed that behind the
    /// checkpoint, which no block that counts follows. A checkpoint counts only with the block written with it.
    @Test func `a segment is closed before a checkpoint whose group was moved`() throws {
        let system = MemoryFileSystem()
        var options = JournalOptions.test(system, segmentSize: 256 * 1024)
        options.checkpointInterval = 16 * 1024
        var model = JournalModel()
        var workload = Workload(seed: 51, entriesMax: 4, valueSizeMax: 300)
        let journal = try Journal.create(at: "/j", options: options)
        var head: [UInt8] = []
        let path = try #require(system.segments(of: "/j").first)
        var checkpoint: JournalFiles.Frame?
        while checkpoint == nil {
            head = try #require(system.contents("/j/HEAD"))
            model.commits.append(try journal.apply(workload.next()))
            checkpoint = JournalFiles.frames(try #require(system.contents(path))).first { $0.kind == 0x51 }
        }
        journal.close()
        // The first kill: the group is there, HEAD does not know it.
        try system.setContents("/j/HEAD", head)
        let end = try #require(system.head(of: "/j")).end
        #expect(checkpoint?.offset == end)
        // The second: the old segment was not closed yet.
        system.setFailures(FailurePlan([FailurePlan.Rule([.truncate], pathContains: path, code: 5)]))
        #expect(throws: JournalError.self) {
            try Journal.open(at: "/j", options: .test(system, seed: 52)).commits()
        }
        system.setFailures(FailurePlan())
        #expect(system.segments(of: "/j").count == 2)

        #expect(try recovered(system) == model.commits)
        let closed = JournalFiles.frames(try #require(system.contents(path)))
        #expect(!closed.contains { $0.offset == checkpoint?.offset && $0.kind == 0x51 })
        #expect(closed.last?.kind == 0x52)
        let report = try Journal.verify(at: "/j", options: .test(system))
        #expect(report.isSound, "\(report.damages)")
        let again = try Journal.open(at: "/j", options: .test(system, seed: 53))
        model.commits.append(try again.apply(workload.next()))
        #expect(try again.commits() == model.commits)
        for key in model.keys { #expect(try again.entry(for: key) == model.entry(for: key)) }
        again.close()
    }
}
