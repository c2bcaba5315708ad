import SynclogJournal
import TestLanes
import TestSupport
import Testing

@testable import SynclogReplication

@Suite struct FollowerGuardTests {
    /// Runs a follower that must stop with a reason, and checks that no byte of the copy changed.
    private func stops(
        _ pair: Pair, _ source: (any JournalSource)? = nil, zones: [String]? = nil
    ) throws -> ReplicationError? {
        let before = pair.files.image(of: pair.copy)
        let error = #expect(throws: ReplicationError.self) { try pair.follow(source, zones: zones) }
        #expect(pair.files.image(of: pair.copy) == before)
        return error
    }

    @Test func `a restored source is told by its first new commit, with the last common one`() throws {
        let pair = try Pair(seed: 1, commits: 20)
        pair.close()
        try pair.files.copyDirectory(pair.source, to: "/backup")
        let common = try #require(try pair.commits(pair.source).last).info.number
        try pair.write(50)
        pair.close()
        try pair.follow()
        let own = try #require(try pair.commits(pair.copy).last).info.number
        try pair.files.removeAll(pair.source)
        try pair.files.copyDirectory("/backup", to: pair.source)
        try pair.write(200)
        #expect(try stops(pair) == .stopped(.rolledBack(common: common, own: own)))
    }

    @Test func `a source that lost its end is told before it writes again`() throws {
        let pair = try Pair(seed: 2, commits: 20)
        pair.close()
        try pair.files.copyDirectory(pair.source, to: "/backup")
        try pair.write(5)
        pair.close()
        try pair.follow()
        try pair.files.removeAll(pair.source)
        try pair.files.copyDirectory("/backup", to: pair.source)
        // A reader cannot tell yet what a writer will find behind the copied end.
        let before = pair.files.image(of: pair.copy)
        let report = try pair.follow()
        #expect(report.sourceIsRecovering && pair.files.image(of: pair.copy) == before)
        _ = try pair.open()
        guard case .stopped(let reason) = try stops(pair) else {
            Issue.record("not stopped")
            return
        }
        switch reason {
        case .ahead, .rolledBack: break
        default: Issue.record("\(reason)")
        }
    }

    @Test func `another journal at the same place is foreign`() throws {
        let pair = try Pair(seed: 3)
        let expected = try pair.open().id
        pair.close()
        try pair.follow()
        try pair.files.removeAll(pair.source)
        let other = try Journal.create(at: pair.source, options: pair.options(seed: 99))
        try other.apply(pair.workload.next())
        #expect(try stops(pair) == .stopped(.foreign(expected: expected, found: other.id)))
    }

    @Test func `an emptied, missing or unmounted source changes nothing`() throws {
        let pair = try Pair(seed: 4)
        pair.close()
        try pair.follow()
        try pair.files.removeAll(pair.source)
        #expect(try stops(pair) == .journal(.notFound(path: pair.source)))
        try pair.files.makeDirectory(pair.source)
        #expect(try stops(pair) == .journal(.notAJournal(path: pair.source)))
        _ = try Journal.create(at: pair.source, options: pair.options(seed: 99))
        guard case .stopped(.foreign) = try stops(pair) else {
            Issue.record("not foreign")
            return
        }
    }

