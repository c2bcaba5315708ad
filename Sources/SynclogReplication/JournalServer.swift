public import SynclogJournal
public import SynclogRecords

/// Serves a journal, and the database in it, to whoever is at the other end of a byte stream.
///
/// It answers until the other side ends the stream. A serving process needs no state of its own: whatever was
/// answered is in the journal.
public final class JournalServer: Sendable {
    /// How many database requests of one connection are worked on at once; more wait in the stream.
    static let requestsMax = 32

    private let path: String
    private let options: JournalOptions
    private let hello: WireHello
    private let database: (any Database)?
    private let leases: LeaseKeeper

    /// Serves the journal of a directory for following, and a database, if there is one, for requests.
    ///
    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - options: How the journal is opened.
    ///   - database: What answers requests.
    ///   - container: The database's container.
    ///   - owner: The database's owner.
    ///   - leaseRefused: Called once if the journal cannot be written, and so no lease be kept for followers.
    public convenience init(
        path: String, options: JournalOptions = JournalOptions(), database: (any Database)? = nil,
        container: String? = nil, owner: String? = nil,
        leaseRefused: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) throws(JournalError) {
        try self.init(
            path: path, options: options, database: database, container: container, owner: owner,
            leases: LeaseKeeper(path: path, options: options, refused: leaseRefused))
    }

    private init(
        path: String, options: JournalOptions, database: (any Database)?, container: String?, owner: String?,
        leases: LeaseKeeper
    ) throws(JournalError) {
        self.leases = leases
        self.path = path
        self.options = options
        self.database = database
        let journal = try Journal.open(at: path, mode: .readOnly, options: options)
        defer { journal.close() }
        var hello = WireHello()
        hello.journal = journal.id
        hello.head = try journal.head()
        hello.zones = try journal.followerState().flatMap { FollowerState($0)?.zones }
        hello.container = container
        hello.owner = owner
        self.hello = hello
    }

    /// Serves a database and its journal.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - options: How its journal is opened for following.
    ///   - leaseRefused: Called once if the journal cannot be written, and so no lease be kept for followers.
    public convenience init(
        database: JournalDatabase, options: JournalOptions = JournalOptions(),
        leaseRefused: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) throws(JournalError) {
        let path = database.journal.path
        try self.init(
            path: path, options: options, database: database, container: database.container,
            owner: database.owner,
            leases: LeaseKeeper(path: path, options: options, writer: database.journal, refused: leaseRefused)
        )
    }

    /// Serves two descriptors, for instance the standard streams, until the other side ends them.
    public func serve(input: Int32, output: Int32) async throws(ReplicationError) {
        try await serve(
            try DescriptorStream(name: "the client", input: input, output: output, ownsDescriptors: false))
    }

    /// Serves a stream until the other side ends it, and closes it.
    ///
    /// - Throws: What the other side did wrong. That it went away is no error.
    public func serve(_ stream: any ByteStream) async throws(ReplicationError) {
        let connection = ServedConnection(
            WireConnection(stream), path: path, options: options, leases: leases,
            acceptsRequests: database != nil)
        let (requests, continuation) = AsyncStream.makeStream(of: ServedConnection.Request.self)
        let hello = hello
        startThread {
            connection.run(hello) { request in continuation.yield(request) }
            continuation.finish()
        }
        let database = database
        await withDiscardingTaskGroup { group in
            for await request in requests {
                group.addTask {
                    let reply = await Self.reply(to: request, from: database)
                    connection.finish(reply)
                }
            }
        }
        connection.close()
        if let failure = connection.failure { throw failure }
    }

    private static func reply(
        to request: ServedConnection.Request, from database: (any Database)?
    ) async -> WireMessage {
        guard let database else {
            let error = SyncError(
                .badContainer, "there is no database in the served journal",
                nextStep: "ask a directory made by 'synclog init'")
            return .failure(id: request.id, error.wireBytes)
        }
        let decoded: DatabaseRequest
        do throws(CBORError) {
            decoded = try DatabaseRequest(wireBytes: request.bytes)
        } catch {
            let error = SyncError(
                .invalidArguments, "the request cannot be understood (byte \(error.offset))",
                nextStep: "bring both sides to the same version of synclog")
            return .failure(id: request.id, error.wireBytes)
        }
        do throws(SyncError) {
            return .answer(id: request.id, try await database.perform(decoded).wireBytes)
        } catch {
            return .failure(id: request.id, error.wireBytes)
        }
    }
}

/// One connection that is served: a thread that receives, one that sends blocks, one that sends hints.
final class ServedConnection: Sendable {
    /// A database request that waits for its answer.
    struct Request: Sendable {
        var id: UInt64
        var bytes: [UInt8]
    }

    private struct State {
        var openRequests = 0
        /// The handles of the running feed and hints; closing one ends its thread.
        var feed: Journal?
        var feedID: UInt64 = 0
        var hints: Journal?
        var failure: ReplicationError?
        var closed = false
    }

    /// How long a wait for changes lasts at most; after it the thread looks whether anybody is there still.
    private static let waitSlice: Duration = .seconds(5)

    private let connection: WireConnection
    private let path: String
    private let options: JournalOptions
    private let leases: LeaseKeeper
    private let acceptsRequests: Bool
    private let state = Monitor(State())

    init(
        _ connection: WireConnection, path: String, options: JournalOptions, leases: LeaseKeeper,
        acceptsRequests: Bool
    ) {
        self.connection = connection
        self.path = path
        self.options = options
        self.leases = leases
        self.acceptsRequests = acceptsRequests
    }

    /// What the other side did wrong, if it did.
    var failure: ReplicationError? { state.withLock { $0.failure } }

