public import SynclogJournal
public import SynclogRecords

/// Why a follower stopped for good and changed nothing.
public enum StopReason: Hashable, Sendable {
    /// The source's history is not the one the follower has seen; `common` is the last commit of both, where known.
    case rolledBack(common: UInt64?, own: UInt64)
    /// The source is another journal than the one the follower was made from.
    case foreign(expected: JournalID, found: JournalID)
    /// The source ends before what the follower has: it lost its end or was put back.
    case ahead(own: UInt64, source: UInt64)
    /// The source no longer keeps what lies after the follower's head, even after a rebuild.
    case expired(floor: UInt64)
    /// The follower was made with another zone list than was asked for now; nil means all zones.
    case otherZones(stored: [String]?, asked: [String]?)
    /// The source is itself a follower of some zones and cannot give others.
    case filteredSource(zones: [String])
    /// The source has never had a zone of this name.
    case unknownZone(String)
}

/// What can go wrong between two journals; each case is one a caller can react to.
public enum ReplicationError: Error, Hashable, Sendable {
    /// The text names no source.
    case badSource(text: String, reason: String)
    /// The directory belongs to a tool that copies files behind programs' backs.
    case syncFolder(path: String, tool: String)
    /// The source cannot be reached, or the connection broke. It may work later.
    case unreachable(source: String, reason: String)
    /// The source did not answer in time. It may work later.
    case timeout(source: String, waitedFor: String)
    /// The source does not speak the protocol.
    case protocolViolation(source: String, what: String)
    /// The source speaks a version of the protocol that this program does not.
    case unsupportedVersion(source: String, theirs: UInt64, ours: UInt64)
    /// The source was reached and cannot do what was asked; it said why.
    case sourceFailed(source: String, reason: String)
    /// The directory to copy into holds a journal that follows nobody.
    case notAFollower(path: String)
    /// The follower stopped and changed nothing.
    case stopped(StopReason)
    /// It was closed from this side.
    case closed
    /// A journal of this machine: the follower's own, or a directory source.
    case journal(JournalError)
    /// The database at the other end refused.
    case sync(SyncError)

    /// Whether the same attempt may work later without anybody doing anything.
    public var isRetryable: Bool {
        switch self {
        case .unreachable, .timeout: true
        case .badSource, .syncFolder, .protocolViolation, .unsupportedVersion, .sourceFailed, .notAFollower,
            .stopped,
            .closed, .journal, .sync:
            false
        }
    }
}
