public import SynclogJournal

/// A journal at the other end of a byte stream, where `synclog serve --stdio` or its like runs.
public final class StreamSource: JournalSource {
    /// What to call it in messages.
    public let name: String
    /// Whether the connection may break while the source is well; always for a stream.
    public var isRemote: Bool { true }
    private let open: @Sendable () throws(ReplicationError) -> any ByteStream
    private let timeout: Duration

    /// Makes a source of streams; `open` is called for each connection.
    ///
    /// `timeout` is how long the other side may be silent while it owes something; the default is a minute.
    public init(
        name: String, timeout: Duration = .seconds(60),
        open: @escaping @Sendable () throws(ReplicationError) -> any ByteStream
    ) {
        self.name = name
        self.timeout = timeout
        self.open = open
    }

    /// Opens a stream and exchanges greetings.
    public func connect() throws(ReplicationError) -> any JournalFeed {
        let connection = WireConnection(try open())
        do throws(ReplicationError) {
            let hello = try connection.greet(WireHello(), timeout: timeout)
            guard let journal = hello.journal, let head = hello.head else {
                throw .protocolViolation(source: name, what: "its greeting names no journal")
            }
            let greeting = SourceGreeting(
                journal: journal, head: head, zones: hello.zones, container: hello.container,
                owner: hello.owner)
            return StreamFeed(connection, greeting: greeting, timeout: timeout)
        } catch {
            connection.close()
            throw error
        }
    }
}

/// Blocks from a connection; a thread of its own receives ahead a little, so that the wire is busy during syncs.
final class StreamFeed: JournalFeed {
    private struct State {
        var events: [FeedEvent] = []
        var queuedSize = 0
        var requestID: UInt64 = 0
        /// Whether the other side owes an event.
        var owed = false
        /// Whether the head, and so certainly another event, is still to come.
        var isBehind = false
        var failure: ReplicationError?
        var closed = false
        /// The bytes that were handed over and are stored by now.
        var stored = 0
        /// The bytes of the event that was handed over last.
        var taken = 0

        /// What may wait here, in bytes, before the last event; a follower that is killed has it sent again, so it is a small
        /// part of what it has stored.
        var queuedSizeMax: Int { min(max(192 << 10, stored / 16), 4 << 20) }

        /// Whether the events go on now: on the way to the head those of a sync fill half of the room, so that there are few.
        var isReady: Bool { !isBehind || failure != nil || queuedSize >= queuedSizeMax / 2 }

        /// The next event; blocks that came while the last ones were stored go together, for one sync.
        mutating func takeEvent() -> FeedEvent? {
            guard !events.isEmpty else { return nil }
            let event = events.removeFirst()
            stored += taken
            taken = event.size
            guard case .blocks(var blocks) = event else {
                queuedSize -= taken
                owed = false
                return event
            }
            owed = true
            var count = 0
            while count < events.count, case .blocks(let more) = events[count] {
                taken += events[count].size
                blocks += more
                count += 1
            }
            events.removeFirst(count)
            queuedSize -= taken
            return .blocks(blocks)
        }
    }

    let greeting: SourceGreeting
    private let connection: WireConnection
    private let timeout: Duration
    private let state = Monitor(State())

    init(_ connection: WireConnection, greeting: SourceGreeting, timeout: Duration) {
        self.connection = connection
        self.greeting = greeting
        self.timeout = timeout
        startThread { self.receive() }
    }

    func follow(_ request: FollowRequest) throws(ReplicationError) {
        let id = state.withLock { state in
            state.requestID += 1
            (state.owed, state.isBehind) = (true, true)
            (state.events, state.queuedSize) = ([], 0)
            return state.requestID
        }
        state.wakeAll()
        try connection.send(.follow(id: id, request))
    }

    func next() throws(ReplicationError) -> FeedEvent {
        let patience = state.withLock { $0.owed } ? timeout : nil
        let result = state.wait(timeout: patience) { state -> Result<FeedEvent, ReplicationError>? in
            if state.closed { return .failure(.closed) }
            if state.isReady, let event = state.takeEvent() { return .success(event) }
            return state.failure.map { .failure($0) }
        }
        state.wakeAll()
        if let result { return try result.get() }
        // What came before the other side fell silent is stored all the same.
        guard let event = state.withLock({ $0.takeEvent() }) else {
            throw .timeout(source: connection.name, waitedFor: "blocks")
        }
        return event
    }

    func close() {
        let first = state.withLock { state in
            defer { state.closed = true }
            return !state.closed
        }
        state.wakeAll()
        if first { connection.close() }
    }

    private func receive() {
        do throws(ReplicationError) {
            while let message = try connection.receive(timeout: nil) {
                switch message {
                case .blocks(let id, let blocks): queue(.blocks(blocks), for: id)
                case .caughtUp(let id, let head): queue(.caughtUp(head), for: id)
                case .refused(let id, let refusal): queue(.refused(refusal), for: id)
                case .error(let code, let reason): throw connection.failure(code, reason)
                case .bye: throw .unreachable(source: connection.name, reason: "it ended the connection")
                case .ignorable, .changed: break
                case .hello, .follow, .request, .answer, .failure, .subscribe:
                    throw .protocolViolation(source: connection.name, what: "a message that nobody asked for")
                }
            }
            throw .unreachable(source: connection.name, reason: "the connection ended")
        } catch {
            state.withLock { $0.failure = error }
            state.wakeAll()
        }
    }

    /// Hands an event over, once there is room; what belongs to an earlier request is dropped.
    private func queue(_ event: FeedEvent, for id: UInt64) {
        _ = state.wait { state -> Bool? in
            if state.closed || id != state.requestID { return true }
            guard state.queuedSize < state.queuedSizeMax else { return nil }
            state.events.append(event)
            state.queuedSize += event.size
            if case .blocks = event {} else { state.isBehind = false }
            return true
        }
        state.wakeAll()
    }
}

extension FeedEvent {
    /// The bytes it keeps.
    fileprivate var size: Int {
        guard case .blocks(let blocks) = self else { return 0 }
        return blocks.reduce(0) { $0 + $1.payload.count }
    }
}

extension SourceAddress {
    /// The source that the address names.
    ///
    /// - Parameters:
    ///   - options: How the journal of a directory is opened.
    ///   - sshProgram: What is run for `ssh://`.
    ///   - leaseRefused: Called once if a directory cannot be written, and so no lease be kept in it.
    public func source(
        options: JournalOptions = JournalOptions(), sshProgram: String = "ssh",
        leaseRefused: @escaping @Sendable (JournalError) -> Void = { _ in }
    ) throws(ReplicationError) -> any JournalSource {
        switch self {
        case .directory(let path):
            return try DirectorySource(path: path, options: options, leaseRefused: leaseRefused)
        case .command, .ssh:
            return StreamSource(name: streamName) { () throws(ReplicationError) in
                try self.stream(sshProgram: sshProgram)
            }
        }
    }

    /// Starts the command that the address names and gives its standard streams.
    public func stream(sshProgram: String = "ssh") throws(ReplicationError) -> any ByteStream {
        switch self {
        case .directory(let path):
            throw .badSource(text: path, reason: "a directory has no stream")
        case .command(let command):
            return try CommandStream(
                name: streamName, command: CommandLine(program: "/bin/sh", arguments: ["-c", command]))
        case .ssh(let address):
            return try CommandStream(name: streamName, command: address.command(program: sshProgram))
        }
    }

    private var streamName: String {
        switch self {
        case .directory(let path): path
        case .command: "the exec: command"
        case .ssh(let address): address.description
        }
    }
}
