/// Packs the commits of a group into blocks, ready to be written in one piece.
struct GroupEncoder {
    /// The bytes of all blocks so far, the open one not included.
    private(set) var output: [UInt8] = []
    /// The headers of all blocks so far.
    private(set) var headers: [BlockHeader] = []
    /// The index of all blocks so far.
    private(set) var index = TailIndex()
    /// The place of the first byte of `output`.
    private var start: UInt64
    private let salt: UInt64
    private let blockSize: Int
    private let syncedThrough: UInt64
    private let checkpoint: UInt64
    private let effort: LZ4Frame.Effort
    /// The checksum of the last block header.
    private(set) var chain: UInt32
    // The open block.
    private var raw = CBORWriter()
    private var entryCount: UInt32 = 0
    private var firstCommit: UInt64 = 0
    private var lastCommit: UInt64 = 0

    /// Begins a group at an offset; `front` are bytes that go before the first block.
    init(
        start: UInt64, front: [UInt8], salt: UInt64, chain: UInt32, blockSize: Int, syncedThrough: UInt64,
        checkpoint: UInt64, effort: LZ4Frame.Effort = .low
    ) {
        self.start = start
        self.salt = salt
        self.chain = chain
        self.blockSize = blockSize
        self.syncedThrough = syncedThrough
        self.checkpoint = checkpoint
        self.effort = effort
        output = front
        raw.bytes.reserveCapacity(blockSize + 1024)
    }

    /// Adds a commit whose entry items lie in `items`, cut at `bounds` (the end of each); `continued` says that the
    /// rest of it comes with the next block.
    mutating func add(_ info: CommitInfo, items: [UInt8], bounds: [Int], continued: Bool = false) {
        if !raw.bytes.isEmpty, raw.bytes.count + items.count > blockSize { closeBlock(endsCommit: true) }
        var next = 0
        repeat {
            if raw.bytes.isEmpty { firstCommit = info.number }
            let flags = raw.commit(info)
            lastCommit = info.number
            let first = next
            var begin = first == 0 ? 0 : bounds[first - 1]
            while next < bounds.count {
                let size = bounds[next] - begin
                if next > first, raw.bytes.count + size > blockSize { break }
                raw.bytes += items[begin..<bounds[next]]
                begin = bounds[next]
                entryCount += 1
                next += 1
            }
            if next < bounds.count || continued {
                raw.bytes[flags] = 1
                closeBlock(endsCommit: false)
            }
        } while next < bounds.count
    }

    /// Adds a block as another journal stored it; `content` is what its payload decodes to.
    mutating func add(_ block: JournalBlock, raw content: Span<UInt8>) throws(CBORError) {
        if !raw.bytes.isEmpty { closeBlock(endsCommit: true) }
        let place = beginBlock()
        output += block.payload
        try endBlock(
            at: place, raw: content, first: block.firstCommit, last: block.lastCommit,
            entries: block.entryCount, endsCommit: block.endsCommit, payloadCRC: block.checksum)
    }

    private mutating func closeBlock(endsCommit: Bool) {
        let place = beginBlock()
        LZ4Frame.compress(raw.bytes, effort, into: &output)
        let checksum = output.crc(place + BlockHeader.size..<output.count)
        var content: [UInt8] = []
        swap(&content, &raw.bytes)
        do throws(CBORError) {
            try endBlock(
                at: place, raw: content.span, first: firstCommit, last: lastCommit, entries: entryCount,
                endsCommit: endsCommit, payloadCRC: checksum)
        } catch {
            preconditionFailure("a block that was just packed holds no valid entries")
        }
        swap(&content, &raw.bytes)
        raw.bytes.removeAll(keepingCapacity: true)
        entryCount = 0
    }

    /// Makes room for a header.
    private mutating func beginBlock() -> Int {
        output.append(contentsOf: repeatElement(0, count: BlockHeader.size))
        return output.count - BlockHeader.size
    }

    /// Fills in the header of the payload that was put behind its room.
    private mutating func endBlock(
        at place: Int, raw content: Span<UInt8>, first: UInt64, last: UInt64, entries: UInt32,
        endsCommit: Bool, payloadCRC: UInt32
    ) throws(CBORError) {
        let offset = start + UInt64(place)
        let header = BlockHeader(
            storedSize: UInt32(output.count - place - BlockHeader.size), rawSize: UInt32(content.count),
            firstCommit: first, lastCommit: last, entryCount: entries, endsCommit: endsCommit,
            payloadCRC: payloadCRC, syncedThrough: syncedThrough, previousCRC: chain,
            checkpoint: UInt32(truncatingIfNeeded: checkpoint))
        chain = header.write(into: &output, at: place, salt: salt, offset: offset)
        headers.append(header)
        try index.add(header, at: offset, raw: content)
    }

    /// Hands over the bytes so far, for groups that are too large to be held.
    mutating func drain() -> [UInt8] {
        defer {
            start += UInt64(output.count)
            output.removeAll(keepingCapacity: true)
            headers.removeAll(keepingCapacity: true)
        }
        return output
    }

    /// Gives the index away instead of copying it.
    mutating func takeIndex() -> TailIndex {
        defer { index = TailIndex() }
        return index
    }

    /// Closes the open block.
    mutating func finish() {
        if !raw.bytes.isEmpty { closeBlock(endsCommit: true) }
    }

    /// Pads the group after its last block.
    mutating func pad() { output += LZ4Frame.padding(after: start + UInt64(output.count)) }

    /// Begins a filler after the last block, over bytes that are in the file already.
    mutating func beginFiller(size: UInt64) {
        output.appendWord32(LZ4Frame.fillerMagic)
        output.appendWord32(UInt32(size))
    }

    /// The size in bytes so far.
    var size: Int { output.count + raw.bytes.count }
    var isEmpty: Bool { headers.isEmpty && raw.bytes.isEmpty }
}
