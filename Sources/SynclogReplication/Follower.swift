public import SynclogJournal

/// A read-only copy of another journal that follows it by cursor.
///
/// It keeps the source's identity and commit numbers, so its own head is its cursor: a crash anywhere neither skips
/// nor repeats anything, and another run goes on where the last one ended.
public final class Follower: Sendable {
    /// What to copy and for how long.
    public struct Options: Sendable {
        /// The zones to copy; nil means all.
        public var zones: [String]?
        /// Whether to go on after the source's head was reached, until ``Follower/stop()``.
        public var live = false
        /// Whether to make the copy anew from whatever the source is now; the old one is kept beside it.
        public var rebuild = false
        /// How the copy's journal is opened.
        public var journal = JournalOptions()

        /// Makes the default options: all zones, once.
        public init() {}
    }

    /// How far a run is.
    public struct Progress: Hashable, Sendable {
        /// What the run does.
        public enum State: Hashable, Sendable {
            /// Reaching the source.
            case connecting
            /// Copying blocks.
            case copying
            /// Everything up to the source's head is here.
            case caughtUp
            /// The connection broke; the next attempt is after the delay.
            case waiting(ReplicationError, Duration)
        }

        /// What the run does.
        public var state: State
        /// The last commit that is durable here.
        public var head: UInt64
        /// The source's head as last heard, 0 before.
        public var sourceHead: UInt64
        /// The bytes of blocks taken over in this run.
        public var bytes: UInt64
        /// The entries in those blocks.
        public var entries: UInt64
        /// Whether the copy is being made anew beside the old one.
        public var isRebuilding: Bool
    }

    /// What a run did.
    public struct Report: Hashable, Sendable {
        /// The follower's last commit.
        public var head: UInt64 = 0
        /// The source's head as last heard.
        public var sourceHead: UInt64 = 0
        /// True when the source may have later commits that only an open for writing there can prove.
        public var sourceIsRecovering = false
        /// The bytes of blocks taken over.
        public var bytes: UInt64 = 0
        /// The entries in those blocks.
        public var entries: UInt64 = 0
        /// Whether the copy was made by this run.
        public var isNew = false
        /// Whether the copy was made anew.
        public var wasRebuilt = false
        /// Where the old copy of a rebuild is kept.
        public var keptAside: String?
    }

    /// The directory of the copy.
    public let path: String
    private let source: any JournalSource
    private let options: Options
    private let control = Monitor(Control())

    /// What `stop` reaches.
    struct Control {
        var stopped = false
        var feed: (any JournalFeed)?
    }

    /// Makes a follower; nothing happens before it runs.
    public init(at path: String, source: any JournalSource, options: Options = Options()) {
        self.path = path
        self.source = source
        self.options = options
    }

    /// Copies until the source's head is reached, or in live mode until ``stop()``; blocks the thread.
    ///
    /// - Parameter progress: Told after each step, on the calling thread.
    @available(*, noasync)
    public func run(progress: (Progress) -> Void = { _ in }) throws(ReplicationError) -> Report {
        var run = FollowerRun(
            directory: FollowerDirectory(path: path, options: options.journal), source: source,
            options: options,
            control: control)
        return try run.run(progress: progress)
    }

    /// Copies until the source's head is reached, or in live mode until ``stop()``, on a thread of its own.
    ///
    /// - Parameter progress: Told after each step, on that thread.
    public func run(progress: @escaping @Sendable (Progress) -> Void = { _ in })
        async throws(ReplicationError)
        -> Report
    {
        let result = await onOwnThread { () -> Result<Report, ReplicationError> in
            Result { () throws(ReplicationError) in try self.run(progress: progress) }
        }
        return try result.get()
    }

    /// Ends a run after what it is storing now; any thread, before or during the run.
    public func stop() {
        let feed = control.withLock { control in
            control.stopped = true
            return control.feed
        }
        control.wakeAll()
        feed?.close()
    }
}

/// One run: does what the machine says, and tells it what came of it.
struct FollowerRun {
    private let directory: FollowerDirectory
    private let source: any JournalSource
    private let options: Follower.Options
    private let control: Monitor<Follower.Control>
    private let zones: ZoneNames?
    private var session: ReplicationSession
    private var backoff = Backoff()
    private var journal: Journal?
    private var feed: (any JournalFeed)?
    private var report = Follower.Report()
    private var lastFailure = ReplicationError.closed

    init(
        directory: FollowerDirectory, source: any JournalSource, options: Follower.Options,
        control: Monitor<Follower.Control>
    ) {
        self.directory = directory
        self.source = source
        self.options = options
        self.control = control
        zones = options.zones.map { ZoneNames($0) }
        session = ReplicationSession(
            ReplicationSession.Settings(
                zones: zones, live: options.live, rebuild: options.rebuild, reconnects: source.isRemote,
                source: source.name))
    }