    /// Receives until the stream ends; hands requests over, a bounded number at a time.
    func run(_ hello: WireHello, request: (Request) -> Void) {
        do throws(ReplicationError) {
            _ = try connection.greet(hello)
            while let message = try connection.receive(timeout: nil) {
                switch message {
                case .follow(let id, let asked): follow(id, asked)
                case .request(let id, let bytes):
                    _ = state.wait { state -> Bool? in
                        guard state.closed || state.openRequests < JournalServer.requestsMax else {
                            return nil
                        }
                        state.openRequests += 1
                        return true
                    }
                    request(Request(id: id, bytes: bytes))
                case .subscribe(let id): subscribe(id)
                case .bye: return endFeeds()
                case .error(let code, let reason): throw connection.failure(code, reason)
                case .ignorable: break
                case .hello, .blocks, .caughtUp, .refused, .answer, .failure, .changed:
                    throw .protocolViolation(
                        source: connection.name, what: "a message that only a server sends")
                }
            }
        } catch {
            switch error {
            case .unreachable, .closed: break
            default:
                state.withLock { $0.failure = error }
                if case .protocolViolation(_, let what) = error {
                    try? connection.send(.error(code: .protocolViolation, reason: what))
                }
            }
        }
        endFeeds()
    }

    /// Sends the answer to a request; when nobody is there any more it is kept by the journal.
    func finish(_ reply: WireMessage) {
        do throws(ReplicationError) {
            try connection.send(reply)
        } catch {
            if case .protocolViolation = error, case .answer(let id, _) = reply {
                let error = SyncError(
                    .limitExceeded, "the answer is larger than a message can be",
                    nextStep: "ask for less at once")
                try? connection.send(.failure(id: id, error.wireBytes))
            }
        }
        state.withLock { $0.openRequests -= 1 }
        state.wakeAll()
    }

    func close() {
        endFeeds()
        connection.close()
    }

    private func endFeeds() {
        let handles = state.withLock { state in
            defer { (state.feed, state.hints) = (nil, nil) }
            state.closed = true
            return [state.feed, state.hints]
        }
        state.wakeAll()
        for handle in handles { handle?.close() }
    }

    // MARK: - Blocks

    /// Begins a feed; an earlier one of this connection ends.
    private func follow(_ id: UInt64, _ request: FollowRequest) {
        let old = state.withLock { state in
            defer { (state.feed, state.feedID) = (nil, id) }
            return state.feed
        }
        old?.close()
        startThread { self.send(id, request) }
    }

    private func isCurrent(_ id: UInt64) -> Bool { state.withLock { !$0.closed && $0.feedID == id } }

    private func send(_ id: UInt64, _ request: FollowRequest) {
        do throws(FollowReader.Failure) {
            var reader = try FollowReader(path: path, options: options, request: request, leases: leases)
            let isOurs = state.withLock { state in
                guard !state.closed, state.feedID == id else { return false }
                state.feed = reader.journal
                return true
            }
            defer { reader.journal.close() }
            guard isOurs else { return }
            var waits = false
            while isCurrent(id) {
                if waits { try reader.wait(timeout: Self.waitSlice) }
                switch try reader.next(sizeMax: WireVersion.blocksSizeTarget) {
                case .blocks(let blocks):
                    for part in Self.parts(of: blocks) where isCurrent(id) {
                        do throws(ReplicationError) { try connection.send(.blocks(id: id, part)) } catch {
                            return
                        }
                    }
                    waits = false
                case .caughtUp(let head):
                    if !waits {
                        do throws(ReplicationError) { try connection.send(.caughtUp(id: id, head)) } catch {
                            return
                        }
                        guard request.live else { return }
                    }
                    waits = true
                }
            }
        } catch {
            guard isCurrent(id) else { return }
            let refusal: FollowRefusal =
                switch error {
                case .refused(let refusal): refusal
                case .journal(let error): .failed(reason: SyncError(error).description)
                }
            try? connection.send(.refused(id: id, refusal))
        }
    }

    /// Cuts a commit that is too large for one message; small blocks stay together.
    static func parts(of blocks: [JournalBlock]) -> [[JournalBlock]] {
        var parts: [[JournalBlock]] = []
        var size = 0
        for block in blocks {
            if let last = parts.indices.last, size + block.payload.count <= WireVersion.blocksSizeTarget {
                parts[last].append(block)
                size += block.payload.count
            } else {
                parts.append([block])
                size = block.payload.count
            }
        }
        return parts
    }

    // MARK: - Hints

    private func subscribe(_ id: UInt64) {
        let isNew = state.withLock { !$0.closed && $0.hints == nil }
        guard isNew else { return }
        startThread { self.hint(id) }
    }

    private func hint(_ id: UInt64) {
        do throws(JournalError) {
            let journal = try Journal.open(at: path, mode: .readOnly, options: options)
            defer { journal.close() }
            let isOurs = state.withLock { state in
                guard !state.closed, state.hints == nil else { return false }
                state.hints = journal
                return true
            }
            guard isOurs else { return }
            var head = try journal.head()
            // The first hint comes at once, so that nothing falls between it and the client's first look.
            do throws(ReplicationError) { try connection.send(.changed(id: id, head)) } catch { return }
            while !state.withLock({ $0.closed }) {
                guard try journal.waitForChange(after: head.commit, timeout: Self.waitSlice) else { continue }
                head = try journal.head()
                do throws(ReplicationError) { try connection.send(.changed(id: id, head)) } catch { return }
            }
        } catch {
            // Hints may be lost; requests will tell what is wrong.
        }
    }
}
