/// An append-only journal of commits in a directory of compressed segment files.
///
/// All methods may be called from any thread. Those that read or write block: the blocking twins are not for the cooperative
/// pool; the async twins use threads of the journal's own. A handle keeps at most a quarter of the files open that the process may
/// have open, 64 to 1024, whatever the number of segments.
public final class Journal: CommitLog {
    /// The identity of the journal.
    public let id: JournalID
    /// The path of its directory.
    public let path: String
    /// How it was opened.
    public let mode: JournalMode
    /// The end that is lost, when opened with ``JournalOptions/acceptsLostEnd``.
    public let lostEnd: JournalError?
    /// Whether the journal follows another one and takes no commits of its own.
    public let isFollower: Bool

    let options: JournalOptions
    let turn: Turn

    init(live: sending LiveJournal) throws(JournalError) {
        id = try live.live.header.journal
        path = live.directory.path
        mode = live.mode
        options = live.options
        lostEnd = live.lostEnd
        isFollower = live.isFollower
        let snapshot = try live.snapshot()
        turn = Turn(live: live, snapshot: snapshot)
    }

    /// Makes a directory and an empty journal in it, durable on return.
    ///
    /// The directory may be there already if it is empty. With `follower`, the journal carries another one's identity
    /// and those bytes in its file FOLLOWER, and takes only that one's blocks.
    public static func create(
        at path: String, id: JournalID? = nil, follower: [UInt8]? = nil, mode: JournalMode = .shared,
        options: JournalOptions = JournalOptions()
    ) throws(JournalError) -> Journal {
        let id = id ?? JournalID(high: options.random(), low: options.random())
        try JournalBirth(path: path, options: options).make(id: id, follower: follower)
        return try open(at: path, mode: mode, options: options)
    }

    /// Opens the journal of a directory.
    ///
    /// For writing it takes the lock for a moment (in exclusive mode until ``close()``), and brings the end of the
    /// journal in order: a torn tail is kept aside, damage of acknowledged commits is an error and changes nothing.
    public static func open(
        at path: String, mode: JournalMode = .shared, options: JournalOptions = JournalOptions()
    ) throws(JournalError) -> Journal {
        let live = LiveJournal(path: path, mode: mode, options: options)
        if mode == .readOnly {
            try live.loadForReading()
        } else {
            try JournalBirth(path: path, options: options).refuseNetwork()
            // A directory without segments is told apart before LOCK is made in it.
            _ = try lookingAgain { () throws(JournalError) in try live.directory.segments() }
            try live.beginWriting()
            live.endWriting()
        }
        return try Journal(live: live)
    }

    /// Syncs relaxed commits, indexes the end of a long exclusive session, gives lock and files back and refuses further use.
    ///
    /// A ``JournalReader`` that was made before may go on.
    ///
    /// May be called twice.
    public func close() { turn.close() }

    deinit { turn.close() }

    /// What the file FOLLOWER holds, or nil if this journal follows nobody.
    public func followerState() throws(JournalError) -> [UInt8]? {
        let directory = SegmentDirectory(path: path, fileSystem: options.fileSystem)
        let found = try journalErrors { () throws(FileError) -> (file: any File, size: UInt64)? in
            guard let status = try options.fileSystem.status(directory.followerPath) else { return nil }
            return (try options.fileSystem.open(directory.followerPath, .read), status.size)
        }
        return try found.map { found throws(JournalError) in
            try found.file.bytes(at: 0, count: Int(min(found.size, 1 << 20)))
        }
    }

    // MARK: - The head

    /// The last durable commit; catches up with other processes first.
    @available(*, noasync)
    public func head() throws(JournalError) -> JournalHead { try turn.refreshed().head }

