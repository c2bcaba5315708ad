import SynclogJournal
import TestLanes
import TestSupport
import Testing

@testable import SynclogReplication

/// A source that forgets tombstones at once, and copies of it in a chain, without leases.
private final class Forgetful {
    let files = MemoryFileSystem()
    let clock = ManualClock()
    let source: Journal
    private var model = JournalModel()
    private var workload: Workload

    init(seed: UInt64) throws {
        workload = Workload(seed: seed, names: 15, valueSizeMax: 300)
        var options = JournalOptions.test(files, seed: seed, clock: clock)
        options.compacts = false
        options.retention.tombstones = .zero
        source = try Journal.create(at: "/a", options: options)
    }

    func write(_ count: Int) throws {
        for _ in 0..<count { model.commits.append(try source.apply(workload.next())) }
    }

    /// Drops all that nobody needs, tombstones included.
    func compact() throws { _ = try source.compact(everything: true) }

    func follow(_ from: String, _ to: String) throws(ReplicationError) -> Follower.Report {
        var options = Follower.Options()
        options.journal = .test(files, seed: 9, clock: clock)
        let source = try DirectorySource(path: from, options: .test(files, seed: 4, clock: clock))
        return try Follower(at: to, source: Leaseless(source), options: options).run()
    }

    /// The newest state of each key, as a journal has it and as the model says; tombstones count as nothing.
    func differences(_ path: String) throws -> [String] {
        let journal = try Journal.open(at: path, mode: .readOnly, options: .test(files))
        defer { journal.close() }
        func live(_ stored: StoredEntry?) -> StoredEntry? {
            stored.flatMap { $0.entry.operation == .put ? $0 : nil }
        }
        return try model.keys.compactMap { key in
            let found = live(try journal.entry(for: key))
            let expected = live(model.entry(for: key))
            let same =
                found?.position == expected?.position && found?.entry.value == expected?.entry.value
            return same ? nil : String(decoding: key.name, as: UTF8.self)
        }
    }
}

@Suite struct ExpiredFollowerTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `who was away while deletions were forgotten is made anew and resurrects nothing`(seed: UInt64)
        throws
    {
        let pair = try Forgetful(seed: seed)
        try pair.write(60)
        _ = try pair.follow("/a", "/b")
        _ = try pair.follow("/b", "/c")
        try pair.write(60)
        try pair.compact()
        let report = try pair.follow("/a", "/b")
        #expect(report.wasRebuilt && report.keptAside == nil, "seed \(seed)")
        #expect(try pair.differences("/b").isEmpty, "seed \(seed)")
        // The copy of the copy is below the floor that came along.
        let chained = try pair.follow("/b", "/c")
        #expect(chained.wasRebuilt, "seed \(seed)")
        #expect(try pair.differences("/c").isEmpty, "seed \(seed)")
        #expect(try pair.files.list("/").sorted() == ["a", "b", "c"])
    }

    @Test(arguments: [5, 6] as [UInt64])
    func `who is up to date goes on through any number of compactions`(seed: UInt64) throws {
        let pair = try Forgetful(seed: seed)
        for round in 0..<8 {
            try pair.write(20)
            let report = try pair.follow("/a", "/b")
            #expect(!report.wasRebuilt, "seed \(seed), round \(round)")
            try pair.compact()
            #expect(try pair.differences("/b").isEmpty, "seed \(seed), round \(round)")
        }
    }

    @Test func `a new copy of a compacted source has what is live`() throws {
        let pair = try Forgetful(seed: 7)
        try pair.write(100)
        try pair.compact()
        _ = try pair.follow("/a", "/b")
        #expect(try pair.differences("/b").isEmpty)
        try pair.write(10)
        _ = try pair.follow("/a", "/b")
        #expect(try pair.differences("/b").isEmpty)
    }

    @Test func `a live copy stays right while its source is compacted again and again`() async throws {
        let pair = try Forgetful(seed: 8)
        try pair.write(10)
        var options = Follower.Options()
        options.live = true
        options.journal = .test(pair.files, seed: 9, clock: pair.clock)
        let source = try DirectorySource(path: "/a", options: .test(pair.files, seed: 4, clock: pair.clock))
        let follower = Follower(at: "/b", source: Leaseless(source), options: options)
        let seen = Monitor<UInt64>(0)
        let run = Task(executorPreference: Lane.servers) {
            try await follower.run { progress in
                if progress.state == .caughtUp { seen.withLock { $0 = progress.head } }
                seen.wakeAll()
            }
        }
        for _ in 0..<15 {
            try pair.write(8)
            try pair.compact()
        }
        let head = try await pair.source.head().commit
        let arrived = await onOwnThread { seen.wait(timeout: .seconds(60)) { $0 >= head ? true : nil } }
        #expect(arrived == true)
        follower.stop()
        _ = try await run.value
        #expect(try pair.differences("/b").isEmpty)
    }
}
