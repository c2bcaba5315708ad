/// Sealing a segment and starting the next one. Runs under LOCK.
extension LiveJournal {
    /// The header of the segment that follows another one.
    func newHeader(after old: OpenSegment, _ content: SegmentContent) -> SegmentHeader {
        SegmentHeader(
            journal: old.header.journal, session: content.session, number: old.header.number + 1,
            firstCommit: content.lastCommit + 1, previousLast: content.lastCommit,
            previousChain: content.chain,
            previousGeneration: old.header.generation, salt: options.random(), clock: content.clock)
    }

    /// Opens a segment that was just published and makes it the live one.
    func adopt(_ name: SegmentName, writing: Bool) throws(JournalError) -> OpenSegment {
        let segment = Segment(name: name, in: directory)
        let (file, header) = try Segment.openFile(
            segment.path, fileSystem: options.fileSystem, writing: writing)
        let open = OpenSegment(path: segment.path, file: file, header: header, budget: directory.budget)
        segment.adopt(open)
        segments.last?.setSuccessor(segment)
        segments.append(segment)
        setLive(open)
        fileSize = try journalErrors { () throws(FileError) in try file.status() }.size
        return open
    }

    /// Publishes the empty segment that follows a sealed one.
    func startSegment(after old: OpenSegment) throws(JournalError) {
        let content = old.content.withLock { $0 }
        let header = newHeader(after: old, content)
        let name = SegmentName(number: header.number, generation: 0)
        try directory.publish(header.encoded(), as: name, random: options.random())
        _ = try adopt(name, writing: true)
    }

    /// Writes the index and the footer behind the last durable block, cuts off everything else, and syncs.
    func seal(_ segment: OpenSegment) throws(JournalError) {
        let content = segment.content.withLock { $0 }
        var index = IndexContent()
        for part in content.parts { index.append(try part.content()) }
        index.append(IndexContent(content.tail))
        index.finish()
        let closing = SegmentClosing(
            index: index, end: content.end, lastCommit: content.lastCommit, chain: content.chain,
            salt: segment.header.salt)
        do {
            try segment.file.truncate(to: content.end)
            try closing.write(to: segment.file)
        } catch {
            // Without room for its index the segment stays live, as it was.
            try? segment.file.truncate(to: content.end)
            throw .file(error)
        }
        do { try segment.file.syncData() } catch { throw .durabilityUnknown(error) }
        _ = try segment.loadSealed(size: closing.size)
        segment.content.withLock { $0.clock = content.clock }
    }

    /// Seals the live segment and starts the next one.
    ///
    /// When that fails, the next one may be there though this handle does not know it, and whoever comes next begins in it: so the
    /// handle looks again before it writes, or, where a sync failed, writes no more.
    private func roll(_ segment: OpenSegment) throws(JournalError) {
        do throws(JournalError) {
            try seal(segment)
            try startSegment(after: segment)
            try writeHead()
        } catch {
            mustReload = true
            if case .durabilityUnknown = error { poison = error }
            throw error
        }
    }

    /// Rolls if the live segment has reached its size.
    ///
    /// What was acknowledged is safe whether or not this succeeds, and a full disk may have room again later: it is tried again
    /// after a reload.
    func rollIfFull() throws(JournalError) {
        let segment = try live
        let (end, last) = segment.content.withLock { ($0.end, $0.lastCommit) }
        guard unsynced == nil, end >= UInt64(segmentSize), last > segment.header.previousLast else { return }
        do throws(JournalError) {
            try roll(segment)
            rolled = true
            fillBallast()
        } catch {
            if case .durabilityUnknown = error { throw error }
        }
    }

    /// Makes the ballast as large as is right for the segments there are.
    func fillBallast(orLess: Bool = false) {
        let sizes = segments.map { (try? options.fileSystem.status($0.path))?.size ?? 0 }
        Ballast(directory.path, options).fill(for: sizes.reduce(0, +), orLess: orLess)
    }

    /// Seals the live segment, if it has commits, so that it can be merged.
    func rollNow() throws(JournalError) {
        try beginWriting()
        defer { endWriting() }
        try syncRelaxed()
        let segment = try live
        guard segment.content.withLock({ $0.lastCommit }) > segment.header.previousLast else { return }
        try roll(segment)
    }
}
