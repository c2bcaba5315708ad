/// Writing groups of commits: decide, pack, write, sync, HEAD, acknowledge.
extension LiveJournal {
    /// A group stops growing at this size in bytes; what is left over forms the next one.
    private static let groupSizeMax = 1 << 20
    private static let zeroFillAfterCommits = 8
    /// Relaxed commits get this many numbers at a time.
    private static let reserveStep: UInt64 = 10_000

    /// Takes the lock, if it is not kept, and catches up; the journal may then be written.
    func beginWriting() throws(JournalError) {
        guard mode != .readOnly else { throw .readOnly(path: directory.path) }
        if let poison { throw poison }
        if let lock, lock.isHeld {
            if mustReload { try loadForWriting() }
            return
        }
        let lock: DirectoryLock
        if let existing = self.lock {
            lock = existing
        } else {
            lock = try DirectoryLock(directory: directory.path, options: options)
            self.lock = lock
        }
        let same = try lock.take(exclusive: mode == .exclusive, timeout: options.lockTimeout)
        do {
            if !same { needsSession = true }
            try catchUp()
        } catch {
            lock.release()
            throw error
        }
    }

    /// Gives the lock back, unless it is kept.
    func endWriting() {
        if mode != .exclusive { lock?.release() }
    }

    private func catchUp() throws(JournalError) {
        if !mustReload, let slot, let segment = try? live, try directory.inode() == inode,
            let newest = try readHead(segment.header.journal), try continues(slot, newest, segment),
            try isCleanEnd(segment), try !hasSuccessor(segment)
        {
            nextNumber = max(nextNumber, segment.content.withLock { $0.lastCommit } + 1)
            return
        }
        if slot != nil, try directory.inode() != inode { needsSession = true }
        try loadForWriting()
    }

    /// Whether HEAD is as it was, or a continuation, which is then taken over.
    private func continues(
        _ slot: HeadSlot, _ newest: HeadSlot, _ segment: OpenSegment
    ) throws(JournalError) -> Bool {
        if newest == slot { return true }
        return newest.counter > slot.counter ? try advance(to: newest, in: segment) : false
    }

    private func hasSuccessor(_ segment: OpenSegment) throws(JournalError) -> Bool {
        let name = SegmentName(number: segment.header.number + 1, generation: 0)
        return try journalErrors { () throws(FileError) in
            try options.fileSystem.status(directory.path + "/" + name.text) != nil
        }
    }

    /// Makes one group of the requests: all that want to be durable are when their `finish` is called.
    /// - Returns: Those that did not fit.
    func run(_ requests: [CommitRequest]) -> [CommitRequest] {
        var finished: [(CommitRequest, CommitInfo?)] = []
        var next = 0
        do throws(JournalError) {
            try beginWriting()
            defer { endWriting() }
            if isFollower { throw .isFollower(path: directory.path) }
            if requests.contains(where: \.relaxed) { try reserve(requests.count) }
            let segment = try live
            let state = try groupState(keepsNewest: requests.count > 1 || requests[0].relaxed)
            var group = try beginGroup()
            while next < requests.count, group.size < Self.groupSizeMax {
                let request = requests[next]
                next += 1
                do throws(JournalError) {
                    finished.append((request, try decide(request, state, &group)))
                } catch {
                    request.finish(.failure(error))
                }
            }
            group.encoder.finish()
            let sync = !requests.allSatisfy(\.relaxed) || unsyncedIsLarge(segment)
            if !group.encoder.isEmpty || unsynced != nil && sync {
                try write(&group, in: segment, sync: sync, state)
            }
            let head = try head()
            for (request, info) in finished { request.finish(.success(.init(commit: info, head: head))) }
            finished = []
            try rollIfFull()
        } catch {
            let failure = error
            needsSession = true
            for (request, _) in finished { request.finish(.failure(failure)) }
            for request in requests[next...] { request.finish(.failure(failure)) }
            if case .durabilityUnknown = failure { poison = failure }
            return []
        }
        return Array(requests[next...])
    }

    /// Whether so much is unsynced that keeping it in memory costs more than a sync.
    private func unsyncedIsLarge(_ segment: OpenSegment) -> Bool {
        guard let unsynced else { return false }
        let (end, last) = segment.content.withLock { ($0.end, $0.lastCommit) }
        return unsynced.lastCommit - last >= 1000 || unsynced.end - end >= UInt64(Self.groupSizeMax)
    }

