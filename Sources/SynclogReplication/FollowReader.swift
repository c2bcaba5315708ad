internal import SynclogJournal

/// Reads a journal for one follower: blocks after its cursor, as long as the journal is still the same one.
///
/// It has a handle of its own, opened for reading, so that nobody else's use moves its view between a check of the
/// cursor and the blocks read after it.
struct FollowReader {
    /// Why nothing can be given.
    enum Failure: Error {
        case refused(FollowRefusal)
        case journal(JournalError)
    }

    /// What is there for the follower.
    enum Step {
        case blocks([JournalBlock])
        case caughtUp(JournalHead)
    }

    /// The reader's own handle; closing it makes running and later calls fail.
    let journal: Journal
    private let request: FollowRequest
    private var zones: ZoneIndex?
    private var head: JournalHead
    /// The place up to which the follower has everything.
    private var commit: UInt64
    /// That place with the session in force there, as this reader saw it.
    private var cursor: Cursor?
    private let checksCursors: Bool
    private let leases: LeaseKeeper
    private let wallClock: @Sendable () -> Int64
    /// The wall time at which the lease was last looked at.
    private var leaseTime: Int64

    /// While a follower stays, its lease is looked at once in so many microseconds.
    static let leaseInterval: Int64 = 3_600_000_000

    /// Opens the journal for reading, checks the cursor, and keeps a lease for who has one that is good.
    init(path: String, options: JournalOptions, request: FollowRequest, leases: LeaseKeeper) throws(Failure) {
        self.request = request
        checksCursors = options.rules.checksCursors
        self.leases = leases
        wallClock = options.wallClock
        leaseTime = options.wallClock()
        cursor = request.cursor
        commit = request.cursor?.position.commit ?? 0
        zones = request.zones.map { ZoneIndex($0) }
        do throws(JournalError) {
            journal = try Journal.open(at: path, mode: .readOnly, options: options)
            head = try journal.head()
        } catch {
            throw .journal(error)
        }
        let own = try wrap { () throws(JournalError) in try journal.followerState() }
        if let own, let held = FollowerState(own)?.zones, held != request.zones {
            throw .refused(.filtered(zones: held))
        }
        try check()
        try wrap { () throws(JournalError) in try zones?.catchUp(journal, through: head.commit) }
        // A wrong name would make an empty copy in silence; an old filter may name what is gone by now.
        if request.cursor == nil, let missing = zones?.missing { throw .refused(.unknownZone(missing)) }
        guard let holder = request.holder else { return }
        // Who begins needs no deletions of before.
        let seen = request.cursor == nil ? head.commit : commit
        if seen > 0 { leases.renew(holder, at: seen, seenBy: journal) }
        // The lease comes to the follower as well, now and not as news the next time.
        head = try wrap { () throws(JournalError) in try journal.head() }
    }

    /// The next whole commits, about `sizeMax` bytes of them, or the head when all were given.
    mutating func next(sizeMax: Int) throws(Failure) -> Step {
        if commit >= head.commit {
            head = try wrap { () throws(JournalError) in try journal.head() }
            try check()
            try wrap { () throws(JournalError) in try zones?.catchUp(journal, through: head.commit) }
            if commit >= head.commit { return .caughtUp(head) }
        }
        let blocks: [JournalBlock]
        do throws(JournalError) {
            blocks = try journal.blocks(after: commit, zones: zones?.numbers, sizeMax: sizeMax)
        } catch {
            // Damage further on must not keep back what lies before it.
            guard case .corrupted = error, sizeMax > 1 else { throw .journal(error) }
            return try next(sizeMax: 1)
        }
        // Reading goes around files that compaction replaced meanwhile, so what it read may lack tombstones by now.
        try check()
        guard let last = blocks.last else { return .caughtUp(head) }
        if let holder = request.holder, wallClock() - leaseTime >= Self.leaseInterval {
            // Whoever asks for more has stored what it got, or will soon.
            leaseTime = wallClock()
            leases.renew(holder, at: commit, seenBy: journal)
        }
        commit = last.lastCommit
        cursor = try wrap { () throws(JournalError) in try journal.cursor(at: .end(of: commit)) }
        return .blocks(blocks)
    }

    /// Waits for something new after the head that was last reported.
    func wait(timeout: Duration) throws(Failure) {
        do throws(JournalError) {
            _ = try journal.waitForChange(after: head.commit, timeout: timeout)
        } catch {
            throw .journal(error)
        }
    }

    private func check() throws(Failure) {
        guard let cursor, checksCursors else { return }
        do throws(JournalError) {
            guard cursor.kind == .journal else { throw .wrongScope }
            try journal.validate(cursor)
        } catch {
            switch error {
            case .expired(let floor): throw .refused(.expired(floor: floor))
            case .rolledBack(let common):
                throw .refused(.rolledBack(common: lastCommon(with: cursor) ?? common))
            case .foreignJournal: throw .refused(.foreign(found: journal.id))
            case .ahead(let head): throw .refused(.ahead(head: head))
            case .malformedCursor, .wrongScope: throw .refused(.malformed)
            // What lies beyond the head may be there; whoever writes next will find out. Nothing is given till then.
            case .recoveryPending: break
            default: throw .journal(error)
            }
        }
    }

    private func lastCommon(with cursor: Cursor) -> UInt64? {
        guard !request.sessions.isEmpty, let own = try? journal.sessions(through: head.commit, limit: 1024)
        else {
            return nil
        }
        return Lineage.lastCommon(
            request.sessions, through: cursor.position.commit, own, through: head.commit)
    }

    private func wrap<Value>(_ body: () throws(JournalError) -> Value) throws(Failure) -> Value {
        do throws(JournalError) { return try body() } catch { throw .journal(error) }
    }
}
