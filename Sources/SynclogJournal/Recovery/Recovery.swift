/// Opening for writing: the scan above HEAD, the verdict, and what follows from it. Runs under LOCK.
extension LiveJournal {
    /// Loads the journal for writing and brings its end in order.
    func loadForWriting() throws(JournalError) {
        try loading { () throws(JournalError) in try loadAndRecover() }
        mustReload = false
    }

    private func loadAndRecover() throws(JournalError) {
        recoveryPending = false
        let segment = try openLast(writing: true)
        let size = try journalErrors { () throws(FileError) in try segment.file.status() }.size
        let fileSystem = options.fileSystem
        isFollower = try journalErrors { () throws(FileError) in
            try fileSystem.status(directory.followerPath) != nil
        }
        slot = try readHead(segment.header.journal)
        if let slot {
            if slot.segment > segment.header.number {
                throw .missingSegment(path: directory.path, number: slot.segment)
            }
            if slot.segment == segment.header.number {
                try load(segment, through: slot, size: size)
                if let damage = segment.content.withLock({ $0.damage }) { throw .corrupted(damage) }
            }
        }
        // After a restart of the machine a filler may cover a group of which the first sector never reached the disk.
        if let slot, slot.segment == segment.header.number, slot.boot == options.fileSystem.bootID(),
            try isCleanEnd(segment)
        {
            nextNumber = segment.content.withLock { $0.lastCommit } + 1
        } else {
            // Whoever published the segment may have been killed before its name was durable.
            if slot?.segment != segment.header.number { try directory.syncNames() }
            try recover(segment, size: size)
        }
        try continueNumbers()
        try checkContinuity()
    }

    /// Whether this handle's own last commit is still what it was; otherwise a new session begins.
    private func checkContinuity() throws(JournalError) {
        guard let ownSession, ownCommit > 0 else { return }
        let snapshot = try snapshot()
        guard ownCommit <= snapshot.head.commit, try snapshot.session(at: ownCommit).label == ownSession
        else {
            needsSession = true
            return
        }
    }

    /// Numbers go on above what relaxed commits may have used.
    private func continueNumbers() throws(JournalError) {
        guard let entry = try snapshot().entry(for: EntryKey(space: .reserve, name: [])) else { return }
        var reader = CBORReader(entry.entry.value)
        guard let reserved = try? reader.unsigned(), reserved <= FormatLimits.numberMax else { return }
        nextNumber = max(nextNumber, reserved + 1)
    }

    private struct Block {
        var header: BlockHeader
        var raw: [UInt8]
        var offset: UInt64
    }

    private struct Tail {
        var blocks: [Block] = []
        /// The number of blocks up to the end of the last whole commit.
        var whole = 0
        var wholeEnd: UInt64
        var findings: TailFindings
    }

    private func scanTail(_ segment: OpenSegment, size: UInt64) throws(JournalError) -> Tail {
        let known = segment.content.withLock { $0 }
        var scanner = FrameScanner(
            file: segment.file, salt: segment.header.salt, offset: known.end, limit: size, chain: known.chain)
        scanner.checksPayloads = options.rules.checksPayloads
        var tail = Tail(
            wholeEnd: known.end,
            findings: TailFindings(
                proven: known.lastCommit, wholeThrough: known.lastCommit, highestSeen: known.lastCommit))
        scanning: while true {
            switch try scanner.next() {
            case .block(let header, let raw):
                tail.findings.proven = max(tail.findings.proven, header.syncedThrough)
                tail.findings.highestSeen = max(tail.findings.highestSeen, header.lastCommit)
                tail.blocks.append(Block(header: header, raw: raw, offset: scanner.frameOffset))
                if header.endsCommit {
                    tail.whole = tail.blocks.count
                    tail.wholeEnd = scanner.offset
                    tail.findings.wholeThrough = header.lastCommit
                }
            case .footer(let footer):
                tail.findings.proven = max(tail.findings.proven, footer.lastCommit)
            case .index: continue
            case .filler:
                // Of a group that was torn the first sector may be missing: then the old filler covers the rest of it.
                guard let found = try scanner.findHeader(from: scanner.frameOffset + 8),
                    found.offset < scanner.offset
                else { continue }
                tail.findings.damage = (tail.wholeEnd, "a filler covers blocks")
                try noteHeaders(&scanner, from: scanner.frameOffset + 8, &tail.findings)
                break scanning
            case .end: break scanning
            case .damaged(let reason):
                tail.findings.damage = (tail.wholeEnd, reason)
                // The header right there may be whole though its payload is not: its number is taken too.
                try noteHeaders(&scanner, from: scanner.offset, &tail.findings)
                break scanning
            }
        }
        if tail.whole < tail.blocks.count, tail.findings.damage == nil {
            tail.findings.damage = (tail.wholeEnd, "commit is not whole")
        }
        return tail
    }