    private struct Group {
        var encoder: GroupEncoder
        /// An index checkpoint that goes before the blocks.
        var checkpoint: Checkpoint?
        var lastCommit: UInt64
        var clock: Int64
        var putsRecords = false

        /// The size in bytes of the blocks.
        var size: Int { encoder.size - (checkpoint?.frame.count ?? 0) }
    }

    private func groupState(keepsNewest: Bool) throws(JournalError) -> GroupState {
        let state = GroupState(
            snapshot: try snapshot(), random: options.random, keepsNewest: keepsNewest || unsynced != nil)
        if let unsynced {
            state.newest = unsynced.newest
            state.lastCommits = unsynced.lastCommits
        }
        return state
    }

    private func beginGroup() throws(JournalError) -> Group {
        let segment = try live
        let content = segment.content.withLock { $0 }
        var checkpoint: Checkpoint?
        if unsynced == nil, content.tail.storedSize >= UInt64(checkpointInterval) {
            checkpoint = try self.checkpoint(content, of: segment)
        }
        return Group(
            encoder: GroupEncoder(
                start: unsynced?.end ?? content.end, front: checkpoint?.frame ?? [],
                salt: segment.header.salt,
                chain: unsynced?.chain ?? content.chain, blockSize: options.blockSize,
                syncedThrough: content.lastCommit, checkpoint: checkpoint?.place ?? content.checkpoint),
            checkpoint: checkpoint, lastCommit: unsynced?.lastCommit ?? content.lastCommit,
            clock: unsynced?.clock ?? content.clock)
    }

    /// Runs one request's closure and packs its entries.
    private func decide(
        _ request: CommitRequest, _ state: GroupState, _ group: inout Group
    ) throws(JournalError) -> CommitInfo? {
        let wall = options.wallClock()
        var transaction = CommitTransaction(
            number: nextNumber, previous: group.lastCommit, clock: max(wall, group.clock + 1), wall: wall,
            state: state)
        try request.decide(&transaction)
        guard transaction.count > 0 else { return nil }
        if let note = recoveryNote {
            try transaction.note(EntryKey(space: .state, name: Array("recovery".utf8)), value: note)
        }
        if needsSession {
            let fresh = options.random() | 1
            let name = (0..<8).map { UInt8(truncatingIfNeeded: fresh >> UInt64(56 - $0 * 8)) }
            try transaction.put(EntryKey(space: .session, name: name), value: [0x80])
        }
        var zones: [ZoneLink] = []
        for zone in transaction.zones {
            zones.append(ZoneLink(zone: zone, previous: try transaction.lastCommit(ofZone: zone)))
        }
        let info = CommitInfo(
            number: transaction.number, clock: transaction.clock, wall: wall, device: request.device,
            zones: zones)
        group.encoder.add(info, items: transaction.items.bytes, bounds: transaction.bounds)
        state.include(transaction, as: info)
        group.lastCommit = info.number
        group.clock = info.clock
        if transaction.putsRecords { group.putsRecords = true }
        nextNumber = info.number + 1
        recoveryNote = nil
        needsSession = false
        return info
    }

    /// Writes a group behind the end and makes it durable, or leaves it for the next sync.
    private func write(
        _ group: inout Group, in segment: OpenSegment, sync: Bool, _ state: GroupState
    ) throws(JournalError) {
        let start = unsynced?.end ?? segment.content.withLock { $0.end }
        if options.padsGroups { group.encoder.pad() }
        let end = start + UInt64(group.encoder.output.count)
        do throws(FileError) {
            try zeroFill(segment, from: end, behind: end - start)
            if fileSize > end {
                group.encoder.beginFiller(size: max(fileSize, end + 8) - end - 8)
            }
            do throws(FileError) {
                try segment.file.write(group.encoder.output, at: start)
            } catch {
                let ballast = Ballast(directory.path, options)
                guard error.isOutOfSpace, !group.putsRecords, ballast.release(for: group.encoder.output.count)
                else { throw error }
                try segment.file.write(group.encoder.output, at: start)
            }
            fileSize = max(fileSize, start + UInt64(group.encoder.output.count))
        } catch {
            try rollBack(segment, to: start, after: error)
            throw .file(error)
        }
        var index = group.encoder.index
        if var earlier = unsynced?.index {
            earlier.append(index)
            index = earlier
        }
        guard sync else {
            unsynced = UnsyncedGroup(
                index: index, end: end, chain: group.encoder.chain, clock: group.clock,
                lastCommit: group.lastCommit, newest: state.newest, lastCommits: state.lastCommits)
            return
        }
        do { try segment.file.syncData() } catch { throw .durabilityUnknown(error) }
        unsynced = nil
        try include(index, group, end: end, in: segment)
        do throws(JournalError) {
            try writeHead()
        } catch {
            guard case .file(let failure) = error else { throw error }
            throw .durabilityUnknown(failure)
        }
    }

