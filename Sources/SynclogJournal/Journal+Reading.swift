/// Reading up to the last known head; all of it blocks, none of it takes the lock.
extension Journal {
    /// Runs a body on the last known state, again on the same state from other files when compaction took some away.
    func reading<Result>(
        _ body: (JournalSnapshot) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        var snapshot = try turn.snapshot()
        var oldListings = 0
        while true {
            do throws(JournalError) {
                return try body(snapshot)
            } catch {
                guard error.mayBeAnOldListing, oldListings < JournalError.oldListingsMax else { throw error }
                oldListings += 1
                // Listing may meet a replacement of its own; the next round tries again.
                if let newer = try? snapshot.relisted() { snapshot = newer }
            }
        }
    }

    /// The commit from which on the log holds whole commits; below it superseded versions may be gone.
    public func consistentFrom() throws(JournalError) -> UInt64 {
        try reading { snapshot throws(JournalError) in try snapshot.consistentFrom() }
    }

    /// The floors by zone: a zone token below its floor is expired.
    ///
    /// Zone 0 is the walk over zones.
    public func floors() throws(JournalError) -> [UInt64: UInt64] {
        try reading { snapshot throws(JournalError) in try snapshot.floors() }
    }

    /// The leases by holder, in order of their entries.
    public func leases() throws(JournalError) -> [(holder: [UInt8], lease: Lease)] {
        try reading { snapshot throws(JournalError) in try snapshot.leases() }
    }

    /// The newest put or delete of a key up to the last known head, or nil.
    public func entry(for key: EntryKey) throws(JournalError) -> StoredEntry? {
        try reading { snapshot throws(JournalError) in try snapshot.entry(for: key) }
    }

    /// The position of the newest put or delete of a key, without copying its value.
    public func position(of key: EntryKey) throws(JournalError) -> JournalPosition? {
        try reading { snapshot throws(JournalError) in try snapshot.position(of: key) }
    }

    /// The zones with record entries after a commit, each with its last commit.
    public func zonesChanged(after commit: UInt64) throws(JournalError) -> [UInt64: UInt64] {
        try reading { snapshot throws(JournalError) in try snapshot.zonesChanged(after: commit) }
    }

    /// Reads forward from strictly after a position to the last known head.
    public func read(
        after position: JournalPosition = .start, filter: ReadFilter = .all
    ) throws(JournalError) -> JournalReader {
        try reading { snapshot throws(JournalError) in
            try JournalReader(snapshot, from: position, backward: false, filter: filter)
        }
    }

    /// Reads backward from strictly before a position, or from the last known head.
    public func readBackward(
        before position: JournalPosition? = nil, filter: ReadFilter = .all
    ) throws(JournalError) -> JournalReader {
        try reading { snapshot throws(JournalError) in
            try JournalReader(snapshot, from: position ?? .end(of: .max), backward: true, filter: filter)
        }
    }

    /// The session in force at a commit; label 0 before the first session.
    public func session(at commit: UInt64) throws(JournalError) -> SessionInfo {
        try reading { snapshot throws(JournalError) in try snapshot.session(at: commit) }
    }

    /// The sessions up to a commit, newest first, at most `limit`.
    public func sessions(through commit: UInt64, limit: Int) throws(JournalError) -> [SessionInfo] {
        try reading { snapshot throws(JournalError) in
            try sessions(through: commit, limit: limit, snapshot)
        }
    }

    private func sessions(
        through commit: UInt64, limit: Int, _ snapshot: JournalSnapshot
    ) throws(JournalError) -> [SessionInfo] {
        var sessions: [SessionInfo] = []
        var place = commit
        while sessions.count < limit, place > 0 {
            let info = try snapshot.session(at: place)
            guard info.label != 0, info.commit > 0 else { break }
            sessions.append(info)
            place = info.commit - 1
        }
        return sessions
    }

    /// Whole commits after a commit as stored blocks, up to about `sizeMax` bytes but at least one commit.
    ///
    /// With `zones`, records of other zones are left out, and the last block ends with the last commit looked at, empty
    /// if need be. Without a later commit the answer is empty.
    public func blocks(
        after commit: UInt64, zones: Set<UInt64>? = nil, sizeMax: Int
    ) throws(JournalError) -> [JournalBlock] {
        try reading { snapshot throws(JournalError) in
            try blocks(after: commit, zones: zones, sizeMax: sizeMax, snapshot)
        }
    }

    private func blocks(
        after commit: UInt64, zones: Set<UInt64>?, sizeMax: Int, _ snapshot: JournalSnapshot
    ) throws(JournalError) -> [JournalBlock] {
        guard commit < snapshot.head.commit else { return [] }
        var blocks: [JournalBlock] = []
        var size = 0
        for segment in snapshot.segments[(try snapshot.segmentIndex(of: commit + 1))...] {
            let open = try segment.open()
            if let damage = open.content.withLock({ $0.damage }) { throw .corrupted(damage) }
            let goesOn = try open.forEachRow(reaching: commit + 1) { row throws(JournalError) in
                let block = try open.stored(row)
                blocks.append(block)
                size += block.payload.count
                return size < sizeMax || !block.endsCommit
            }
            if !goesOn { break }
        }
        return try cut(blocks, after: commit, zones: zones)
    }

    /// Leaves out commits up to one, and records of other zones.
    private func cut(
        _ blocks: [JournalBlock], after commit: UInt64, zones: Set<UInt64>?
    ) throws(JournalError) -> [JournalBlock] {
        guard let first = blocks.first, let last = blocks.last else { return [] }
        if zones == nil, first.firstCommit > commit { return blocks }
        var encoder = GroupEncoder(
            start: 0, front: [], salt: 0, chain: 0, blockSize: options.blockSize, syncedThrough: 0,
            checkpoint: 0)
        guard let zones else {
            for block in blocks { try BlockCut.append(block, after: commit, to: &encoder, path: path) }
            encoder.finish()
            return encoder.journalBlocks
        }
        // Commits that lie in several blocks are joined first.
        var commits: [Commit] = []
        for block in blocks {
            for part in try BlockCut.commits(of: try BlockCut.content(of: block, path: path), path: path) {
                if commits.last?.info.number == part.info.number {
                    commits[commits.count - 1].entries += part.entries
                } else {
                    commits.append(part)
                }
            }
        }
        for var part in commits where part.info.number > commit {
            part.entries.removeAll { $0.key.zone != 0 && !zones.contains($0.key.zone) }
            part.info.zones.removeAll { !zones.contains($0.zone) }
            guard !part.entries.isEmpty || part.info.number == last.lastCommit else { continue }
            let (items, bounds) = BlockCut.encode(part)
            encoder.add(part.info, items: items, bounds: bounds)
        }
        encoder.finish()
        return encoder.journalBlocks
    }
}

extension GroupEncoder {
    /// The packed blocks in the form that is sent to others.
    var journalBlocks: [JournalBlock] {
        var start = 0
        return headers.map { header in
            start += BlockHeader.size
            defer { start += Int(header.storedSize) }
            return JournalBlock(
                rawSize: header.rawSize, firstCommit: header.firstCommit, lastCommit: header.lastCommit,
                entryCount: header.entryCount, endsCommit: header.endsCommit, checksum: header.payloadCRC,
                payload: Array(output[start..<start + Int(header.storedSize)]))
        }
    }
}
