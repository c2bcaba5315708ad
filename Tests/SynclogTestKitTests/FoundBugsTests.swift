import SynclogTestKit
import TestLanes
import Testing

/// Bugs that the crash test found in the journal, each with the script that showed it.
@Suite(.long) struct FoundBugsTests {
    private func expectClean(_ text: String, seeds: Range<UInt64>, losses: Int = 2) throws {
        let script = try CrashScript(name: "found", text: text)
        for seed in seeds {
            var test = CrashTest(seed: seed, script: script)
            test.lossesPerCall = losses
            let report = test.run()
            #expect(report.states > 50)
            if let failure = report.failure {
                Issue.record("seed \(seed), \(failure.place): \(failure.reason)\n\(script)")
            }
        }
    }

    /// The power went while a segment was sealed: the footer's sector reached the disk, a page of the index did not. The footer
    /// alone was taken for a whole seal, and the journal could not be opened again.
    @Test func `the footer of a seal reached the disk and its index did not`() throws {
        try expectClean("group 4\ngroup 4\ngroup 2\nput 4\nput 4", seeds: 1..<3)
    }

    /// A process was killed between writing a seal and syncing it. The next one found the seal in the page cache and began the
    /// segment behind it; when the power went, the seal was torn though its successor was there. So was a seal that was
    /// made again behind a torn one.
    @Test func `a seal that a killed process never synced`() throws {
        try expectClean("processes 2\nput 4\nput 4\n@2 put 4\nput 4\n@2 put 4\nput 4", seeds: 2..<4)
    }

    /// A new copy had its first segment's name on the disk before the name of its file FOLLOWER, or lost the latter first when it was
    /// taken away: the directory was then neither a follower nor empty, and the next run stopped.
    @Test func `a follower's mark is there as long as its segments`() throws {
        try expectClean(
            "put 2\nfollow\ndelete 2\nput 1\nage 40\nput 1\ncompact-all\nput 1\nfollow", seeds: 9..<11)
    }

    /// Of a group that was torn the first sector was missing, so that the filler from before it covered the rest; the numbers in there
    /// were given again.
    @Test func `a filler covers blocks of a torn group`() throws {
        try expectClean("exclusive\nput 3\nput 3\ndelete 4\nput 4\nput 4\nput 1\ngroup 3", seeds: 17..<20)
    }

    /// A recovery dropped a tail, moved the whole commits before it to a segment of their own, and was cut short there: the next
    /// one looked at the new segment alone and gave the tail's numbers again.
    @Test func `the power goes again while the tail is still in the segment before`() throws {
        let text = """
            processes 3
            @3 delete 2
            @3 group 4
            @3 put 2
            fail sync 5 1
            delete 3
            """
        try expectClean(text, seeds: 90..<91, losses: 4)
    }

    /// The reservation of numbers for relaxed commits rolled, and the sync of the new segment's name failed. The relaxed commit behind it went
    /// into the old segment all the same, and the next opening began behind the seal.
    @Test func `the roll behind a reservation fails`() throws {
        let text = """
            exclusive
            fail syncDirectory 5 0
            relaxed 2
            put 1
            relaxed 3
            sync
            reopen
            relaxed 1
            fail open 13 5
            sync
            reopen
            """
        try expectClean(text, seeds: 10_211..<10_212, losses: 4)
    }

    /// The first mending of that looked again after the roll and went on above the reservation without making another one.
    @Test func `a reservation is made again when its roll failed`() throws {
        let text = """
            exclusive
            relaxed 3
            sync
            relaxed 3
            fail open 13 5
            sync
            reopen
            relaxed 1
            fail syncData 5 1
            sync
            """
        try expectClean(text, seeds: 40_235..<40_236, losses: 4)
    }

    /// A mistake of the test's own: a commit failed, a lease got its number, and when a merge had left nothing of that commit the
    /// test took it for the one that failed.
    @Test func `a lease has the number of a commit that failed`() throws {
        let text = """
            fail open 24 0
            group 4
            fail write 28 2
            read
            put 3
            follow
            lease 89
            delete 3
            put 2
            put 1
            reopen
            age 52
            put 1
            compact-all
            put 1
            follow
            compact-all
            """
        try expectClean(text, seeds: 10_017..<10_018, losses: 4)
    }

    /// The same with a lease that the follower took by itself.
    @Test func `a follower's lease has the number of a commit that failed`() throws {
        let text = """
            delete 3
            fail write 4 1
            put 1
            reopen
            follow
            put 1
            delete 2
            put 1
            put 3
            follow
            fail write 28 0
            delete 2
            compact
            follow
            """
        try expectClean(text, seeds: 20_154..<20_155, losses: 4)
    }

    /// And with a deletion whose sync failed: it was there all the same, and a merge forgot it with what it deleted.
    @Test func `a deletion that nobody acknowledged is forgotten`() throws {
        try expectClean(
            "put 3\nfail syncData 5 1\nput 2\ndelete 2\nfollow\nlease 46\ndelete 3\nput 2\nput 2\nput 3\nage 64\nput 1\n"
                + "compact-all\nput 1\nfollow\nkill 9\ncompact-all",
            seeds: 100_197..<100_198, losses: 4)
    }
}
