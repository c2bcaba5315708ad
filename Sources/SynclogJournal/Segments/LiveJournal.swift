/// The head of a journal: the live segment, HEAD, and what is needed to go on from there.
///
/// Not Sendable: the journal hands it to one thread at a time. All file access at the head happens here.
final class LiveJournal {
    let directory: SegmentDirectory
    let options: JournalOptions
    let mode: JournalMode
    let cache = BlockCache()
    var lock: DirectoryLock?
    var segments: [Segment] = []
    /// The slot of HEAD that was read or written last.
    var slot: HeadSlot?
    /// The highest counter of any slot seen.
    var counter: UInt64 = 0
    var inode: UInt64 = 0
    /// The lowest number that the next commit may have.
    var nextNumber: UInt64 = 1
    var recoveryPending = false
    /// The end that HEAD names but the files lack, when opened in spite of it.
    var lostEnd: JournalError?
    var isFollower = false
    /// The label in force at this handle's own last commit, and that commit.
    var ownSession: UInt64?
    var ownCommit: UInt64 = 0
    var needsSession = true
    /// Whether the files may no longer be what this handle knows of them.
    var mustReload = false
    /// Whether a load is under way or failed in the middle: what is here is neither to be shown nor to be gone on from.
    private(set) var isHalfLoaded = false
    /// The content of a note about a recovery, for the next commit.
    var recoveryNote: [UInt8]?
    /// The size in bytes of the live file.
    var fileSize: UInt64 = 0
    /// The commits this handle wrote, for deciding about zero-fill.
    var commitsWritten = 0
    /// Whether blocks lie in the live file that are not synced yet (relaxed commits).
    var unsynced: UnsyncedGroup?
    /// The highest number that relaxed commits may use without asking again.
    var reservedThrough: UInt64 = 0
    /// Why this handle writes no more: a sync failed.
    var poison: JournalError?
    /// Whether a segment was sealed since somebody last asked: it may be time to compact.
    var rolled = false

    private var opened: OpenSegment?
    private var headFile: (any File)?
    /// The bytes of a slot, used again for each one.
    private var headBytes = [UInt8](repeating: 0, count: HeadSlot.size)

    init(path: String, mode: JournalMode, options: JournalOptions) {
        directory = SegmentDirectory(
            path: path, fileSystem: options.fileSystem, openMax: options.openFilesMax)
        self.mode = mode
        self.options = options
    }

    /// The live segment; there is one after the first load.
    var live: OpenSegment {
        get throws(JournalError) {
            guard let opened else { throw .closed }
            return opened
        }
    }

    func setLive(_ segment: OpenSegment) { opened = segment }

    /// Lets go of all files; there is no live segment any more.
    func forgetFiles() {
        opened = nil
        headFile = nil
        lock = nil
        segments = []
        cache.removeAll()
    }

    /// Runs a body that makes all that is known of the files anew.
    func loading(_ body: () throws(JournalError) -> Void) throws(JournalError) {
        cache.removeAll()
        mustReload = true
        isHalfLoaded = true
        try body()
        isHalfLoaded = false
    }

    var segmentSize: Int {
        min(options.segmentSize ?? (mode == .exclusive ? 64 << 20 : 1 << 20), FormatLimits.segmentSizeMax)
    }

    /// The last durable commit as it is known now.
    func head() throws(JournalError) -> JournalHead {
        let (commit, session) = try live.content.withLock { ($0.lastCommit, $0.session.label) }
        return JournalHead(commit: commit, session: session, recoveryPending: recoveryPending)
    }

    /// The durable content as it is known now.
    func snapshot() throws(JournalError) -> JournalSnapshot {
        let head = try head()
        let (clock, isDamaged) = try live.content.withLock { ($0.clock, $0.damage != nil) }
        return JournalSnapshot(
            segments: segments, head: head, clock: clock,
            proven: max(head.commit, isDamaged ? slot?.lastCommit ?? 0 : 0), cache: cache,
            directory: directory)
    }

    /// The newest slot of HEAD for this journal and directory.
    func readHead(_ journal: JournalID) throws(JournalError) -> HeadSlot? {
        let bytes = try directory.headBytes()
        counter = max(counter, HeadSlot.highestCounter(bytes))
        return HeadSlot.newest(bytes, journal: journal, inode: inode)
    }

