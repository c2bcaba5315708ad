import SynclogJournal
import TestLanes
import TestSupport
import Testing

@Suite struct SnapshotTests {
    @Test(arguments: [0, 1, 40])
    func `a copy opens with the same content and goes its own way`(commits: Int) throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 61)
        try fill(journal, &model, &workload, count: commits)
        let head = try journal.snapshot(to: "/copy")
        #expect(head.commit == model.commits.last?.info.number ?? 0)
        let copy = try Journal.open(at: "/copy", options: .test(system, seed: 62))
        #expect(copy.id == journal.id)
        #expect(try copy.commits() == model.commits)
        #expect(try copy.verify().isSound)
        // Both go on: what one adds is no history of the other.
        let mine = try journal.apply([put("mine", "x")])
        try copy.apply([put("theirs", "y")])
        try copy.apply([put("theirs", "z")])
        let cursor = try journal.cursor(at: .end(of: mine.info.number))
        #expect(throws: JournalError.self) { try copy.validate(cursor) }
        #expect(try journal.commits().count == commits + 1)
        #expect(try copy.commits().count == commits + 2)
        let expected = JournalError.alreadyExists(path: "/copy")
        #expect(throws: expected) { try journal.snapshot(to: "/copy") }
    }

    /// The story: an unfinished copy had its segments in order, and opened as a shorter journal.
    @Test func `a copy that is cut short at any call is whole or opens nowhere`() async throws {
        let start = MemoryFileSystem(tracksDurability: true)
        try start.makeDirectory("/d")
        try start.syncDirectory("/")
        var made = JournalModel()
        var workload = Workload(seed: 67, valueSizeMax: 900)
        let journal = try Journal.create(at: "/d/j", options: .test(start, segmentSize: 8 << 10))
        try fill(journal, &made, &workload, count: 10)
        #expect(try start.list("/d/j").count { $0.hasSuffix(".lz4") } == 3)
        journal.close()
        let (model, all) = (made, everyByte)
        let report = await onOwnThread {
            FailureLoop(everything: all).run(from: start) { files, failure -> JournalError? in
                do throws(JournalError) {
                    let options = JournalOptions.test(files, segmentSize: 8 << 10, seed: 68)
                    let journal = try Journal.open(at: "/d/j", options: options)
                    defer { journal.close() }
                    failure.arm()
                    return try journal.snapshot(to: "/d/copy").commit == model.commits.count ? nil : .closed
                } catch {
                    return error
                }
            } check: { error, machine, failure in
                Self.wrong(with: error, machine, failure, model)
            }
        }
        #expect(report.calls > 30)
        for problem in report.problems { Issue.record("\(problem)") }
    }

    @Test func `a copy that somebody opens before it is acknowledged is left to them`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 70)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 20)
        made.close()
        let holder = Monitor<(any File)?>(nil)
        let files = system.process { call in
            if call.path == "/copy/LOCK", call.kind == .lock {
                holder.withLock { file in
                    guard file == nil, let lock = try? system.open("/copy/LOCK", .create) else { return }
                    if (try? lock.tryLock()) == true { file = lock }
                }
            }
            return .goesOn
        }
        var options = JournalOptions.test(files, seed: 71)
        options.lockTimeout = .zero
        let journal = try Journal.open(at: "/j", options: options)
        defer { journal.close() }
        #expect(try journal.snapshot(to: "/copy").commit == model.commits.count)
        #expect(holder.withLock { $0 != nil })
        #expect(try Self.commits(of: "/copy", system, mode: .readOnly) == model.commits)
    }

    private static func wrong(
        with error: JournalError?, _ machine: MemoryFileSystem, _ failure: FailureLoop.Failure,
        _ model: JournalModel
    ) -> [String] {
        var problems: [String] = []
        if let error, !failure.explains(error) { problems.append("an error that does not say it: \(error)") }
        // One call that failed leaves nothing, and the same can be tried again.
        if error != nil, !failure.lasts {
            let again = machine.copy()
            if let left = try? again.list("/d/copy") { problems.append("left over: \(left)") }
            if (try? commits(of: "/d/j", again, copies: true)) != model.commits {
                problems.append("no second try")
            }
        }
        // Every later call fails as well where a process was killed: nothing could be taken back.
        for seed in 0..<24 as Range<UInt64> {
            let left = seed == 0 ? machine.copy() : machine.afterPowerLoss(.anyCalls(seed: seed))
            if let found = try? commits(of: "/d/copy", left), found != model.commits {
                problems.append("seed \(seed): a copy of \(found.count) commits opens")
            }
            if error == nil, (try? commits(of: "/d/copy", left)) == nil {
                problems.append("seed \(seed): an acknowledged copy is gone")
            }
            if (try? commits(of: "/d/j", left)) != model.commits { problems.append("the original changed") }
        }
        return problems
    }

    private static func commits(
        of path: String, _ system: MemoryFileSystem, mode: JournalMode = .shared, copies: Bool = false
    ) throws -> [Commit] {
        let journal = try Journal.open(
            at: path, mode: mode, options: .test(system, segmentSize: 8 << 10, seed: 69))
        defer { journal.close() }
        if copies { _ = try journal.snapshot(to: "/d/copy") }
        return try journal.commits()
    }

    @Test func `a promoted follower takes commits and no more blocks`() throws {
        let system = MemoryFileSystem()
        let source = try Journal.create(at: "/j", options: .test(system))
        for number in 0..<20 { try source.apply([put("name-\(number)", "x")]) }
        let follower = try Journal.create(
            at: "/f", id: source.id, follower: [0x80], options: .test(system, seed: 63))
        _ = try follower.append(try source.blocks(after: 0, sizeMax: .max))
        #expect(throws: JournalError.isFollower(path: "/f")) { try follower.apply([put("a", "b")]) }
        let cursor = try source.cursor(at: .end(of: 20))
        follower.close()
        try Journal.promote(at: "/f", options: .test(system, seed: 64))
        let promoted = try Journal.open(at: "/f", options: .test(system, seed: 65))
        try promoted.apply([put("own", "x")])
        // Cursors up to the promotion are good for both, later ones are not.
        try source.validate(cursor)
        try promoted.validate(cursor)
        let later = try promoted.cursor(at: .end(of: try promoted.head().commit))
        try source.apply([put("other", "x")])
        #expect(throws: JournalError.self) { try source.validate(later) }
        #expect(throws: JournalError.self) {
            _ = try promoted.append(try source.blocks(after: 20, sizeMax: .max))
        }
        try Journal.promote(at: "/f", options: .test(system, seed: 66))
    }
}

