import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

/// A source with the usual retention, its followers, and a clock that can be moved by months.
private final class Leased {
    static let day: Int64 = 86_400_000_000
    let files = MemoryFileSystem()
    let clock = ManualClock()
    let source: Journal
    private var model = JournalModel()
    private var workload: Workload

    init(seed: UInt64) throws {
        workload = Workload(seed: seed, names: 15, valueSizeMax: 300)
        source = try Journal.create(at: "/a", options: .test(files, seed: seed, clock: clock))
    }

    func write(_ count: Int) throws {
        for _ in 0..<count { model.commits.append(try source.apply(workload.next())) }
    }

    func pass(days: Int64) { clock.set(clock.read() + days * Self.day) }

    func directory(_ path: String = "/a") throws(ReplicationError) -> DirectorySource {
        try DirectorySource(path: path, options: .test(files, seed: 4, clock: clock))
    }

    func follow(_ source: (any JournalSource)? = nil, to path: String = "/b") throws -> Follower.Report {
        try follower(source ?? directory(), to: path).run()
    }

    func follower(_ source: any JournalSource, to path: String = "/b") -> Follower {
        var options = Follower.Options()
        options.journal = .test(files, seed: UInt64(path.utf8.last ?? 0), clock: clock)
        return Follower(at: path, source: source, options: options)
    }

    func leases() throws -> [(holder: [UInt8], lease: Lease)] {
        _ = try source.head()
        return try source.leases()
    }

    func lease() throws -> Lease {
        let leases = try leases()
        try #require(leases.count == 1)
        return leases[0].lease
    }

    /// The keys that are live in one of journal and model but not the same in the other.
    func differences(_ path: String = "/b") throws -> [String] {
        let journal = try Journal.open(at: path, mode: .readOnly, options: .test(files))
        defer { journal.close() }
        func live(_ stored: StoredEntry?) -> StoredEntry? {
            stored.flatMap { $0.entry.operation == .put ? $0 : nil }
        }
        return try model.keys.compactMap { key in
            let (found, expected) = (live(try journal.entry(for: key)), live(model.entry(for: key)))
            let same = found?.position == expected?.position && found?.entry.value == expected?.entry.value
            return same ? nil : String(decoding: key.name, as: UTF8.self)
        }
    }

    /// How many keys a follower has that were deleted since; it must be told of each.
    func deletedSince(_ path: String = "/b") throws -> Int {
        let journal = try Journal.open(at: path, mode: .readOnly, options: .test(files))
        defer { journal.close() }
        return try model.keys.count { key in
            let isLive = try journal.entry(for: key)?.entry.operation == .put
            return isLive && model.entry(for: key)?.entry.operation == .delete
        }
    }
}

@Suite struct LeaseTests {
    @Test(arguments: [1, 2, 3] as [UInt64], [true, false])
    func `who holds a lease is told of every deletion after months away`(seed: UInt64, overStream: Bool)
        async throws
    {
        let pair = try Leased(seed: seed)
        try pair.write(60)
        let source: any JournalSource =
            overStream
            ? PipeSource("/a", .test(pair.files, seed: 4, clock: pair.clock)) : try pair.directory()
        _ = try await pair.follower(source).run()
        var kept = 0
        for _ in 0..<5 {
            try pair.write(20)
            pair.pass(days: 34)
            try pair.write(2)
            let report = try pair.source.compact(everything: true)
            kept += report.kept.lease
            let floors = try pair.source.floors()
            #expect(try floors.values.allSatisfy { try $0 <= pair.lease().commit }, "seed \(seed)")
        }
        #expect(try kept > 0 && pair.deletedSince() > 0, "seed \(seed): nothing was held back")
        let report = try pair.follow()
        #expect(!report.wasRebuilt, "seed \(seed)")
        #expect(try pair.differences().isEmpty, "seed \(seed)")
        // The lease moves at the next start, and what it held back goes.
        _ = try pair.follow()
        #expect(try pair.source.compact(everything: true).tombstones > 0, "seed \(seed)")
        #expect(try !pair.follow().wasRebuilt && pair.differences().isEmpty, "seed \(seed)")
    }

    @Test func `without a lease the same absence is one too long`() throws {
        let pair = try Leased(seed: 1)
        try pair.write(60)
        _ = try pair.follow(Leaseless(pair.directory()))
        try pair.write(20)
        pair.pass(days: 34)
        try pair.write(2)
        #expect(try pair.source.compact(everything: true).tombstones > 0)
        let report = try pair.follow(Leaseless(pair.directory()))
        #expect(report.wasRebuilt)
        #expect(try pair.differences().isEmpty)
    }

