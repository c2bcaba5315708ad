/// An append-only journal of commits in a directory of compressed segment files.
public final class Journal: CommitLog {
    /// The identity of the journal.
    public let id: JournalID
    /// The path of its directory.
    public let path: String

    init() { fatalError("not yet") }

    /// Makes a directory and an empty journal in it, durable on return.
    public static func create(
        at path: String, id: JournalID? = nil, follower: [UInt8]? = nil, mode: JournalMode = .shared,
        options: JournalOptions = JournalOptions()
    ) throws(JournalError) -> Journal { fatalError("not yet") }

    /// Opens the journal of a directory.
    public static func open(
        at path: String, mode: JournalMode = .shared, options: JournalOptions = JournalOptions()
    ) throws(JournalError) -> Journal { fatalError("not yet") }

    /// Waits for running commits, gives the lock back and refuses further use; may be called twice.
    public func close() { fatalError("not yet") }

    /// What the file FOLLOWER holds, or nil if this journal follows nobody.
    public func followerState() throws(JournalError) -> [UInt8]? { fatalError("not yet") }

    /// The last durable commit; catches up with other processes first.
    @available(*, noasync)
    public func head() throws(JournalError) -> JournalHead { fatalError("not yet") }
    /// The last durable commit; catches up with other processes first.
    public func head() async throws(JournalError) -> JournalHead { fatalError("not yet") }

    /// Calls `decide` on the newest state and makes its entries one durable commit.
    @available(*, noasync)
    public func commit<Result: Sendable>(
        device: UInt32 = 0, _ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Result
    ) throws(JournalError) -> Committed<Result> { fatalError("not yet") }
    /// Calls `decide` on the newest state and makes its entries one durable commit.
    public func commit<Result: Sendable>(
        device: UInt32 = 0, _ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Result
    ) async throws(JournalError) -> Committed<Result> { fatalError("not yet") }

    /// Returns when there is a commit after `commit`, or after the timeout.
    @available(*, noasync)
    public func waitForChange(after commit: UInt64, timeout: Duration) throws(JournalError) -> Bool {
        fatalError("not yet")
    }
    /// Returns when there is a commit after `commit`, or after the timeout.
    public func waitForChange(after commit: UInt64, timeout: Duration) async throws(JournalError) -> Bool {
        fatalError("not yet")
    }

    /// The newest put or delete of a key up to the last known head, or nil. Blocks for reading.
    public func entry(for key: EntryKey) throws(JournalError) -> StoredEntry? { fatalError("not yet") }

    /// The position of the newest put or delete of a key, without reading its value.
    public func position(of key: EntryKey) throws(JournalError) -> JournalPosition? { fatalError("not yet") }

    /// The zones with record entries after a commit, each with its last commit; up to the last known head.
    public func zonesChanged(after commit: UInt64) throws(JournalError) -> [UInt64: UInt64] { fatalError("not yet") }

    /// Reads forward from strictly after a position to the head as it is now.
    public func read(
        after position: JournalPosition = .start, filter: ReadFilter = .all
    ) throws(JournalError) -> JournalReader { fatalError("not yet") }

    /// Reads backward from strictly before a position, or from the head.
    public func readBackward(
        before position: JournalPosition? = nil, filter: ReadFilter = .all
    ) throws(JournalError) -> JournalReader { fatalError("not yet") }

    /// The session in force at a commit.
    public func session(at commit: UInt64) throws(JournalError) -> SessionInfo { fatalError("not yet") }

    /// The sessions up to a commit, newest first, at most `limit`.
    public func sessions(through commit: UInt64, limit: Int) throws(JournalError) -> [SessionInfo] {
        fatalError("not yet")
    }

    /// A cursor for a position at or below the head.
    public func cursor(
        at position: JournalPosition, kind: Cursor.Kind = .journal, scope: UInt64 = 0, bound: UInt64 = 0
    ) throws(JournalError) -> Cursor { fatalError("not yet") }

