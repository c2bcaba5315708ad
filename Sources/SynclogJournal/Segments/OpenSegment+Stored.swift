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
}