    /// Takes durable blocks into the index.
    private func include(
        _ index: TailIndex, _ group: Group, end: UInt64, in segment: OpenSegment
    ) throws(JournalError) {
        var part: IndexPart?
        if let checkpoint = group.checkpoint {
            part = try IndexPart(
                file: segment.file, salt: segment.header.salt, offset: checkpoint.place,
                budget: directory.budget)
        }
        let (session, last) = segment.content.withLock { content in
            if let part, let checkpoint = group.checkpoint { content.take(checkpoint, part) }
            content.append(index, chain: group.encoder.chain)
            content.end = end
            return (content.session.label, content.lastCommit)
        }
        commitsWritten += index.blocks.count
        ownSession = session
        ownCommit = last
    }

    /// After a failed write: the file ends where it did, or nothing more is written.
    func rollBack(_ segment: OpenSegment, to end: UInt64, after error: FileError) throws(JournalError) {
        do {
            try segment.file.truncate(to: end)
            fileSize = end
        } catch {
            throw .durabilityUnknown(error)
        }
        // Their numbers are not used again, and the session's label has to be written again.
        if unsynced == nil { needsSession = true }
    }

    /// Writes zeros ahead of the write point, so that later syncs need not change the file's size.
    ///
    /// Not behind a group so large that hardly another of its size would fit: there the zeros cost more than they save.
    private func zeroFill(_ segment: OpenSegment, from end: UInt64, behind size: UInt64) throws(FileError) {
        guard commitsWritten >= Self.zeroFillAfterCommits, end + 8 > fileSize, end < UInt64(segmentSize),
            size <= options.zeroFillSize / 4
        else {
            return
        }
        let zeros = [UInt8](repeating: 0, count: Int(options.zeroFillSize))
        do {
            try segment.file.write(zeros, at: end)
            fileSize = end + options.zeroFillSize
        } catch {
            // No room to be generous; the group itself may still fit.
            try segment.file.truncate(to: fileSize)
        }
    }

    /// Makes sure that relaxed commits have numbers that no later open hands out again.
    private func reserve(_ count: Int) throws(JournalError) {
        guard mode == .exclusive else { throw .relaxedNeedsExclusive }
        guard options.rules.reservesNumbers else { return }
        while nextNumber + UInt64(count) > reservedThrough {
            // One more for the commit that makes the reservation.
            let through = nextNumber + max(Self.reserveStep, UInt64(count) + 1)
            var value = CBORWriter()
            value.unsigned(through)
            let bytes = value.bytes
            let request = CommitRequest { transaction throws(JournalError) in
                try transaction.put(EntryKey(space: .reserve, name: []), value: bytes)
            }
            _ = run([request])
            if case .failure(let error) = request.outcome { throw error }
            reservedThrough = through
            // If the roll behind it failed this handle has to look again; then numbers go on above the reservation.
            try beginWriting()
        }
    }

    /// Syncs relaxed commits.
    func syncRelaxed() throws(JournalError) {
        guard unsynced != nil else { return }
        let state = try groupState(keepsNewest: false)
        var group = try beginGroup()
        do throws(JournalError) {
            try write(&group, in: try live, sync: true, state)
        } catch {
            if case .durabilityUnknown = error { poison = error }
            throw error
        }
    }

    /// Appends blocks of another journal; the follower's own head says what it has already.
    func append(_ incoming: [JournalBlock]) throws(JournalError) {
        try beginWriting()
        defer { endWriting() }
        guard isFollower else { throw .readOnly(path: directory.path) }
        let state = try groupState(keepsNewest: false)
        var group = try beginGroup()
        group.putsRecords = true
        let head = group.lastCommit
        for block in incoming where block.lastCommit > head {
            try BlockCut.append(block, after: head, to: &group.encoder, path: directory.path)
        }
        group.encoder.finish()
        guard !group.encoder.isEmpty else { return }
        do throws(JournalError) {
            try write(&group, in: try live, sync: true, state)
            try rollIfFull()
        } catch {
            if case .durabilityUnknown = error { poison = error }
            throw error
        }
    }
}