    /// Throws if a cursor does not belong to this journal's history.
    public func validate(_ cursor: Cursor) throws(JournalError) { fatalError("not yet") }

    /// Whole commits after a commit as stored blocks, up to about `sizeMax` bytes but at least one commit.
    ///
    /// With `zones`, entries of other zones are left out, and the last block ends with the last commit looked at.
    /// Empty at the head.
    public func blocks(
        after commit: UInt64, zones: Set<UInt64>? = nil, sizeMax: Int
    ) throws(JournalError) -> [JournalBlock] { fatalError("not yet") }

    /// Appends blocks of another journal to this follower, durable on return; what it has already is skipped.
    /// - Returns: The head afterwards.
    @available(*, noasync)
    public func append(_ blocks: [JournalBlock]) throws(JournalError) -> JournalHead { fatalError("not yet") }

    /// Checks every byte of every file.
    public func verify(progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }) throws(JournalError)
        -> VerifyReport
    { fatalError("not yet") }

    /// Sizes and counts of the files.
    public func statistics() throws(JournalError) -> JournalStatistics { fatalError("not yet") }
}

/// Commits one after the other, with those of their entries that pass the filter; commits without any are left out.
public struct JournalReader {
    /// Called with damage that reading then goes around; without it damage is thrown.
    public var onDamage: ((Damage) -> Void)?

    /// The next commit, or nil at the end.
    public mutating func next() throws(JournalError) -> Commit? { fatalError("not yet") }
}

/// A block as it is stored: whole entries, compressed as one LZ4 frame.
public struct JournalBlock: Hashable, Sendable {
    /// The size in bytes of the CBOR sequence inside.
    public var rawSize: UInt32
    /// The first commit with entries inside.
    public var firstCommit: UInt64
    /// The last commit with entries inside.
    public var lastCommit: UInt64
    /// The number of entries.
    public var entryCount: UInt32
    /// Whether the last commit ends in this block.
    public var endsCommit: Bool
    /// The CRC32C of the payload.
    public var checksum: UInt32
    /// One LZ4 frame.
    public var payload: [UInt8]

    /// Makes a block.
    public init(
        rawSize: UInt32, firstCommit: UInt64, lastCommit: UInt64, entryCount: UInt32, endsCommit: Bool,
        checksum: UInt32, payload: [UInt8]
    ) {
        self.rawSize = rawSize
        self.firstCommit = firstCommit
        self.lastCommit = lastCommit
        self.entryCount = entryCount
        self.endsCommit = endsCommit
        self.checksum = checksum
        self.payload = payload
    }
}

/// What a check of all files found.
public struct VerifyReport: Sendable {
    /// One segment that was checked.
    public struct Segment: Sendable {
        /// The file's name.
        public var name: String
        /// Whether it carries an index and a footer.
        public var sealed: Bool
        /// Its commits, nil if none.
        public var commits: ClosedRange<UInt64>?
        /// The number of entries.
        public var entries: Int
        /// The size in bytes.
        public var size: UInt64
    }

    /// The segments in order.
    public var segments: [Segment] = []
    /// What is wrong, in order of place.
    public var damages: [Damage] = []
    /// The loss of an acknowledged end, if there is one.
    public var lost: JournalError?
    /// Names in the directory that do not belong to a journal.
    public var strays: [String] = []
    /// Bytes after the last durable commit that the next open for writing will deal with.
    public var tailBytes: UInt64 = 0
}

/// Sizes and counts of a journal's files.
public struct JournalStatistics: Sendable {
    /// The number of segment files.
    public var segments = 0
    /// The bytes of all segment files.
    public var storedBytes: UInt64 = 0
    /// The bytes of all blocks before compression.
    public var rawBytes: UInt64 = 0
    /// The number of blocks.
    public var blocks = 0
    /// The number of entries.
    public var entries = 0
}