    mutating func run(progress: (Follower.Progress) -> Void) throws(ReplicationError) -> Follower.Report {
        defer {
            setFeed(nil)
            journal?.close()
        }
        var input = find()
        while true {
            let isStopped = control.withLock { $0.stopped }
            let action = session.handle(isStopped ? .stopAsked : input)
            switch action {
            case .finish:
                setFeed(nil)
                report.head = session.head
                report.sourceHead = session.sourceHead?.commit ?? 0
                report.sourceIsRecovering = session.sourceHead?.recoveryPending ?? false
                return report
            case .fail(let error):
                if case .stopped = error, report.isNew, session.head == 0 {
                    // Nothing was copied, so what was made for it goes as well.
                    journal?.close()
                    journal = nil
                    try directory.discard()
                }
                throw error
            case .wait:
                if session.hasProgressed { backoff.reset() }
                session.forgetProgress()
                let delay = backoff.next(random: options.journal.random())
                progress(state(.waiting(lastFailure, delay)))
                setFeed(nil)
                _ = control.wait(timeout: delay) { $0.stopped ? true : nil }
                input = .waited
            default:
                do throws(ReplicationError) {
                    input = try act(action, progress: progress)
                } catch {
                    lastFailure = error
                    input = .failed(error)
                }
            }
        }
    }

    private mutating func find() -> ReplicationSession.Input {
        do throws(ReplicationError) {
            journal = try directory.open()
            return .found(try journal.map { journal throws(ReplicationError) in try local(journal) })
        } catch {
            if case .journal = error, options.rebuild, directory.isMarkedAsFollower() {
                return .foundDamaged(error)
            }
            return .failed(error)
        }
    }

    private mutating func act(
        _ action: ReplicationSession.Action, progress: (Follower.Progress) -> Void
    ) throws(ReplicationError) -> ReplicationSession.Input {
        switch action {
        case .connect:
            progress(state(.connecting))
            let feed = try source.connect()
            setFeed(feed)
            return .connected(feed.greeting)
        case .create(let id, let zones):
            report.isNew = true
            return .opened(try use(try directory.create(id, zones: zones)))
        case .openShadow(let id, let zones, let fresh):
            journal?.close()
            journal = nil
            return .opened(try use(try directory.openShadow(id, zones: zones, fresh: fresh)))
        case .refresh:
            guard let journal else { throw .closed }
            return .opened(try local(journal))
        case .follow(let request):
            guard let feed else { throw .closed }
            try feed.follow(request)
            progress(state(.copying))
            return try read()
        case .read:
            progress(state(session.isCaughtUp ? .caughtUp : .copying))
            return try read()
        case .append(let blocks): return try append(blocks)
        case .swap(let keepsOld):
            journal?.close()
            journal = nil
            report.keptAside = try directory.swap(keepsOld: keepsOld)
            report.wasRebuilt = true
            journal = try directory.open()
            return .swapped
        case .wait, .finish, .fail: throw .closed
        }
    }

    private mutating func read() throws(ReplicationError) -> ReplicationSession.Input {
        guard let feed else { throw .closed }
        return .event(try feed.next())
    }

    private mutating func append(_ blocks: [JournalBlock]) throws(ReplicationError)
        -> ReplicationSession.Input
    {
        guard let journal else { throw .closed }
        do throws(JournalError) {
            let head = try journal.append(blocks)
            for block in blocks {
                report.bytes += UInt64(block.payload.count)
                report.entries += UInt64(block.entryCount)
            }
            return .appended(head: head.commit)
        } catch {
            throw .journal(error)
        }
    }

    private mutating func use(_ journal: Journal) throws(ReplicationError) -> ReplicationSession.Local {
        self.journal = journal
        return try local(journal)
    }

    private func local(_ journal: Journal) throws(ReplicationError) -> ReplicationSession.Local {
        let state = try directory.state(of: journal)
        do throws(JournalError) {
            let head = try journal.head().commit
            return ReplicationSession.Local(
                journal: state.source, zones: state.zones, head: head,
                cursor: head == 0 ? nil : try journal.cursor(at: .end(of: head)),
                sessions: head == 0
                    ? [] : try journal.sessions(through: head, limit: WireVersion.sessionsMax),
                holder: state.holder)
        } catch {
            throw .journal(error)
        }
    }

    private mutating func setFeed(_ feed: (any JournalFeed)?) {
        self.feed?.close()
        self.feed = feed
        let stopped = control.withLock { control in
            control.feed = feed
            return control.stopped
        }
        if stopped { feed?.close() }
    }

    private func state(_ state: Follower.Progress.State) -> Follower.Progress {
        Follower.Progress(
            state: state, head: session.head, sourceHead: session.sourceHead?.commit ?? 0,
            bytes: report.bytes,
            entries: report.entries, isRebuilding: session.isRebuilding)
    }
}