    /// Takes what block headers from a place on prove, and the numbers that they name.
    private func noteHeaders(
        _ scanner: inout FrameScanner, from place: UInt64, _ findings: inout TailFindings
    ) throws(JournalError) {
        var next = try scanner.findHeader(from: place)
        while let found = next {
            findings.proven = max(findings.proven, found.header.syncedThrough)
            findings.highestSeen = max(findings.highestSeen, found.header.lastCommit)
            next = try scanner.findHeader(from: found.offset + 1)
        }
    }

    private func recover(_ segment: OpenSegment, size: UInt64) throws(JournalError) {
        let rules = options.rules
        let limit = rules.scansBeyondHead || slot == nil ? size : segment.content.withLock { $0.end }
        let tail = try scanTail(segment, size: limit)
        let verdict = TailVerdict(tail.findings)
        if case .corrupted(let offset, let commits, let reason) = verdict {
            throw .corrupted(Damage(file: segment.path, offset: offset, commits: commits, reason: reason))
        }
        let whole = tail.blocks.prefix(rules.dropsTornTails ? tail.whole : tail.blocks.count)
        let inPlace = rules.movesSurvivors && rules.copiesSurvivors ? tail.findings.proven : .max
        for block in whole where block.header.lastCommit <= inPlace {
            let valid = segment.content.withLock { content in
                content.add(block.header, raw: block.raw, offset: block.offset)
            }
            if !valid { throw damaged(segment, block) }
        }
        if options.padsGroups { try segment.takePadding(before: limit) }
        let survivors = whole.filter { $0.header.lastCommit > inPlace }
        if verdict == .torn, rules.dropsTornTails { try dropTorn(segment, from: tail.wholeEnd, size: size) }
        let seenBefore = try sealPredecessor()
        if !survivors.isEmpty {
            try moveSurvivors(survivors, of: segment)
            recoveryNote = recoveryNote ?? note("survivors", segment.header.number, tail.wholeEnd, 0)
        } else if verdict == .clean, try confirmSeal(segment, size: size) {
            // The segment was sealed, but its successor was not published.
            guard try segment.loadSealed(size: size) else { throw .closed }
            try startSegment(after: segment)
        } else {
            let end = segment.content.withLock { $0.end }
            try journalErrors { () throws(FileError) in try segment.file.truncate(to: end) }
            fileSize = end
            if !rules.copiesSurvivors {
                try journalErrors { () throws(FileError) in try segment.file.syncData() }
            }
        }
        let lastCommit = try live.content.withLock { $0.lastCommit }
        nextNumber =
            max(
                rules.numbersAboveDropped ? max(tail.findings.highestSeen, seenBefore) : 0, lastCommit) + 1
        try sweepDrafts()
        try writeHead()
    }

    private func damaged(_ segment: OpenSegment, _ block: Block) -> JournalError {
        .corrupted(
            Damage(
                file: segment.path, offset: block.offset,
                commits: block.header.firstCommit...block.header.lastCommit,
                reason: "block holds no valid entries"))
    }

    private func note(_ what: String, _ segment: UInt64, _ offset: UInt64, _ size: UInt64) -> [UInt8] {
        var value = CBORWriter()
        value.array(4)
        value.text(what)
        value.unsigned(segment)
        value.unsigned(offset)
        value.unsigned(size)
        return value.bytes
    }

    /// Keeps the bytes of a torn tail aside, unless they are zeros.
    private func dropTorn(_ segment: OpenSegment, from offset: UInt64, size: UInt64) throws(JournalError) {
        var bytes = try segment.file.bytes(at: offset, count: Int(min(size - offset, 1 << 30)))
        while bytes.last == 0 { bytes.removeLast() }
        guard !bytes.isEmpty else { return }
        let name = SegmentName(number: segment.header.number, generation: segment.header.generation)
        try directory.keepAside(bytes, of: name, offset: offset)
        recoveryNote = note("torn", segment.header.number, offset, UInt64(bytes.count))
    }