    @Test func `a missing segment of the source is an error, never a shorter copy`() throws {
        let pair = try Pair(seed: 5, commits: 200)
        pair.close()
        let segments = pair.files.segments(of: pair.source)
        try #require(segments.count > 3)
        try pair.files.remove(segments[1])
        let error = #expect(throws: ReplicationError.self) { try pair.follow() }
        guard case .journal(.missingSegment) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a journal of its own is not overwritten`() throws {
        let pair = try Pair(seed: 6)
        _ = try Journal.create(at: pair.copy, options: pair.options(seed: 50))
        #expect(try stops(pair) == .notAFollower(path: pair.copy))
        let before = pair.files.image(of: pair.copy)
        #expect(throws: ReplicationError.notAFollower(path: pair.copy)) { try pair.follow(rebuild: true) }
        #expect(pair.files.image(of: pair.copy) == before)
    }

    @Test func `a directory with other files is not taken`() throws {
        let pair = try Pair(seed: 6)
        try pair.files.makeDirectory(pair.copy)
        try pair.files.setContents(pair.copy + "/letter.txt", [1])
        let error = try stops(pair)
        guard case .journal = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a rebuild that was asked for keeps the old copy beside the new one`() throws {
        let pair = try Pair(seed: 7)
        pair.close()
        try pair.follow()
        let old = try pair.commits(pair.copy)
        try pair.files.removeAll(pair.source)
        let other = try Journal.create(at: pair.source, options: pair.options(seed: 99))
        for _ in 0..<10 { try other.apply(pair.workload.next()) }
        let report = try pair.follow(rebuild: true)
        let kept = try #require(report.keptAside)
        #expect(report.wasRebuilt && kept == "/copy.replaced-1")
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
        #expect(try pair.commits(kept) == old)
        #expect(try pair.files.list("/").sorted() == ["copy", "copy.replaced-1", "source"])
        try pair.follow()
    }

    @Test func `an expired copy is made anew by itself and nothing is left over`() throws {
        let pair = try Pair(seed: 8, commits: 40)
        try pair.follow()
        try pair.write(10)
        let source = RefusingSource(try pair.directorySource(), [.expired(floor: 45)])
        let report = try pair.follow(source)
        #expect(report.wasRebuilt && report.keptAside == nil)
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
        #expect(try pair.files.list("/").sorted() == ["copy", "source"])
    }

    @Test(arguments: 0..<30)
    func `a rebuild cut short anywhere is completed by the next run`(place: Int) throws {
        let pair = try Pair(seed: UInt64(place), commits: 40)
        try pair.follow()
        try pair.write(10)
        // What goes wrong may be in the shadow, in the mark, or between the two renames.
        pair.files.setFailures(
            FailurePlan([FailurePlan.Rule([], pathContains: "/copy", skipping: 4 + place * 2, code: 5)]))
        let source = RefusingSource(try pair.directorySource(), [.expired(floor: 45)])
        _ = try? pair.follow(source)
        pair.files.setFailures(FailurePlan())
        let again = RefusingSource(try pair.directorySource(), [.expired(floor: 45)])
        _ = try? pair.follow(again)
        try pair.write(2)
        try pair.follow()
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source), "after \(4 + place * 2) calls")
        #expect(pair.files.contents(pair.copy + "/FOLLOWER") != nil)
    }

    @Test func `a damaged copy is an error, and a rebuild that was asked for mends it`() throws {
        let pair = try Pair(seed: 9, commits: 60)
        try pair.follow()
        let segment = try #require(pair.files.segments(of: pair.copy).first)
        try pair.files.flip(segment, at: 3900)
        let error = try stops(pair)
        guard case .journal(.corrupted(let damage)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(damage.file == segment)
        let report = try pair.follow(rebuild: true)
        #expect(report.wasRebuilt && report.keptAside != nil)
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
    }

    @Test func `a source on a network file system is refused with ssh as the next step`() throws {
        let pair = try Pair(seed: 10)
        pair.close()
        pair.files.setNetworkKind("NFS")
        let error = #expect(throws: ReplicationError.self) { try pair.follow() }
        #expect(error == .journal(.networkFileSystem(path: pair.source, kind: "NFS")))
        #expect(pair.files.contents(pair.copy + "/HEAD") == nil)
    }

    @Test(arguments: [false, true])
    func `a source that is changed for an older copy of itself under a live follower stops it`(
        isRemote: Bool
    ) async throws {
        let pair = try Pair(seed: 11, commits: 20)
        pair.close()
        try pair.files.copyDirectory(pair.source, to: "/backup")
        try pair.write(10)
        let source: any JournalSource =
            isRemote ? PipeSource(pair.source, pair.options()) : try pair.directorySource()
        let follower = pair.follower(source, live: true)
        let caughtUp = Monitor(false)
        let run = Task(executorPreference: Lane.servers) {
            try await follower.run { progress in
                if progress.state == .caughtUp { caughtUp.withLock { $0 = true } }
                caughtUp.wakeAll()
            }
        }
        #expect(await onOwnThread { caughtUp.wait(timeout: .seconds(60)) { $0 ? true : nil } } == true)
        pair.close()
        let seen = try pair.commits(pair.copy)
        try pair.files.removeAll(pair.source)
        try pair.files.copyDirectory("/backup", to: pair.source)
        try pair.write(40)
        let result = await run.result
        guard case .failure(let error) = result, case .stopped(.rolledBack) = error as? ReplicationError
        else {
            Issue.record("\(result)")
            return
        }
        #expect(try pair.commits(pair.copy) == seen)
    }

    @Test func `two runs on one copy at once do no harm`() async throws {
        let pair = try Pair(seed: 12, commits: 150, valueSizeMax: 3000)
        try pair.write(1)
        // Made before, so that only copying is in question.
        _ = try await pair.follower(try pair.directorySource()).run()
        try pair.write(150)
        let source = PipeSource(pair.source, pair.options())
        let (one, other) = (pair.follower(source), pair.follower(source))
        async let first = one.run()
        async let second = other.run()
        let heads = [try await first.head, try await second.head]
        #expect(heads[0] == heads[1])
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
    }

    @Test(arguments: [false, true])
    func `damage in the source is told with its place, and what comes before it is copied`(
        isRemote: Bool
    ) async throws {
        let pair = try Pair(seed: 13, commits: 300)
        pair.close()
        let segments = pair.files.segments(of: pair.source)
        try #require(segments.count > 4)
        try pair.files.flip(segments[2], at: 6000)
        let source: any JournalSource =
            isRemote ? PipeSource(pair.source, pair.options()) : try pair.directorySource()
        let follower = pair.follower(source)
        let error = await #expect(throws: ReplicationError.self) { try await follower.run() }
        switch error {
        case .journal(.corrupted(let damage)): #expect(damage.file == segments[2] && !isRemote)
        case .sourceFailed: #expect(isRemote)
        default: Issue.record("\(String(describing: error))")
        }
        let text = try #require(error).description
        #expect(text.contains(segments[2]) && !text.contains("Damage("))
        let copied = try pair.commits(pair.copy)
        try pair.files.flip(segments[2], at: 6000)
        let all = try pair.commits(pair.source)
        #expect(!copied.isEmpty && copied.count < all.count && all.starts(with: copied))
        _ = try await pair.follower(source).run()
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
    }

    @Test func `files of others beside or in a copy are never removed`() throws {
        let pair = try Pair(seed: 14)
        try pair.follow()
        // Something else has the shadow's name.
        try pair.files.makeDirectory("/copy.rebuild")
        try pair.files.setContents("/copy.rebuild/letter.txt", [1, 2])
        let expired = [FollowRefusal.expired(floor: 45)]
        #expect(throws: ReplicationError.journal(.notEmpty(path: "/copy.rebuild"))) {
            try pair.follow(RefusingSource(try pair.directorySource(), expired))
        }
        #expect(pair.files.contents("/copy.rebuild/letter.txt") == [1, 2])
        try pair.files.removeAll("/copy.rebuild")
        // Somebody keeps a file in the copy.
        try pair.files.setContents("/copy/letter.txt", [3])
        let report = try pair.follow(RefusingSource(try pair.directorySource(), expired))
        #expect(report.wasRebuilt && report.keptAside == "/copy.replaced-1")
        #expect(pair.files.contents("/copy.replaced-1/letter.txt") == [3])
        #expect(try pair.commits(pair.copy) == pair.commits(pair.source))
    }

    @Test(arguments: ["letter.txt", "sub"])
    func `another program's directory is no copy and no source`(name: String) throws {
        let pair = try Pair(seed: 15)
        try pair.files.makeDirectory("/other")
        if name == "sub" {
            try pair.files.makeDirectory("/other/sub")
        } else {
            try pair.files.setContents("/other/" + name, [1])
        }
        let source = try DirectorySource(path: "/other", options: pair.options())
        #expect(throws: ReplicationError.journal(.notAJournal(path: "/other"))) { try pair.follow(source) }
        #expect(pair.files.contents(pair.copy + "/HEAD") == nil)
    }
}
