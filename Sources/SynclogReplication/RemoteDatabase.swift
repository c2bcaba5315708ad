internal import SynclogJournal
public import SynclogRecords

/// A database at the other end of a byte stream.
///
/// A request that changes something carries an operation id. When the stream breaks before the answer came, the
/// request is repeated once on a new stream with the same id, and the database stores it once.
public final class RemoteDatabase: Database {
    private struct Link {
        var connection: WireConnection
        var number: Int
    }

    private struct State {
        var link: Link?
        var isConnecting = false
        var linkCount = 0
        /// Why the last broken link broke.
        var broken: (number: Int, error: ReplicationError)?
        var requestCount: UInt64 = 0
        var waiting: Set<UInt64> = []
        var replies: [UInt64: WireMessage] = [:]
        /// The first database that was met; another one is not asked.
        var greeting: SourceGreeting?
        var isSubscribed = false
        var hints: [UInt64: AsyncStream<ChangeHint>.Continuation] = [:]
        var closed = false
    }

    /// What to call it in messages.
    public let name: String
    private let open: @Sendable () throws(ReplicationError) -> any ByteStream
    private let timeout: Duration
    private let state = Monitor(State())

    /// Makes a database of streams; `open` is called for each connection, the first time with the first request.
    ///
    /// `timeout` is how long an answer may take; the default is a minute.
    public init(
        name: String, timeout: Duration = .seconds(60),
        open: @escaping @Sendable () throws(ReplicationError) -> any ByteStream
    ) {
        self.name = name
        self.timeout = timeout
        self.open = open
    }

    /// Makes a database of an `ssh://` or `exec:` address.
    public convenience init(_ address: SourceAddress, sshProgram: String = "ssh") {
        self.init(name: address.description) { () throws(ReplicationError) in
            try address.stream(sshProgram: sshProgram)
        }
    }

    /// Connects, if there is no connection, and tells who is there; blocks the thread.
    @available(*, noasync)
    public func connect() throws(ReplicationError) -> SourceGreeting {
        _ = try currentLink()
        guard let greeting = state.withLock({ $0.greeting }) else { throw .closed }
        return greeting
    }

    /// Sends a request and waits for the answer, without blocking the caller's executor.
    public func perform(_ request: DatabaseRequest) async throws(SyncError) -> DatabaseAnswer {
        let result = await onOwnThread { () -> Result<DatabaseAnswer, SyncError> in
            Result { () throws(SyncError) in try self.perform(request) }
        }
        return try result.get()
    }

    /// Sends a request and waits for the answer on the calling thread.
    @available(*, noasync)
    public func perform(_ request: DatabaseRequest) throws(SyncError) -> DatabaseAnswer {
        var request = request
        if request.isChange, request.context.device == nil, request.context.operation == nil {
            request.context.operation = .random()
        }
        let bytes = request.wireBytes
        guard bytes.count < WireVersion.messageSizeMax - 64 else {
            throw SyncError(
                .limitExceeded, "the request has \(bytes.count) bytes, more than a message can carry",
                nextStep: "send it in parts")
        }
        var wasSent = false
        var failure = ReplicationError.closed
        // A link may have died while nobody used it, so one failure says little about the other side.
        for _ in 0..<2 {
            let link: Link
            do throws(ReplicationError) {
                link = try currentLink()
            } catch {
                failure = error
                break
            }
            do throws(ReplicationError) {
                let reply = try exchange(bytes, over: link) { wasSent = true }
                return try answer(in: reply)
            } catch {
                drop(link)
                failure = error
                if case .sync(let error) = error { throw error }
                guard error.isRetryable else { break }
            }
        }
        throw lost(failure, isUncertain: wasSent && request.isChange)
    }

