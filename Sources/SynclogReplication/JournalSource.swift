public import SynclogJournal

/// A journal that can be followed.
///
/// `connect` may be called again and again; each call gives a feed of its own. A source never leaves out a commit
/// and never gives part of one as if it were whole: when it cannot give what lies after a follower's cursor it
/// refuses, by type.
public protocol JournalSource: Sendable {
    /// What to call it in messages; never a secret.
    var name: String { get }
    /// Whether the connection may break while the source is well, so that trying again makes sense.
    var isRemote: Bool { get }
    /// Connects, and learns who is there.
    func connect() throws(ReplicationError) -> any JournalFeed
}

/// A connection to a source; used by one thread, except for `close`.
public protocol JournalFeed: AnyObject, Sendable {
    /// Who is at the other end, as told at the start.
    var greeting: SourceGreeting { get }
    /// Starts the flow of blocks after a cursor. After a refusal it may be called again.
    func follow(_ request: FollowRequest) throws(ReplicationError)
    /// Waits for the next piece.
    func next() throws(ReplicationError) -> FeedEvent
    /// Ends the feed; a running `next` throws ``ReplicationError/closed`` or `unreachable`. Any thread, may be called twice.
    func close()
}

/// Who is at the other end of a connection.
public struct SourceGreeting: Hashable, Sendable {
    /// The journal's identity.
    public var journal: JournalID
    /// Its head when the connection was made.
    public var head: JournalHead
    /// The zones it has, when it is itself a follower of some zones; nil means all.
    public var zones: ZoneNames?
    /// The container of the database in it, where there is one.
    public var container: String?
    /// The owner of the database in it, where there is one.
    public var owner: String?

    /// Makes a greeting.
    public init(
        journal: JournalID, head: JournalHead, zones: ZoneNames? = nil, container: String? = nil,
        owner: String? = nil
    ) {
        self.journal = journal
        self.head = head
        self.zones = zones
        self.container = container
        self.owner = owner
    }
}

/// What a follower asks for.
public struct FollowRequest: Hashable, Sendable {
    /// The follower's head as a cursor; nil means from the start.
    public var cursor: Cursor?
    /// The zones asked for; nil means all.
    public var zones: ZoneNames?
    /// Whether to go on with later commits after the head was reached.
    public var live: Bool
    /// The follower's sessions, newest first, for finding the last common commit.
    public var sessions: [SessionInfo]
    /// Under what the source keeps a lease for the follower, 16 random bytes; nil for none.
    public var holder: [UInt8]?

    /// Makes a request.
    public init(
        cursor: Cursor?, zones: ZoneNames?, live: Bool, sessions: [SessionInfo], holder: [UInt8]? = nil
    ) {
        self.cursor = cursor
        self.zones = zones
        self.live = live
        self.sessions = sessions
        self.holder = holder
    }
}

/// A piece of what a source gives.
public enum FeedEvent: Hashable, Sendable {
    /// The next blocks; the last one may stop inside a commit, which then goes on in the next event.
    case blocks([JournalBlock])
    /// Everything up to the source's head was given. More events follow only in a live feed.
    case caughtUp(JournalHead)
    /// The source cannot go on after the cursor. The feed stays open for another request.
    case refused(FollowRefusal)
}

/// Why a source does not give what was asked for.
public enum FollowRefusal: Error, Hashable, Sendable {
    /// What lies after the cursor is no longer kept.
    case expired(floor: UInt64)
    /// The cursor's history is not the source's; `common` is the last commit of both, where known.
    case rolledBack(common: UInt64?)
    /// The cursor belongs to another journal.
    case foreign(found: JournalID)
    /// The source ends before the cursor.
    case ahead(head: UInt64)
    /// The source is itself a follower of some zones and cannot give others.
    case filtered(zones: ZoneNames)
    /// The source has never had a zone of this name.
    case unknownZone(String)
    /// The cursor is none, or the request cannot be understood.
    case malformed
    /// The source cannot be read; it said why.
    case failed(reason: String)
}
