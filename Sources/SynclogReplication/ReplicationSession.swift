internal import SynclogJournal

/// What a follower does next, as a pure machine: what happened goes in, the next thing to do comes out.
///
/// Whoever runs it does each action and hands in the outcome; there is never more than one thing to do at a time.
struct ReplicationSession: Sendable {
    /// What was asked for.
    struct Settings: Hashable, Sendable {
        var zones: ZoneNames?
        var live = false
        var rebuild = false
        /// Whether a broken connection is made again in live mode.
        var reconnects = false
        /// What to call the source in messages.
        var source = "the source"
    }

    /// A follower's journal as it is now.
    struct Local: Hashable, Sendable {
        var journal: JournalID
        var zones: ZoneNames?
        var head: UInt64
        /// The head as a cursor; nil when nothing is there yet.
        var cursor: Cursor?
        /// Newest first.
        var sessions: [SessionInfo] = []
        /// Under what the source keeps a lease for it.
        var holder: [UInt8]?
    }

    enum Input: Sendable {
        /// What lies at the follower's path; nil for nothing.
        case found(Local?)
        /// What lies at the follower's path is a follower that cannot be opened; only a rebuild helps.
        case foundDamaged(ReplicationError)
        case connected(SourceGreeting)
        /// A journal is open to be appended to, at the follower's path or in the shadow directory.
        case opened(Local)
        case event(FeedEvent)
        /// Blocks are durable.
        case appended(head: UInt64)
        /// The shadow directory is now at the follower's path.
        case swapped
        case failed(ReplicationError)
        case waited
        case stopAsked
    }

    enum Action: Sendable {
        case connect
        /// Make the follower's journal at its path.
        case create(JournalID, ZoneNames?)
        /// Open the shadow directory's journal, or make it; a fresh one if what is there is of no use.
        case openShadow(JournalID, ZoneNames?, fresh: Bool)
        /// Read again where the open journal stands.
        case refresh
        case follow(FollowRequest)
        case read
        case append([JournalBlock])
        /// Put the shadow directory in the follower's place.
        case swap(keepsOld: Bool)
        /// Close the connection and wait; chance is added by whoever waits.
        case wait
        case finish
        case fail(ReplicationError)
    }

    private enum Phase: Hashable {
        case start
        case connecting
        case opening
        case following
        case appending
        case swapping
        case waiting
        case ended
    }

    /// Why the copy is made anew.
    private enum Rebuild: Hashable {
        case none
        case asked
        case expired
    }

    private let settings: Settings
    private var phase = Phase.start
    /// What lies at the follower's path, or in the shadow directory during a rebuild.
    private var local: Local?
    private var rebuild: Rebuild
    private var shadowWasFresh = false
    private var inShadow = false
    private var check = BlockSequence()
    private var pending: [JournalBlock] = []
    private var pendingSize = 0
    private var wasConnected = false
    /// The last whole commit that this feed gave; another run on the same copy may be further.
    private var reached: UInt64 = 0

    /// The source's head as last heard.
    private(set) var sourceHead: JournalHead?
    /// Whether everything up to the source's head is here.
    private(set) var isCaughtUp = false
    /// Whether progress was made since the last failure.
    private(set) var hasProgressed = false

    init(_ settings: Settings) {
        self.settings = settings
        rebuild = settings.rebuild ? .asked : .none
    }

    /// The last commit that is durable here.
    var head: UInt64 { local?.head ?? 0 }
    /// Whether the copy is being made anew beside the old one.
    var isRebuilding: Bool { inShadow }

    /// Takes what happened and says what to do.
    mutating func handle(_ input: Input) -> Action {
        switch (phase, input) {
        case (.ended, _): return .finish
        case (_, .stopAsked):
            phase = .ended
            return .finish
        case (.start, .found(let found)): return start(found)
        case (.start, .foundDamaged(let error)):
            guard rebuild == .asked else { return fail(error) }
            return start(nil, damaged: true)
        case (.connecting, .connected(let greeting)): return connected(greeting)
        case (.opening, .opened(let opened)): return journalOpened(opened)
        case (.following, .event(let event)): return received(event)
        case (.appending, .appended(let head)): return appended(head)
        case (.swapping, .swapped): return swapped()
        case (.waiting, .waited):
            phase = .connecting
            return .connect
        case (_, .failed(let error)): return failed(error)
        default:
            return fail(.protocolViolation(source: "this side", what: "an event out of turn"))
        }
    }

    private mutating func fail(_ error: ReplicationError) -> Action {
        phase = .ended
        return .fail(error)
    }

    private mutating func stop(_ reason: StopReason) -> Action { fail(.stopped(reason)) }

    private mutating func start(_ found: Local?, damaged: Bool = false) -> Action {
        local = found
        if rebuild == .asked, found == nil, !damaged { rebuild = .none }
        phase = .connecting
        return .connect
    }

    private mutating func connected(_ greeting: SourceGreeting) -> Action {
        wasConnected = true
        sourceHead = greeting.head
        isCaughtUp = false
        if let held = greeting.zones, held != settings.zones {
            return stop(.filteredSource(zones: held.names))
        }
        phase = .opening
        if rebuild != .none {
            if inShadow, let local, local.journal != greeting.journal {
                return stop(.foreign(expected: local.journal, found: greeting.journal))
            }
            return .openShadow(greeting.journal, settings.zones, fresh: false)
        }
        guard let local else { return .create(greeting.journal, settings.zones) }
        guard local.journal == greeting.journal else {
            return stop(.foreign(expected: local.journal, found: greeting.journal))
        }
        guard local.zones == settings.zones else {
            return stop(.otherZones(stored: local.zones?.names, asked: settings.zones?.names))
        }
        // After a broken connection the head has moved, and the session in force there may be another.
        return local.head == local.cursor?.position.commit ?? 0 ? follow(local) : .refresh
    }