    /// Hints that the database has changed, the first one at once; they may be lost, doubled or late.
    ///
    /// The stream of hints ends with the connection.
    public func changeHints() -> AsyncStream<ChangeHint> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ChangeHint.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.requestCount += 1
            state.hints[state.requestCount] = continuation
            return state.requestCount
        }
        continuation.onTermination = { [state] _ in
            state.withLock { state in _ = state.hints.removeValue(forKey: number) }
        }
        startThread {
            do throws(ReplicationError) {
                let link = try self.currentLink()
                let isFirst = self.state.withLock { state in
                    defer { state.isSubscribed = true }
                    return !state.isSubscribed
                }
                if isFirst {
                    try link.connection.send(.subscribe(id: number))
                } else if let database = self.state.withLock({ $0.greeting?.journal }) {
                    continuation.yield(ChangeHint(database: database))
                }
            } catch {
                continuation.finish()
            }
        }
        return stream
    }

    /// Ends the connection; running requests fail, and it may be called twice.
    public func close() {
        let link = state.withLock { state in
            state.closed = true
            return state.link
        }
        state.wakeAll()
        if let link {
            try? link.connection.send(.bye)
            drop(link)
        }
    }

    // MARK: - The link

    /// The link, made if there is none; while one thread makes it others wait.
    private func currentLink() throws(ReplicationError) -> Link {
        let found = state.wait { state -> Result<Link?, ReplicationError>? in
            if state.closed { return .failure(.closed) }
            if let link = state.link { return .success(link) }
            if state.isConnecting { return nil }
            state.isConnecting = true
            return .success(nil)
        }
        if let link = try (found ?? .failure(.closed)).get() { return link }
        defer {
            state.withLock { $0.isConnecting = false }
            state.wakeAll()
        }
        let connection = WireConnection(try open())
        do throws(ReplicationError) {
            let hello = try connection.greet(WireHello(), timeout: timeout)
            guard let journal = hello.journal, let head = hello.head else {
                throw .protocolViolation(source: name, what: "its greeting names no journal")
            }
            let greeting = SourceGreeting(
                journal: journal, head: head, zones: hello.zones, container: hello.container,
                owner: hello.owner)
            let result = state.withLock { state -> Result<Link, ReplicationError> in
                if state.closed { return .failure(.closed) }
                if let first = state.greeting, first.journal != journal {
                    return .failure(.stopped(.foreign(expected: first.journal, found: journal)))
                }
                state.greeting = greeting
                state.linkCount += 1
                let link = Link(connection: connection, number: state.linkCount)
                state.link = link
                return .success(link)
            }
            let link = try result.get()
            startThread { self.receive(from: link) }
            return link
        } catch {
            connection.close()
            throw error
        }
    }

    private func drop(_ link: Link) {
        let (isCurrent, hints) = state.withLock { state -> (Bool, [AsyncStream<ChangeHint>.Continuation]) in
            guard state.link?.number == link.number else { return (false, []) }
            let hints = state.hints.keys.sorted().compactMap { state.hints[$0] }
            (state.link, state.isSubscribed, state.hints) = (nil, false, [:])
            return (true, hints)
        }
        state.wakeAll()
        for hint in hints { hint.finish() }
        if isCurrent { link.connection.close() }
    }

    private func receive(from link: Link) {
        do throws(ReplicationError) {
            while let message = try link.connection.receive(timeout: nil) { try take(message, from: link) }
            throw .unreachable(source: name, reason: "the connection ended before the answer")
        } catch {
            state.withLock { $0.broken = (link.number, error) }
        }
        drop(link)
    }

    private func take(_ message: WireMessage, from link: Link) throws(ReplicationError) {
        switch message {
        case .answer(let id, _), .failure(let id, _):
            state.withLock { state in
                if state.waiting.contains(id) { state.replies[id] = message }
            }
            state.wakeAll()
        case .changed:
            let (database, hints) = state.withLock { state in
                (state.greeting?.journal, state.hints.keys.sorted().compactMap { state.hints[$0] })
            }
            if let database { for hint in hints { hint.yield(ChangeHint(database: database)) } }
        case .error(let code, let reason): throw link.connection.failure(code, reason)
        case .bye: throw .unreachable(source: name, reason: "it ended the connection")
        case .ignorable: break
        case .hello, .follow, .blocks, .caughtUp, .refused, .request, .subscribe:
            throw .protocolViolation(source: name, what: "a message that nobody asked for")
        }
    }

    private func exchange(
        _ bytes: [UInt8], over link: Link, sent: () -> Void
    ) throws(ReplicationError) -> WireMessage {
        let id = state.withLock { state in
            state.requestCount += 1
            state.waiting.insert(state.requestCount)
            return state.requestCount
        }
        defer {
            state.withLock { state in
                state.waiting.remove(id)
                state.replies[id] = nil
            }
        }
        // Even a write that fails may have carried the whole request.
        sent()
        try link.connection.send(.request(id: id, bytes))
        let result = state.wait(timeout: timeout) { state -> Result<WireMessage, ReplicationError>? in
            if let reply = state.replies[id] { return .success(reply) }
            if state.closed { return .failure(.closed) }
            guard state.link?.number == link.number else {
                if let broken = state.broken, broken.number == link.number { return .failure(broken.error) }
                return .failure(.unreachable(source: name, reason: "the connection ended before the answer"))
            }
            return nil
        }
        guard let result else { throw .timeout(source: name, waitedFor: "an answer") }
        return try result.get()
    }

    private func answer(in reply: WireMessage) throws(ReplicationError) -> DatabaseAnswer {
        let refusal: SyncError
        do throws(CBORError) {
            switch reply {
            case .answer(_, let bytes): return try DatabaseAnswer(wireBytes: bytes)
            case .failure(_, let bytes): refusal = try SyncError(wireBytes: bytes)
            default: throw CBORError(offset: 0)
            }
        } catch {
            throw .protocolViolation(source: name, what: "an answer that is broken at byte \(error.offset)")
        }
        throw .sync(refusal)
    }

    /// The broken connection in the words of a database.
    private func lost(_ error: ReplicationError, isUncertain: Bool) -> SyncError {
        switch error {
        case .stopped(.foreign):
            return SyncError(
                .foreign, "another database answers at \(name) than before",
                nextStep: "check the address, then connect anew")
        case .unreachable, .timeout, .protocolViolation, .unsupportedVersion, .sourceFailed:
            if isUncertain {
                return SyncError(
                    .serverResponseLost, "\(error); whether the change was stored is not known",
                    nextStep: "ask again with the same operation id, or look at the record")
            }
            return SyncError(.networkFailure, error.description, nextStep: "nothing was changed")
        case .closed:
            return SyncError(
                .operationCancelled, "the connection to \(name) was closed from this side",
                nextStep: "connect anew")
        default:
            return SyncError(.networkFailure, error.description, nextStep: "nothing was changed")
        }
    }
}

extension DatabaseRequest {
    /// Whether it may change the database.
    var isChange: Bool {
        switch body {
        case .modifyRecords, .modifyRecordZones: true
        case .identify, .records, .recordZoneChanges, .databaseChanges, .allRecordZones: false
        }
    }
}