    /// Lists the segments and opens the last one.
    func openLast(writing: Bool) throws(JournalError) -> OpenSegment {
        headFile = nil
        inode = try directory.inode()
        segments = try directory.segments()
        let last = segments[segments.count - 1]
        let (file, header) = try Segment.openFile(last.path, fileSystem: options.fileSystem, writing: writing)
        guard header.number == last.name.number, header.generation == last.name.generation else {
            throw .corrupted(
                Damage(file: last.path, offset: 0, reason: "segment header belongs to another file"))
        }
        let segment = OpenSegment(path: last.path, file: file, header: header, budget: directory.budget)
        last.adopt(segment)
        opened = segment
        return segment
    }

    /// Indexes the live segment up to what a slot of HEAD proves.
    func load(_ segment: OpenSegment, through slot: HeadSlot, size: UInt64) throws(JournalError) {
        if slot.checkpoint > 0 {
            do throws(JournalError) {
                try segment.loadCheckpoints(last: slot.checkpoint)
            } catch {
                // A checkpoint only saves time; `verify` tells that it is damaged.
                guard case .corrupted = error else { throw error }
            }
        }
        try segment.scan(to: min(slot.end, size))
        try segment.takeCheckpoint(before: min(slot.end, size))
        try segment.takePadding(before: min(slot.end, size))
        let found = segment.content.withLock { content in
            if content.tail.blocks.isEmpty { content.clock = max(content.clock, slot.clock) }
            return JournalPlace(commit: content.lastCommit, file: segment.path, offset: content.end)
        }
        if size < slot.end {
            throw .lostData(
                acknowledged: JournalPlace(commit: slot.lastCommit, file: segment.path, offset: slot.end),
                found: found)
        }
        segment.content.withLock { content in
            if content.damage == nil, content.end != slot.end || content.lastCommit != slot.lastCommit {
                content.damage = Damage(
                    file: segment.path, offset: content.end, commits: content.lastCommit + 1 ... .max,
                    reason: "blocks do not end where HEAD says")
            }
        }
    }

    /// Whether nothing but a filler lies behind the last durable block.
    func isCleanEnd(_ segment: OpenSegment) throws(JournalError) -> Bool {
        fileSize = try journalErrors { () throws(FileError) in try segment.file.status() }.size
        let end = segment.content.withLock { $0.end }
        if fileSize == end { return true }
        let bytes = try segment.file.bytes(at: end, count: 8)
        return bytes.count == 8 && bytes.word32(at: 0) == LZ4Frame.fillerMagic
            && end + 8 + UInt64(bytes.word32(at: 4)) == fileSize
    }

    /// Writes the next slot of HEAD for the live segment's durable end.
    func writeHead() throws(JournalError) {
        let segment = try live
        let layout = slot?.layout ?? 1
        let slot = segment.content.withLock { content in
            HeadSlot(
                counter: counter + 1, journal: segment.header.journal, session: content.session.label,
                layout: layout, segment: segment.header.number, generation: segment.header.generation,
                end: content.end, lastCommit: content.lastCommit, chain: content.chain,
                boot: options.fileSystem.bootID(), inode: inode, clock: content.clock,
                checkpoint: content.checkpoint)
        }
        try journalErrors { () throws(FileError) in
            let file: any File
            if let headFile {
                file = headFile
            } else {
                file = try options.fileSystem.open(directory.headPath, .create)
            }
            // Nobody but an exclusive holder writes HEAD while it holds the lock.
            headFile = mode == .exclusive ? file : nil
            slot.write(into: &headBytes)
            try file.write(headBytes, at: slot.counter % 2 * UInt64(HeadSlot.size))
        }
        counter = slot.counter
        self.slot = slot
        recoveryPending = false
    }

    // MARK: - Reading without the lock

    /// Loads everything that is provably durable, without changing a file.
    func loadForReading() throws(JournalError) {
        try loading { () throws(JournalError) in try loadWhatIsProven() }
    }