    /// The last durable commit; catches up with other processes first.
    public func head() async throws(JournalError) -> JournalHead {
        let turn = turn
        return try await onOwnThread { () -> Swift.Result<JournalHead, JournalError> in
            do throws(JournalError) { return .success(try turn.refreshed().head) } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Returns when there is a commit after `commit`, or after the timeout.
    /// - Returns: Whether there is a later commit.
    @available(*, noasync)
    public func waitForChange(after commit: UInt64, timeout: Duration) throws(JournalError) -> Bool {
        try ChangeWait(turn: turn, path: path, fileSystem: options.fileSystem).run(
            after: commit, timeout: timeout)
    }

    /// Returns when there is a commit after `commit`, or after the timeout.
    /// - Returns: Whether there is a later commit.
    public func waitForChange(after commit: UInt64, timeout: Duration) async throws(JournalError) -> Bool {
        let wait = ChangeWait(turn: turn, path: path, fileSystem: options.fileSystem)
        return try await onOwnThread { () -> Swift.Result<Bool, JournalError> in
            do throws(JournalError) {
                return .success(try wait.run(after: commit, timeout: timeout))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    // MARK: - Committing

    /// Calls `decide` on the newest state and makes its entries one durable commit.
    ///
    /// `decide` runs on some thread while the journal is locked: it must not use the journal otherwise, nor wait. On return the
    /// commit is durable. If `decide` throws, nothing of it is written.
    @available(*, noasync)
    public func commit<Result: Sendable>(
        device: UInt32 = 0,
        _ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Result
    ) throws(JournalError) -> Committed<Result> {
        let call = CommitCall(decide)
        let request = call.request(device: device)
        turn.submit(request)
        let facts = try turn.work(until: request)
        compactAfterRoll()
        return call.committed(facts)
    }

    /// Calls `decide` on the newest state and makes its entries one durable commit.
    ///
    /// `decide` runs on a thread of the journal while the journal is locked: it must not use the journal otherwise, nor wait. On
    /// return the commit is durable. If `decide` throws, nothing of it is written.
    public func commit<Result: Sendable>(
        device: UInt32 = 0,
        _ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Result
    ) async throws(JournalError) -> Committed<Result> {
        let call = CommitCall(decide)
        let turn = turn
        let facts = try await withCheckedContinuation { continuation in
            turn.submitAsync(call.request(device: device) { continuation.resume(returning: $0) })
        }.get()
        if turn.wantsCompaction { await onOwnThread { [self] in compactAfterRoll() } }
        return call.committed(facts)
    }

    /// Calls `decide` and writes its entries without making them durable: a crash may lose them.
    ///
    /// Only in exclusive mode. The next durable commit, ``sync()`` or ``close()`` makes them durable; nobody else sees them
    /// before. Their numbers are never used again.
    @available(*, noasync)
    public func commitRelaxed<Result: Sendable>(
        device: UInt32 = 0,
        _ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Result
    ) throws(JournalError) -> Relaxed<Result> {
        let call = CommitCall(decide)
        let request = call.request(device: device, relaxed: true)
        turn.submit(request)
        let committed = call.committed(try turn.work(until: request))
        return Relaxed(result: committed.result, commit: committed.commit)
    }

    /// Makes relaxed commits durable.
    @available(*, noasync)
    public func sync() throws(JournalError) {
        try turn.exclusively { live throws(JournalError) in try live.syncRelaxed() }
    }

    /// Appends blocks of another journal to this follower, durable on return; what it has already is skipped.
    /// - Returns: The head afterwards.
    @available(*, noasync)
    public func append(_ blocks: [JournalBlock]) throws(JournalError) -> JournalHead {
        try turn.exclusively { live throws(JournalError) in try live.append(blocks) }
        compactAfterRoll()
        return try turn.snapshot().head
    }
}

/// What a relaxed commit returns: it is written, but not durable yet.
public struct Relaxed<Result: Sendable>: Sendable {
    /// What the deciding closure returned.
    public var result: Result
    /// The facts of the commit, or nil when no entry was added.
    public var commit: CommitInfo?
}
