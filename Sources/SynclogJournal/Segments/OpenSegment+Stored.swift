extension OpenSegment {
    /// Reads a block as it is stored, with its checksum checked.
    func stored(_ row: BlockRow) throws(JournalError) -> JournalBlock {
        let bytes = try file.bytes(at: row.offset, count: BlockHeader.size + Int(row.storedSize))
        guard bytes.count == BlockHeader.size + Int(row.storedSize),
            let block = BlockHeader(bytes.span, at: 0, salt: header.salt, offset: row.offset),
            block.storedSize == row.storedSize,
            bytes.crc(BlockHeader.size..<bytes.count) == block.payloadCRC
        else {
            throw .corrupted(
                Damage(
                    file: path, offset: row.offset, commits: row.firstCommit...row.lastCommit,
                    reason: "block does not match its checksum"))
        }
        return JournalBlock(
            rawSize: block.rawSize, firstCommit: block.firstCommit, lastCommit: block.lastCommit,
            entryCount: block.entryCount, endsCommit: block.endsCommit, checksum: block.payloadCRC,
            payload: Array(bytes[BlockHeader.size...]))
    }

    /// Whether a key with a fingerprint may be in this segment.
    func mayHold(_ probe: KeyProbe) throws(JournalError) -> Bool {
        let (parts, isInTail) = content.withLock { ($0.parts, !$0.tail.rows(of: probe.fingerprint).isEmpty) }
        if isInTail { return true }
        for part in parts {
            if try part.mayContain(probe) { return true }
        }
        return false
    }

    /// Calls the body with each block that reaches a commit or lies behind it, in order, until it returns false.
    /// - Returns: Whether it never did.
    @discardableResult
    func forEachRow(
        reaching commit: UInt64, _ body: (BlockRow) throws(JournalError) -> Bool
    ) throws(JournalError) -> Bool {
        let (parts, tail) = content.withLock { ($0.parts, $0.tail.blocks) }
        for part in parts where part.commits.upperBound >= commit {
            for number in try part.firstBlock(reaching: commit)..<part.blockCount {
                guard try body(try part.block(number)) else { return false }
            }
        }
        for row in tail where row.lastCommit >= commit {
            guard try body(row) else { return false }
        }
        return true
    }

    /// Where a whole seal begins; nil if there is none, or if a crash tore the index of one that has its footer.
    func startOfSeal(size: UInt64) throws(JournalError) -> UInt64? {
        guard let footer = try SegmentFooter.read(from: file, size: size, salt: header.salt) else {
            return nil
        }
        var scanner = FrameScanner(
            file: file, salt: header.salt, offset: footer.blocksEnd, limit: size, chain: footer.chain)
        scanning: while true {
            switch try scanner.next() {
            case .filler, .index, .footer: continue
            case .end: break scanning
            case .block, .damaged: return nil
            }
        }
        do throws(JournalError) {
            try IndexPart(
                file: file, salt: header.salt, offset: footer.indexOffset, root: footer.root, budget: budget
            ).verify()
        } catch {
            guard case .corrupted = error else { throw error }
            return nil
        }
        return footer.blocksEnd
    }
}
