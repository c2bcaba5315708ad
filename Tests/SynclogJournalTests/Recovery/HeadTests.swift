import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// HEAD put back to an older version, deleted, or taken from elsewhere.
@Suite(.long) struct HeadTests {
    @Test func `an older HEAD hides nothing after the next open for writing`() throws {
        let history = try CutTests.History(seed: 41, count: 80, valueSizeMax: 400)
        #expect(history.system.segments(of: "/j").count >= 2)
        for (head, slot) in history.heads.enumerated().filter({ $0.offset % 3 == 0 || everyByte }).map(
            \.element)
        {
            let system = history.system.copy()
            try system.setContents("/j/HEAD", slot)
            try expectPrefix(system, history.model, "HEAD of commit \(head.commit)")
            #expect(try recovered(system) == history.model.commits, "HEAD of commit \(head.commit)")
        }
    }

    @Test func `without HEAD readers show a prefix and say so until the next open for writing`() throws {
        let history = try CutTests.History(seed: 42, count: 80, valueSizeMax: 400)
        let system = history.system.copy()
        try system.remove("/j/HEAD")
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        #expect(try reader.head().recoveryPending)
        reader.close()
        try expectPrefix(system, history.model, "no HEAD")
        #expect(try recovered(system) == history.model.commits)
        let after = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        #expect(try after.head().recoveryPending == false)
        #expect(try after.commits() == history.model.commits)
    }

    /// Readers show the first commits of the model; when some are missing they say that recovery is pending.
    private func expectPrefix(_ system: MemoryFileSystem, _ model: JournalModel, _ comment: Comment) throws {
        let before = system.image(of: "/j")
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        defer { reader.close() }
        let head = try reader.head()
        let found = try reader.commits()
        #expect(found == Array(model.commits.prefix(found.count)), comment)
        if found != model.commits { #expect(head.recoveryPending, comment) }
        // At most what the last group wrote can be unproven.
        #expect(found.count >= model.commits.count - 1, comment)
        #expect(system.image(of: "/j") == before, comment)
    }

    @Test func `what was dropped from the tail never gets its number again`() throws {
        let history = try CutTests.History(seed: 43, count: 20)
        let ends = try history.lastInActive(2)
        let path = try #require(history.system.segments(of: "/j").last)
        let bytes = try #require(history.system.contents(path))
        let system = history.system.copy()
        // The last commit is torn in its last byte: it was seen but is not whole.
        try system.setContents(path, Array(bytes[..<(ends[2].0.end - 1)]))
        try system.setContents("/j/HEAD", ends[1].1)
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 44))
        let next = try journal.apply([put("next", "x")])
        #expect(next.info.number > ends[2].0.commit)
        #expect(try journal.commits() == history.model.through(ends[1].0.commit).commits + [next])
        journal.close()
        // What was torn is kept aside.
        #expect(system.image(of: "/j").keys.contains { $0.hasPrefix("aside/") && $0.hasSuffix(".torn") })
    }

    @Test func `a HEAD of a copy's original bounds nothing`() throws {
        let history = try CutTests.History(seed: 45, count: 20)
        let system = history.system
        try system.copyDirectory("/j", to: "/copy")
        // The copy is cut: its HEAD speaks of the original, so this is no loss.
        let path = try #require(system.segments(of: "/copy").last)
        let end = try history.lastInActive(1)[0].0.end
        try system.setContents(path, Array(try #require(system.contents(path))[..<end]))
        let journal = try Journal.open(at: "/copy", options: .test(system, seed: 46))
        #expect(try journal.commits() == Array(history.model.commits.dropLast()))
    }

    @Test func `a missing segment is an error and never a shorter log`() throws {
        let history = try CutTests.History(seed: 47, count: 150, valueSizeMax: 400)
        let segments = history.system.segments(of: "/j")
        try #require(segments.count >= 3)
        for path in segments {
            let system = history.system.copy()
            try system.remove(path)
            let before = system.image(of: "/j")
            for mode in [JournalMode.readOnly, .shared] {
                #expect(throws: JournalError.self, "without \(path)") {
                    let journal = try Journal.open(at: "/j", mode: mode, options: .test(system, seed: 48))
                    _ = try journal.commits()
                }
            }
            let after = system.image(of: "/j")
            #expect(Set(after.keys).isSuperset(of: before.keys), "without \(path)")
        }
    }
}