@Suite(.long) struct CompactionCrashTests {
    /// Every call of a compaction fails once or for ever, the process is killed or power is lost: the state is the same.
    @Test(arguments: [1, Int.max])
    func `compaction that fails or dies at any call loses nothing`(times: Int) throws {
        let original = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 71)
        let made = try Journal.create(at: "/j", options: .test(original))
        try fill(made, &model, &workload, count: 150)
        made.close()
        let rehearsal = original.copy()
        rehearsal.resetCounts()
        _ = try compacted(rehearsal)
        let total = rehearsal.trace.count
        #expect(total > 20)
        var failures = 0
        for turn in stride(from: times == 1 ? 0 : 1, to: total, by: everyByte ? 1 : 3) {
            let system = original.copy()
            system.setFailures(
                FailurePlan([.init([], skipping: turn, times: times, code: 5, bytesBefore: 33)]))
            do { _ = try compacted(system) } catch { failures += 1 }
            system.setFailures(FailurePlan())
            for (name, left) in [("killed", system.copy()), ("power lost", system.afterPowerLoss())] {
                let comment: Comment = "call \(turn) failed, then \(name)"
                let journal = try Journal.open(at: "/j", options: .test(left, seed: 78))
                for key in model.keys {
                    let found = try journal.entry(for: key)
                    #expect(found?.position == model.entry(for: key)?.position, comment)
                }
                let again = try journal.compact(everything: true)
                #expect(again.damages.isEmpty, comment)
                try journal.apply([put("after", "x")])
                let report = try journal.verify()
                #expect(report.isSound, "\(comment): \(report.damages)")
                journal.close()
            }
        }
        #expect(failures > 0)
    }

    private func compacted(_ system: MemoryFileSystem) throws -> CompactionReport {
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 72))
        defer { journal.close() }
        return try journal.compact(everything: true)
    }
}
