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
    func mayHold(_ fingerprint: UInt64) throws(JournalError) -> Bool {
        let (parts, isInTail) = content.withLock { ($0.parts, !$0.tail.rows(of: fingerprint).isEmpty) }
        if isInTail { return true }
        for part in parts {
            if try part.mayContain(fingerprint) { return true }
        }
        return false
    }

    /// The blocks that reach beyond a commit, in order.
    func rows(reaching commit: UInt64) throws(JournalError) -> [BlockRow] {
        let (parts, tail) = content.withLock { ($0.parts, $0.tail.blocks) }
        var rows: [BlockRow] = []
        for part in parts where part.commits.upperBound >= commit {
            for number in try part.firstBlock(reaching: commit)..<part.blockCount {
                rows.append(try part.block(number))
            }
        }
        return rows + tail.filter { $0.lastCommit >= commit }
    }

    /// Where a whole seal begins; nil if there is none, or if a crash tore the index of one that has its footer.
    func startOfSeal(size: UInt64) throws(JournalError) -> UInt64? {
        guard size >= UInt64(SegmentHeader.size + SegmentFooter.size) else { return nil }
        let bytes = try file.bytes(at: size - UInt64(SegmentFooter.size), count: SegmentFooter.size)
        guard let footer = SegmentFooter(bytes, salt: header.salt, fileSize: size) else { return nil }
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