    @Test func `a lease that ran out is marked before the floor moves, and its holder is made anew`() throws {
        let pair = try Leased(seed: 5)
        try pair.write(60)
        _ = try pair.follow()
        let first = try pair.leases()
        try pair.write(20)
        pair.pass(days: 181)
        try pair.write(2)
        #expect(try pair.lease().expired == false)
        #expect(try pair.source.compact(everything: true).tombstones > 0)
        #expect(try pair.lease().expired)
        let commits = try allCommits("/a", .test(pair.files), after: first[0].lease.commit)
        let marked = try #require(
            commits.firstIndex { commit in
                commit.entries.contains { $0.key.space == .lease && Lease(value: $0.value)?.expired == true }
            })
        let raised = try #require(commits.firstIndex { $0.entries.contains { $0.key.space == .floor } })
        #expect(marked <= raised)
        let report = try pair.follow()
        #expect(report.wasRebuilt)
        #expect(try pair.differences().isEmpty)
        // The new copy goes on under the same name.
        let second = try pair.leases()
        #expect(second.map(\.holder) == first.map(\.holder) && second.allSatisfy { !$0.lease.expired })
    }

    @Test func `a pair that has nothing to tell writes nothing`() throws {
        let pair = try Leased(seed: 6)
        try pair.write(10)
        for _ in 0..<3 { _ = try pair.follow() }
        let before = pair.files.image(of: "/a")
        pair.pass(days: 100)
        for _ in 0..<3 { _ = try pair.follow() }
        #expect(pair.files.image(of: "/a") == before)
        // Another follower's lease is no news either.
        _ = try pair.follow(to: "/c")
        let head = try pair.source.head()
        for path in ["/b", "/c", "/b", "/c"] { _ = try pair.follow(to: path) }
        #expect(try pair.source.head() == head)
        #expect(try pair.leases().count == 2)
    }

    @Test func `while a follower stays its lease moves once an hour, behind what it was given before`() throws
    {
        let pair = try Leased(seed: 7)
        try pair.write(5)
        let keeper = LeaseKeeper(path: "/a", options: .test(pair.files, seed: 3, clock: pair.clock)) { _ in }
        let request = FollowRequest(
            cursor: nil, zones: nil, live: true, sessions: [], holder: [UInt8](0..<16))
        var reader = try FollowReader(
            path: "/a", options: .test(pair.files, seed: 2, clock: pair.clock), request: request,
            leases: keeper)
        defer { reader.journal.close() }
        let start = try pair.lease().commit
        func drain() throws {
            while case .blocks = try reader.next(sizeMax: 1 << 20) {}
        }
        try drain()
        for _ in 0..<3 {
            try pair.write(1)
            try drain()
            #expect(try pair.lease().commit == start)
        }
        let seen = try pair.source.head().commit
        pair.clock.set(pair.clock.read() + FollowReader.leaseInterval)
        try drain()
        #expect(try pair.lease().commit == start, "nothing came")
        try pair.write(1)
        try drain()
        #expect(try pair.lease().commit == seen)
        let head = try pair.source.head()
        pair.clock.set(pair.clock.read() + 5 * FollowReader.leaseInterval)
        try drain()
        #expect(try pair.source.head() == head, "its own lease is no data")
    }

    @Test func `a source that cannot be written is followed without a lease, and that is said once`() throws {
        let pair = try Leased(seed: 8)
        try pair.write(10)
        let copies = MemoryFileSystem()
        pair.files.setReadOnly(true)
        let told = Monitor(0)
        let source = try DirectorySource(path: "/a", options: .test(pair.files, seed: 4, clock: pair.clock)) {
            error in
            told.withLock { $0 += 1 }
            if case .readOnly = error {} else { Issue.record("\(error)") }
        }
        var options = Follower.Options()
        options.journal = .test(copies, seed: 9, clock: pair.clock)
        for _ in 0..<3 {
            let report = try Follower(at: "/b", source: source, options: options).run()
            #expect(report.head == report.sourceHead)
        }
        #expect(told.withLock { $0 } == 1)
    }

    @Test func `a source that somebody holds is followed without a lease`() throws {
        let pair = try Leased(seed: 9)
        try pair.write(10)
        pair.source.close()
        let holder = try Journal.open(
            at: "/a", mode: .exclusive, options: .test(pair.files, seed: 11, clock: pair.clock))
        let report = try pair.follow()
        #expect(report.head == report.sourceHead)
        #expect(try holder.leases().isEmpty)
        holder.close()
    }

    @Test func `a copy keeps no lease for a copy of its own, and hands on its source's`() throws {
        let pair = try Leased(seed: 10)
        try pair.write(10)
        _ = try pair.follow()
        let before = pair.files.image(of: "/b")
        let report = try pair.follow(try pair.directory("/b"), to: "/c")
        #expect(report.head == report.sourceHead)
        #expect(pair.files.image(of: "/b") == before)
        let copy = try Journal.open(at: "/c", mode: .readOnly, options: .test(pair.files))
        #expect(try copy.leases().map(\.lease) == [try pair.lease()])
        copy.close()
    }

    @Test func `a lease for what is forgotten already is not written`() throws {
        let pair = try Leased(seed: 11)
        try pair.write(60)
        pair.pass(days: 31)
        try pair.write(1)
        #expect(try pair.source.compact(everything: true).tombstones > 0)
        let head = try pair.source.head()
        try pair.source.renewLease(of: [1], kind: .replica, at: 5)
        #expect(try pair.source.head() == head && pair.leases().isEmpty)
        try pair.source.renewLease(of: [1], kind: .replica, at: head.commit)
        #expect(try pair.lease().commit == head.commit)
    }
}
