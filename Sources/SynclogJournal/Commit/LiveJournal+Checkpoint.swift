/// An index of what the live segment holds behind its last checkpoint, ready to be written.
struct Checkpoint {
    /// The offset of its first page.
    let place: UInt64
    /// How many of the earlier parts stay; it covers the others too.
    let kept: Int
    let frame: [UInt8]

    /// A part that covers less than this many distances of checkpoints is small.
    private static let smallDistances: UInt64 = 4
    private static let smallMax = 7

    /// How many parts a new one leaves alone.
    ///
    /// A look-up asks every part, so small ones are written once more, as one, when there are many of them. `ends` are the
    /// places where the parts end, `start` is the one where the first begins, `distance` that of two checkpoints.
    static func partsKept(_ ends: [UInt64], start: UInt64, distance: UInt64) -> Int {
        var kept = ends.count
        while kept > 0, ends[kept - 1] - (kept > 1 ? ends[kept - 2] : start) < distance * smallDistances {
            kept -= 1
        }
        return ends.count - kept < smallMax ? ends.count : kept
    }
}

/// Checkpoints of the index of the live segment.
extension LiveJournal {
    /// How many bytes of blocks go without an index: in large segments more, for so many parts fit the root page of one.
    var checkpointInterval: Int { max(options.checkpointInterval, segmentSize / 64) }

    /// The checkpoint that goes to the end of the live segment.
    func checkpoint(_ content: SegmentContent, of segment: OpenSegment) throws(JournalError) -> Checkpoint {
        var kept = Checkpoint.partsKept(
            content.parts.map(\.end), start: UInt64(SegmentHeader.size), distance: UInt64(checkpointInterval))
        var index = IndexContent()
        do throws(JournalError) {
            for part in content.parts[kept...] { index.append(try part.content()) }
        } catch {
            // A damaged part stays what it is; `verify` tells it.
            guard case .corrupted = error else { throw error }
            kept = content.parts.count
            index = IndexContent()
        }
        if index.blocks.isEmpty {
            index = IndexContent(content.tail)
        } else {
            index.append(IndexContent(content.tail))
            index.finish()
        }
        let place = content.end + 8
        let pages = IndexPages(
            index, salt: segment.header.salt, offset: place, earlier: content.parts[..<kept].map(\.offset)
        ).bytes
        return Checkpoint(
            place: place, kept: kept,
            frame: LZ4Frame.skippableHead(LZ4Frame.indexMagic, size: UInt64(pages.count)) + pages)
    }

    /// Writes a checkpoint that no group follows, so that the next process need not read the blocks behind the last one.
    ///
    /// Until HEAD names its end, it is nothing but bytes behind the last group.
    func writeCheckpoint() throws(JournalError) {
        let segment = try live
        let content = segment.content.withLock { $0 }
        let checkpoint = try checkpoint(content, of: segment)
        do {
            try segment.file.write(checkpoint.frame, at: content.end)
            let end = content.end + UInt64(checkpoint.frame.count)
            try segment.file.truncate(to: end)
            fileSize = end
        } catch {
            try rollBack(segment, to: content.end, after: error)
            throw .file(error)
        }
        do { try segment.file.syncData() } catch { throw .durabilityUnknown(error) }
        let part = try IndexPart(
            file: segment.file, salt: segment.header.salt, offset: checkpoint.place, budget: directory.budget)
        segment.content.withLock { content in
            content.take(checkpoint, part)
            content.end = part.end
        }
        try writeHead()
    }
}

extension SegmentContent {
    /// Takes a checkpoint that was written and covers the whole tail.
    mutating func take(_ checkpoint: Checkpoint, _ part: IndexPart) {
        parts = parts.prefix(checkpoint.kept) + [part]
        tail.removeAll()
        self.checkpoint = checkpoint.place
    }
}