    private func loadWhatIsProven() throws(JournalError) {
        var oldListings = 0
        var waits = 0
        while true {
            let pending: Bool
            do throws(JournalError) {
                pending = try loadOnceForReading()
            } catch {
                // Segments were replaced or begun between listing, opening and HEAD: look again.
                guard error.mayBeAnOldListing, oldListings < JournalError.oldListingsMax else { throw error }
                oldListings += 1
                continue
            }
            oldListings = 0
            // Whole blocks above the proof: a writer may be between its write and HEAD. Give it a moment, unless the
            // last one wrote before the machine was started.
            recoveryPending = pending
            if !pending || slot?.boot != options.fileSystem.bootID() || waits >= 40 { return }
            waits += 1
            options.pause(2500)
        }
    }

    private func loadOnceForReading() throws(JournalError) -> Bool {
        let segment = try openLast(writing: false)
        isFollower = try journalErrors { () throws(FileError) in
            try options.fileSystem.status(directory.followerPath) != nil
        }
        let slot = try readHead(segment.header.journal)
        // Only now: a writer that goes on between would look as if it had lost what HEAD already names.
        let size = try journalErrors { () throws(FileError) in try segment.file.status() }.size
        self.slot = slot
        if let slot, slot.segment > segment.header.number {
            throw .missingSegment(path: directory.path, number: slot.segment)
        }
        if let slot, slot.segment == segment.header.number {
            do throws(JournalError) {
                try load(segment, through: slot, size: size)
            } catch {
                guard case .lostData = error, options.acceptsLostEnd else { throw error }
                lostEnd = error
                return false
            }
            if slot.boot == options.fileSystem.bootID(), try isCleanEnd(segment) { return false }
        }
        return try extendByProof(segment, size: size) || slot?.boot != options.fileSystem.bootID()
    }

    /// Adds the whole blocks that later blocks prove durable.
    /// - Returns: Whether more lies behind them.
    private func extendByProof(_ segment: OpenSegment, size: UInt64) throws(JournalError) -> Bool {
        let known = segment.content.withLock { $0 }
        guard known.damage == nil else { return false }
        var scanner = FrameScanner(
            file: segment.file, salt: segment.header.salt, offset: known.end, limit: size, chain: known.chain)
        let (proven, found) = try scanner.proof(above: known.lastCommit)
        if proven > known.lastCommit { try segment.scan(to: size, through: proven) }
        return found > proven || slot == nil
    }

    /// Takes over what other processes made durable since the last look, without the lock.
    func refresh() throws(JournalError) {
        guard mode != .exclusive || lock == nil, unsynced == nil else { return }
        let segment = try live
        let newest = try readHead(segment.header.journal)
        let sameDirectory = try directory.inode() == inode
        if let slot, let newest, newest == slot, !recoveryPending, sameDirectory, !isHalfLoaded { return }
        if let slot, let newest, sameDirectory, newest.counter > slot.counter, !isHalfLoaded,
            try advance(to: newest, in: segment)
        {
            recoveryPending = false
            return
        }
        try loadForReading()
    }

    /// Indexes what a newer slot of HEAD proves in the same segment.
    /// - Returns: False if the slot is not a continuation of what is known.
    func advance(to newest: HeadSlot, in segment: OpenSegment) throws(JournalError) -> Bool {
        let end = segment.content.withLock { $0.end }
        guard newest.segment == segment.header.number, newest.generation == segment.header.generation,
            newest.end >= end, newest.layout == slot?.layout
        else { return false }
        if newest.end > end {
            try segment.scan(to: newest.end)
            try segment.takeCheckpoint(before: newest.end)
            try segment.takePadding(before: newest.end)
        }
        let matches = segment.content.withLock { content in
            content.damage == nil && content.end == newest.end && content.lastCommit == newest.lastCommit
                && content.chain == newest.chain
        }
        if matches { slot = newest }
        return matches
    }
}

/// Relaxed commits that were written but not synced.
struct UnsyncedGroup {
    var index: TailIndex
    var end: UInt64
    var chain: UInt32
    var clock: Int64
    var lastCommit: UInt64
    var newest: [EntryKey: StoredEntry]
    var lastCommits: [UInt64: UInt64]
}
