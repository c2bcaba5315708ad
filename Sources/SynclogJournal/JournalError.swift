/// A system call that failed: its name, the path, and the error number.
public struct FileError: Error, Hashable, Sendable {
    /// The name of the call, for instance `fdatasync`.
    public var call: String
    /// The path it was made on.
    public var path: String
    /// The error number (errno).
    public var code: Int32

    /// Makes a file error.
    public init(call: String, path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }
}

/// Bytes of acknowledged commits that are not what was written.
public struct Damage: Hashable, Sendable {
    /// The path of the file.
    public var file: String
    /// The offset in bytes of the first wrong structure.
    public var offset: UInt64
    /// The commits that may be hit, as far as known.
    public var commits: ClosedRange<UInt64>?
    /// What is wrong, in a few words.
    public var reason: String

    /// Makes a damage report.
    public init(file: String, offset: UInt64, commits: ClosedRange<UInt64>? = nil, reason: String) {
        self.file = file
        self.offset = offset
        self.commits = commits
        self.reason = reason
    }
}

/// Where a journal ends, for errors that name two ends.
public struct JournalPlace: Hashable, Sendable {
    /// The last commit.
    public var commit: UInt64
    /// The path of the segment.
    public var file: String
    /// The offset in bytes.
    public var offset: UInt64

    /// Makes a place.
    public init(commit: UInt64, file: String, offset: UInt64) {
        self.commit = commit
        self.file = file
        self.offset = offset
    }
}

/// What can go wrong with a journal; each case is one a caller can react to.
public enum JournalError: Error, Hashable, Sendable {
    /// A system call failed; nothing was acknowledged.
    case file(FileError)
    /// There is no directory at the path.
    case notFound(path: String)
    /// The directory is there but is no journal.
    case notAJournal(path: String)
    /// A journal is already there.
    case alreadyExists(path: String)
    /// The directory to be made holds other files.
    case notEmpty(path: String)
    /// The journal was opened for reading, or its directory cannot be written.
    case readOnly(path: String)
    /// The directory lies on a network file system, where locks and syncs cannot be relied on.
    case networkFileSystem(path: String, kind: String)
    /// Another process holds the journal; its process id where known.
    case busy(pid: Int32?)
    /// Acknowledged bytes are damaged; nothing was changed.
    case corrupted(Damage)
    /// A segment file is missing; nothing was changed.
    case missingSegment(path: String, number: UInt64)
    /// The journal ends before a place that was acknowledged; nothing was changed.
    case lostData(acknowledged: JournalPlace, found: JournalPlace)
    /// A sync failed: whether the commit is durable is not known; this handle writes no more.
    case durabilityUnknown(FileError)
    /// A newer version wrote the file, with features this one does not know.
    case unsupported(path: String, feature: String)
    /// The journal follows another one and takes no commits of its own.
    case isFollower(path: String)
    /// The handle was closed.
    case closed
    /// A key, value or commit is larger than the format allows; nothing was written.
    case limitExceeded(what: String, limit: Int, actual: Int)
    /// Relaxed commits need a journal opened in exclusive mode.
    case relaxedNeedsExclusive
    /// The cursor is below what is kept; read everything anew.
    case expired(floor: UInt64)
    /// The cursor is beyond the head; the journal lost its end, or the cursor belongs to its future.
    case ahead(head: UInt64)
    /// The cursor's history is not this journal's; `common` is the last commit both have, where known.
    case rolledBack(common: UInt64?)
    /// The end of the journal is not proven yet: open it for writing once, or wait for its writer.
    case recoveryPending(path: String)
    /// The cursor belongs to another journal.
    case foreignJournal
    /// The cursor's text or bytes are not a cursor.
    case malformedCursor
    /// The cursor was made for another use: another zone, or a database token in place of a zone token.
    case wrongScope
}