    private mutating func journalOpened(_ opened: Local) -> Action {
        inShadow = rebuild != .none
        return follow(opened)
    }

    private mutating func follow(_ local: Local) -> Action {
        self.local = local
        phase = .following
        pending = []
        pendingSize = 0
        reached = local.head
        check = BlockSequence()
        return .follow(
            FollowRequest(
                cursor: local.cursor, zones: settings.zones, live: settings.live, sessions: local.sessions,
                holder: local.holder))
    }

    private mutating func received(_ event: FeedEvent) -> Action {
        switch event {
        case .blocks(let blocks):
            isCaughtUp = false
            for block in blocks {
                if let fault = check.fault(in: block) { return fail(violation(fault)) }
                pendingSize += block.payload.count
            }
            guard !blocks.isEmpty else { return fail(violation("a message without blocks")) }
            pending += blocks
            guard let end = pending.lastIndex(where: { $0.endsCommit }) else {
                return pendingSize > BlockSequence.commitSizeMax
                    ? fail(violation("a commit larger than any can be")) : .read
            }
            let whole = Array(pending[...end])
            // Else the same blocks could be sent for ever.
            guard whole[end].lastCommit > reached else {
                return fail(violation("blocks that bring nothing new"))
            }
            reached = whole[end].lastCommit
            pending.removeSubrange(...end)
            pendingSize = pending.reduce(0) { $0 + $1.payload.count }
            phase = .appending
            return .append(whole)
        case .caughtUp(let head):
            guard pending.isEmpty else { return fail(violation("an end inside a commit")) }
            sourceHead = head
            guard head.commit == reached || head.recoveryPending && head.commit < reached else {
                return fail(
                    violation("an end at commit \(head.commit), where commit \(reached) was reached"))
            }
            isCaughtUp = true
            hasProgressed = true
            if inShadow {
                phase = .swapping
                return .swap(keepsOld: rebuild == .asked)
            }
            return caughtUp()
        case .refused(let refusal): return refused(refusal)
        }
    }

    private mutating func caughtUp() -> Action {
        if settings.live { return .read }
        phase = .ended
        return .finish
    }

    private mutating func appended(_ head: UInt64) -> Action {
        let own = self.head
        local?.head = max(head, own)
        hasProgressed = true
        if let known = sourceHead, known.commit < head { sourceHead?.commit = head }
        phase = .following
        return .read
    }

    private mutating func swapped() -> Action {
        inShadow = false
        rebuild = .none
        shadowWasFresh = false
        phase = .following
        return caughtUp()
    }

    private mutating func refused(_ refusal: FollowRefusal) -> Action {
        if inShadow {
            switch refusal {
            case .expired, .rolledBack, .foreign, .ahead:
                // What an earlier attempt left is of no use any more; a second time it is not that.
                guard !shadowWasFresh, let local else { break }
                shadowWasFresh = true
                phase = .opening
                return .openShadow(local.journal, settings.zones, fresh: true)
            case .filtered, .unknownZone, .malformed, .failed: break
            }
        }
        switch refusal {
        case .expired(let floor):
            guard !inShadow, let local else { return stop(.expired(floor: floor)) }
            rebuild = .expired
            phase = .opening
            return .openShadow(local.journal, settings.zones, fresh: false)
        case .rolledBack(let common): return stop(.rolledBack(common: common, own: head))
        case .foreign(let found): return stop(.foreign(expected: local?.journal ?? found, found: found))
        case .ahead(let end): return stop(.ahead(own: head, source: end))
        case .filtered(let zones): return stop(.filteredSource(zones: zones.names))
        case .unknownZone(let name): return stop(.unknownZone(name))
        case .malformed: return fail(violation("it does not understand this follower's cursor"))
        case .failed(let reason): return fail(.sourceFailed(source: settings.source, reason: reason))
        }
    }

    private mutating func failed(_ error: ReplicationError) -> Action {
        // At the start a wrong address is more likely than a broken network.
        guard settings.live, settings.reconnects, wasConnected, error.isRetryable else { return fail(error) }
        pending = []
        pendingSize = 0
        phase = .waiting
        return .wait
    }

    /// Says that the last failure is known, so that the next progress counts anew.
    mutating func forgetProgress() { hasProgressed = false }

    private func violation(_ what: String) -> ReplicationError {
        .protocolViolation(source: settings.source, what: what)
    }
}

/// Checks that blocks follow each other as those of one journal do, and are what their checksums say.
struct BlockSequence: Hashable, Sendable {
    /// The most stored bytes of one commit: its bytes, and what packing can add to what it cannot shrink.
    static let commitSizeMax = FormatLimits.commitSizeMax + FormatLimits.commitSizeMax / 8

    private var last: UInt64 = 0
    private var isOpen = false

    /// What is wrong with the next block, or nil.
    mutating func fault(in block: JournalBlock) -> String? {
        guard block.rawSize > 0, Int(block.rawSize) <= FormatLimits.blockRawSizeMax else {
            return "a block of \(block.rawSize) bytes"
        }
        guard block.firstCommit > 0, block.firstCommit <= block.lastCommit else {
            return "a block from commit \(block.firstCommit) to \(block.lastCommit)"
        }
        guard isOpen ? block.firstCommit >= last : block.firstCommit > last else {
            return "commit \(block.firstCommit) after commit \(last)"
        }
        guard crc32c(block.payload) == block.checksum else {
            return "bytes of commit \(block.firstCommit) that do not fit their checksum"
        }
        (last, isOpen) = (block.lastCommit, !block.endsCommit)
        return nil
    }
}
