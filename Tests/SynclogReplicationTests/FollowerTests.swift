import SynclogJournal
import TestLanes
import TestSupport
import Testing

@testable import SynclogReplication

@Suite struct FollowerTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a copy holds the same commits with the same numbers, and goes on`(seed: UInt64) throws {
        let pair = try Pair(seed: seed, commits: 60)
        var report = try pair.follow()
        #expect(report.isNew && report.entries > 60)
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
        report = try pair.follow()
        #expect(!report.isNew && report.bytes == 0)
        for count in [1, 7, 40] {
            try pair.write(count)
            pair.close()
            try pair.follow()
            #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
        }
        let verified = try Journal.open(at: pair.copy, mode: .readOnly, options: pair.options()).verify()
        #expect(verified.damages.isEmpty && verified.strays.isEmpty && verified.lost == nil)
    }

    @Test func `an empty source makes an empty copy`() throws {
        let pair = try Pair(seed: 1, commits: 0)
        #expect(try pair.follow().head == 0)
        try pair.write(3)
        #expect(try pair.follow().head > 0)
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
    }

    @Test func `a copy takes no commits of its own`() throws {
        let pair = try Pair(seed: 1)
        try pair.follow()
        let journal = try Journal.open(at: pair.copy, options: pair.options())
        defer { journal.close() }
        #expect(throws: JournalError.isFollower(path: pair.copy)) {
            try journal.apply([PlannedEntry(.put, recordKey("x"), value: textValue("y"))])
        }
    }

    @Test func `a copy can be followed`() throws {
        let pair = try Pair(seed: 4, commits: 50)
        try pair.follow()
        let third = "/third"
        var options = Follower.Options()
        options.journal = pair.options(seed: 11)
        let source = try DirectorySource(path: pair.copy, options: pair.options())
        _ = try Follower(at: third, source: source, options: options).run()
        try pair.write(20)
        try pair.follow()
        _ = try Follower(at: third, source: source, options: options).run()
        #expect(try pair.commits(third) == pair.commits(pair.source))
        // And the copy of the copy can be told to follow the source itself.
        try pair.write(5)
        _ = try Follower(at: third, source: try pair.directorySource(), options: options).run()
        #expect(try pair.commits(third) == pair.commits(pair.source))
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `a connection cut anywhere loses nothing and repeats nothing`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let pair = try Pair(seed: seed, commits: 80, valueSizeMax: seed % 2 == 0 ? 4000 : 300)
        let cuts = (0..<25).map { _ in Int.random(in: 1..<30_000, using: &generator) }
        let source = PipeSource(pair.source, pair.options(), cuts: cuts)
        var heads: [UInt64] = [0]
        var finished = false
        for _ in 0...cuts.count where !finished {
            do throws(ReplicationError) {
                let report = try await pair.follower(source).run()
                heads.append(report.head)
                finished = true
            } catch {
                #expect(error.isRetryable, "seed \(seed): \(error)")
                if pair.files.contents(pair.copy + "/HEAD") != nil {
                    let journal = try Journal.open(at: pair.copy, options: pair.options())
                    heads.append(try await journal.head().commit)
                    journal.close()
                    let copied = try pair.commits(pair.copy)
                    #expect(try pair.commits(pair.source).starts(with: copied), "seed \(seed)")
                }
            }
            if !finished { try pair.write(1) }
        }
        #expect(finished && heads == heads.sorted(), "seed \(seed): \(heads)")
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source), "seed \(seed)")
    }

    @Test(arguments: 0..<24)
    func `a call that fails anywhere in the copy stops it, and the next run goes on`(place: Int) throws {
        let pair = try Pair(seed: UInt64(place) + 1, commits: 40)
        pair.files.setFailures(
            FailurePlan([
                FailurePlan.Rule([], pathContains: pair.copy, skipping: place * 2, times: 1, code: 28)
            ]))
        let failed = Result { () throws(ReplicationError) in try pair.follow() }
        pair.files.setFailures(FailurePlan())
        if case .failure(let error) = failed {
            guard case .journal = error else {
                Issue.record("\(error)")
                return
            }
        }
        try pair.write(3)
        try pair.follow()
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source), "after \(place * 2) calls")
    }

    @Test(arguments: 0..<12)
    func `power lost anywhere in the copy is made good by the next run`(place: Int) throws {
        let files = MemoryFileSystem(tracksDurability: true)
        let source = try Journal.create(at: "/source", options: .test(files, seed: 3))
        try files.syncDirectory("/")
        var workload = Workload(seed: UInt64(place), valueSizeMax: 900)
        for _ in 0..<40 { try source.apply(workload.next()) }
        func follow(_ files: MemoryFileSystem, until stop: Int) throws -> Bool {
            var options = Follower.Options()
            options.journal = .test(files, seed: 8)
            files.setFailures(
                FailurePlan([FailurePlan.Rule([], pathContains: "/copy", skipping: stop, code: 5)]))
            let from = try DirectorySource(path: "/source", options: .test(files, seed: 8))
            let run = Follower(at: "/copy", source: from, options: options)
            do throws(ReplicationError) {
                _ = try run.run()
                return true
            } catch {
                return false
            }
        }
        _ = try follow(files, until: place * 3)
        let after = files.afterPowerLoss()
        // The source's next writer proves its end; readers do not see the last commit before that.
        try Journal.open(at: "/source", options: .test(after)).close()
        #expect(try follow(after, until: .max))
        #expect(try allCommits("/copy", .test(after)) == allCommits("/source", .test(after)))
    }

    @Test func `a live copy gets each commit as it comes, once, and stops when told`() async throws {
        for remote in [false, true] {
            let pair = try Pair(seed: 12, commits: 5)
            let source: any JournalSource =
                remote ? PipeSource(pair.source, pair.options()) : try pair.directorySource()
            let follower = pair.follower(source, live: true)
            let seen = Monitor<UInt64>(0)
            let run = Task(executorPreference: Lane.servers) {
                try await follower.run { progress in
                    if progress.state == .caughtUp { seen.withLock { $0 = progress.head } }
                    seen.wakeAll()
                }
            }
            for _ in 0..<20 {
                let commit = try pair.writeOne()
                let arrived = await onOwnThread {
                    seen.wait(timeout: .seconds(60)) { $0 >= commit ? true : nil }
                }
                #expect(arrived == true)
            }
            follower.stop()
            let report = try await run.value
            #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
            #expect(report.head == (try await pair.open().head().commit))
        }
    }

    @Test func `a live copy comes back after cuts`() async throws {
        let pair = try Pair(seed: 13, commits: 60, valueSizeMax: 2000)
        let source = PipeSource(pair.source, pair.options(), cuts: [9000, 12_000, 20_000])
        let follower = pair.follower(source, live: true)
        let head = try await pair.open().head().commit
        let report = try await follower.run { progress in
            if progress.state == .caughtUp, progress.head >= head { follower.stop() }
        }
        // Each new connection may have moved the lease.
        #expect(report.head >= head && source.connections.withLock { $0 } == 4)
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
    }
}
