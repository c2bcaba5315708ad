public import SynclogJournal

/// A journal in a directory of this machine.
public final class DirectorySource: JournalSource {
    /// The path of the directory.
    public let name: String
    /// Whether the connection may break while the source is well; never for a directory.
    public var isRemote: Bool { false }
    private let options: JournalOptions
    private let leases: LeaseKeeper

    /// Makes a source of a directory; refuses folders that a file-sync tool copies.
    ///
    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - options: How its journal is opened.
    ///   - leaseRefused: Called once if the source cannot be written, and so no lease be kept in it.
    public init(
        path: String, options: JournalOptions = JournalOptions(),
        leaseRefused: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) throws(ReplicationError) {
        name = path
        self.options = options
        leases = LeaseKeeper(path: path, options: options, refused: leaseRefused)
        if let tool = try SyncFolder.tool(for: path, fileSystem: options.fileSystem) {
            throw .syncFolder(path: path, tool: tool)
        }
    }

    /// Opens the journal for reading; on a network file system neither locks nor changes can be relied on.
    public func connect() throws(ReplicationError) -> any JournalFeed {
        do throws(JournalError) {
            let journal = try Journal.open(at: name, mode: .readOnly, options: options)
            defer { journal.close() }
            if let kind = try networkKind() { throw .networkFileSystem(path: name, kind: kind) }
            let head = try journal.head()
            let zones = try journal.followerState().flatMap { FollowerState($0)?.zones }
            return DirectoryFeed(
                path: name, options: options, leases: leases,
                greeting: SourceGreeting(journal: journal.id, head: head, zones: zones))
        } catch {
            throw .journal(error)
        }
    }

    private func networkKind() throws(JournalError) -> String? {
        do throws(FileError) { return try options.fileSystem.networkKind(name) } catch { throw .file(error) }
    }
}

/// Blocks straight from a directory's files.
final class DirectoryFeed: JournalFeed {
    private struct State {
        /// Nil while `next` uses it.
        var reader: FollowReader?
        var journal: Journal?
        var live = false
        var caughtUp = false
        /// What `follow` met; `next` reports it.
        var refusal: FollowRefusal?
        var closed = false
    }

    /// About how many bytes are read at once; as many are stored with one sync.
    private static let blocksSizeTarget = 256 << 10
    /// How long one wait lasts; a change or `close` ends it sooner.
    private static let waitSlice: Duration = .seconds(5)

    let greeting: SourceGreeting
    private let path: String
    private let options: JournalOptions
    private let leases: LeaseKeeper
    private let state = Monitor(State())

    init(path: String, options: JournalOptions, leases: LeaseKeeper, greeting: SourceGreeting) {
        self.path = path
        self.options = options
        self.leases = leases
        self.greeting = greeting
    }

    func follow(_ request: FollowRequest) throws(ReplicationError) {
        let old = state.withLock { state in
            defer { (state.reader, state.journal, state.refusal) = (nil, nil, nil) }
            return state.journal
        }
        old?.close()
        do throws(FollowReader.Failure) {
            let reader = try FollowReader(path: path, options: options, request: request, leases: leases)
            let closed = state.withLock { state in
                (state.reader, state.journal) = (reader, reader.journal)
                (state.live, state.caughtUp) = (request.live, false)
                return state.closed
            }
            if closed {
                reader.journal.close()
                throw .journal(.closed)
            }
        } catch {
            switch error {
            case .refused(let refusal): state.withLock { $0.refusal = refusal }
            case .journal(let error): throw .journal(error)
            }
        }
    }

    func next() throws(ReplicationError) -> FeedEvent {
        let (taken, live, wasCaughtUp, refusal, closed) = state.withLock { state in
            defer { (state.reader, state.refusal) = (nil, nil) }
            return (state.reader, state.live, state.caughtUp, state.refusal, state.closed)
        }
        if closed { throw .closed }
        if let refusal { return .refused(refusal) }
        guard var reader = taken else { throw .closed }
        defer { state.withLock { if $0.journal === reader.journal { $0.reader = reader } } }
        do throws(FollowReader.Failure) {
            var waits = wasCaughtUp
            while true {
                if waits {
                    guard live else { throw .journal(.closed) }
                    try reader.wait(timeout: Self.waitSlice)
                }
                switch try reader.next(sizeMax: Self.blocksSizeTarget) {
                case .blocks(let blocks):
                    state.withLock { $0.caughtUp = false }
                    return .blocks(blocks)
                case .caughtUp(let head):
                    if !waits {
                        state.withLock { $0.caughtUp = true }
                        return .caughtUp(head)
                    }
                }
                waits = true
                if state.withLock({ $0.closed }) { throw .journal(.closed) }
            }
        } catch {
            switch error {
            case .refused(let refusal): return .refused(refusal)
            case .journal(let error): throw state.withLock { $0.closed } ? .closed : .journal(error)
            }
        }
    }

    func close() {
        let journal = state.withLock { state in
            state.closed = true
            return state.journal
        }
        journal?.close()
    }
}
