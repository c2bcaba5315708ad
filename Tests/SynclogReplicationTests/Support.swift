import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport

@testable import SynclogReplication

/// A source journal, its follower, and the model that both must agree with; all in memory.
final class Pair {
    let files = MemoryFileSystem()
    let source = "/source"
    let copy = "/copy"
    var workload: Workload
    private var journal: Journal?

    init(seed: UInt64, commits: Int = 30, valueSizeMax: Int = 600) throws {
        workload = Workload(seed: seed, valueSizeMax: valueSizeMax)
        journal = try Journal.create(at: source, options: .test(files, seed: seed))
        try write(commits)
    }

    func options(seed: UInt64 = 5) -> JournalOptions { .test(files, seed: seed) }

    /// Commits to the source.
    func write(_ commits: Int) throws {
        for _ in 0..<commits { try open().apply(workload.next()) }
    }

    /// Commits to the source once and tells the commit's number.
    func writeOne() throws -> UInt64 { try open().apply(workload.next()).info.number }

    /// The source's own handle.
    func open() throws -> Journal {
        if let journal { return journal }
        let opened = try Journal.open(at: source, options: options(seed: UInt64.random(in: 0 ... .max)))
        journal = opened
        return opened
    }

    func close() {
        journal?.close()
        journal = nil
    }

    func directorySource() throws -> DirectorySource { try DirectorySource(path: source, options: options()) }

    /// Runs a follower on the calling thread.
    @discardableResult
    func follow(
        _ source: (any JournalSource)? = nil, zones: [String]? = nil, rebuild: Bool = false,
        progress: (Follower.Progress) -> Void = { _ in }
    ) throws(ReplicationError) -> Follower.Report {
        let from: any JournalSource
        if let source {
            from = source
        } else {
            from = try DirectorySource(path: self.source, options: options())
        }
        return try follower(from, zones: zones, rebuild: rebuild).run(progress: progress)
    }

    func follower(
        _ source: any JournalSource, zones: [String]? = nil, rebuild: Bool = false, live: Bool = false
    )
        -> Follower
    {
        var options = Follower.Options()
        options.zones = zones
        options.rebuild = rebuild
        options.live = live
        options.journal = self.options(seed: 9)
        return Follower(at: copy, source: source, options: options)
    }

    /// Everything in a journal, the journal's own entries included.
    func commits(_ path: String) throws -> [Commit] { try allCommits(path, options()) }
}

func allCommits(_ path: String, _ options: JournalOptions, after commit: UInt64 = 0) throws -> [Commit] {
    let journal = try Journal.open(at: path, mode: .readOnly, options: options)
    defer { journal.close() }
    var reader = try journal.read(after: .end(of: commit))
    var commits: [Commit] = []
    while let commit = try reader.next() { commits.append(commit) }
    return commits
}

/// A stream that ends after a number of bytes were read from it, as if the other side had been killed.
final class CutStream: ByteStream {
    let name: String
    private let inner: any ByteStream
    private let left: Monitor<Int>
    let counted = Monitor(0)

    init(_ inner: any ByteStream, after bytes: Int) {
        self.inner = inner
        name = inner.name
        left = Monitor(bytes)
    }

    func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8] {
        let allowed = left.withLock { $0 }
        guard allowed > 0 else {
            inner.close()
            return []
        }
        let bytes = try inner.read(max: min(max, allowed), timeout: timeout)
        left.withLock { $0 -= bytes.count }
        counted.withLock { $0 += bytes.count }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(ReplicationError) { try inner.write(bytes) }
    func close() { inner.close() }
}

/// A source served by a server in this process over real pipes; each connection may be cut and is counted.
final class PipeSource: JournalSource {
    let name = "the pipe"
    let isRemote = true
    private let path: String
    private let options: JournalOptions
    private let cuts: Monitor<[Int]>
    let bytesSent = Monitor(0)
    let connections = Monitor(0)

    /// The n-th connection ends after `cuts[n]` bytes; later ones are not cut.
    init(_ path: String, _ options: JournalOptions, cuts: [Int] = []) {
        self.path = path
        self.options = options
        self.cuts = Monitor(cuts)
    }

    func connect() throws(ReplicationError) -> any JournalFeed {
        let (path, options, bytesSent) = (path, options, bytesSent)
        let cut = cuts.withLock { $0.isEmpty ? Int.max : $0.removeFirst() }
        connections.withLock { $0 += 1 }
        return try StreamSource(name: name) { () throws(ReplicationError) in
            let (ours, theirs) = try streamPair()
            let server: JournalServer
            do throws(JournalError) {
                server = try JournalServer(path: path, options: options)
            } catch {
                throw .journal(error)
            }
            Task.detached(executorPreference: Lane.servers) { try? await server.serve(theirs) }
            let stream = CutStream(ours, after: cut)
            return CountingStream(stream, into: bytesSent)
        }.connect()
    }
}

/// Adds up what is read.
final class CountingStream: ByteStream {
    let name: String
    private let inner: any ByteStream
    private let count: Monitor<Int>

    init(_ inner: any ByteStream, into count: Monitor<Int>) {
        self.inner = inner
        self.count = count
        name = inner.name
    }

    func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8] {
        let bytes = try inner.read(max: max, timeout: timeout)
        count.withLock { $0 += bytes.count }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(ReplicationError) { try inner.write(bytes) }
    func close() { inner.close() }
}

/// Answers the first follow requests with refusals, then leaves it to another source.
final class RefusingSource: JournalSource {
    let name = "the refusing source"
    let isRemote = false
    private let inner: any JournalSource
    private let refusals: Monitor<[FollowRefusal]>

    init(_ inner: any JournalSource, _ refusals: [FollowRefusal]) {
        self.inner = inner
        self.refusals = Monitor(refusals)
    }

    func connect() throws(ReplicationError) -> any JournalFeed { Feed(try inner.connect(), refusals) }

    private final class Feed: JournalFeed {
        let greeting: SourceGreeting
        private let inner: any JournalFeed
        private let refusals: Monitor<[FollowRefusal]>
        private let refused = Monitor<FollowRefusal?>(nil)

        init(_ inner: any JournalFeed, _ refusals: Monitor<[FollowRefusal]>) {
            self.inner = inner
            self.refusals = refusals
            greeting = inner.greeting
        }

        func follow(_ request: FollowRequest) throws(ReplicationError) {
            let refusal = refusals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            refused.withLock { $0 = refusal }
            if refusal == nil { try inner.follow(request) }
        }

        func next() throws(ReplicationError) -> FeedEvent {
            if let refusal = refused.withLock({ $0 }) { return .refused(refusal) }
            return try inner.next()
        }

        func close() { inner.close() }
    }
}

/// Follows without the name of a lease, as a follower of a source that cannot be written does.
final class Leaseless: JournalSource {
    let name = "the leaseless source"
    let isRemote = false
    private let inner: any JournalSource

    init(_ inner: any JournalSource) { self.inner = inner }

    func connect() throws(ReplicationError) -> any JournalFeed { Feed(try inner.connect()) }

    private final class Feed: JournalFeed {
        let greeting: SourceGreeting
        private let inner: any JournalFeed

        init(_ inner: any JournalFeed) {
            self.inner = inner
            greeting = inner.greeting
        }

        func follow(_ request: FollowRequest) throws(ReplicationError) {
            var request = request
            request.holder = nil
            try inner.follow(request)
        }

        func next() throws(ReplicationError) -> FeedEvent { try inner.next() }
        func close() { inner.close() }
    }
}