    /// Copies whole commits that were never surely synced to a segment of their own, then cuts and seals the old one.
    private func moveSurvivors(_ survivors: [Block], of old: OpenSegment) throws(JournalError) {
        let content = old.content.withLock { $0 }
        let header = newHeader(after: old, content)
        var encoder = GroupEncoder(
            start: 0, front: header.encoded(), salt: header.salt, chain: header.chainStart,
            blockSize: options.blockSize,
            syncedThrough: content.lastCommit, checkpoint: 0)
        for block in survivors {
            let stored = try old.stored(BlockRow(block.header, at: block.offset))
            do throws(CBORError) {
                try encoder.add(stored, raw: block.raw.span)
            } catch {
                throw damaged(old, block)
            }
        }
        let name = SegmentName(number: header.number, generation: 0)
        let size = UInt64(encoder.output.count)
        let padding = options.padsGroups ? LZ4Frame.padding(after: size) : []
        try directory.publish(encoder.output + padding, as: name, random: options.random())
        let fresh = try adopt(name, writing: true)
        fresh.content.withLock {
            $0.append(encoder.index, chain: encoder.chain)
            $0.end = size + UInt64(padding.count)
        }
        try seal(old)
    }

    /// A crash between publishing a segment and HEAD may have left the one before unsealed, its seal torn or never synced.
    /// - Returns: The highest number in what is cut off there; the recovery that was cut short had seen it.
    private func sealPredecessor() throws(JournalError) -> UInt64 {
        guard segments.count >= 2, try slot?.segment != live.header.number else { return 0 }
        let previous = segments[segments.count - 2]
        let limit = try live.header.previousLast
        let (file, header) = try Segment.openFile(
            previous.path, fileSystem: options.fileSystem, writing: true)
        guard header.number == previous.name.number, header.generation == previous.name.generation else {
            throw .corrupted(
                Damage(file: previous.path, offset: 0, reason: "segment header belongs to another file"))
        }
        let open = OpenSegment(path: previous.path, file: file, header: header, budget: directory.budget)
        let size = try journalErrors { () throws(FileError) in try file.status() }.size
        let isSealed = try confirmSeal(open, size: size)
        if isSealed {
            _ = try open.loadSealed(size: size)
        } else {
            try open.scan(to: size, through: limit)
        }
        open.expectEnd(before: try live.header)
        if let damage = open.content.withLock({ $0.damage }) { throw .corrupted(damage) }
        if isSealed { return 0 }
        if options.padsGroups { try open.takePadding(before: size) }
        var findings = TailFindings(proven: limit, wholeThrough: limit, highestSeen: limit)
        let end = open.content.withLock { $0.end }
        var scanner = FrameScanner(
            file: file, salt: header.salt, offset: end, limit: size, chain: 0)
        try noteHeaders(&scanner, from: end, &findings)
        try seal(open)
        return findings.highestSeen
    }

    /// Makes a whole seal durable.
    ///
    /// What is there may never have been synced, or a sync of it failed, and only what this process writes and syncs itself is
    /// known to be on the disk. The bytes stay as they are, for the file may have a name elsewhere.
    /// - Returns: False if there is no whole seal.
    private func confirmSeal(_ segment: OpenSegment, size: UInt64) throws(JournalError) -> Bool {
        guard let start = try segment.startOfSeal(size: size) else { return false }
        let bytes = try segment.file.bytes(at: start, count: Int(size - start))
        try journalErrors { () throws(FileError) in try segment.file.write(bytes, at: start) }
        do { try segment.file.syncData() } catch { throw .durabilityUnknown(error) }
        return true
    }

    /// Removes what crashed processes left in `tmp`, if nobody compacts.
    private func sweepDrafts() throws(JournalError) {
        let folder = directory.path + "/tmp"
        let fileSystem = options.fileSystem
        try journalErrors { () throws(FileError) in
            guard try fileSystem.status(folder) != nil else { return }
            let names = try fileSystem.list(folder)
            guard !names.isEmpty else { return }
            let compact = try fileSystem.open(directory.path + "/COMPACT", .create)
            guard try compact.tryLock() else { return }
            defer { compact.unlock() }
            for name in names.sorted() { try fileSystem.remove(folder + "/" + name) }
        }
    }
}
