/// Packs the commits of a group into blocks, ready to be written in one piece.
struct GroupEncoder {
    /// A block that was packed.
    struct Block {
        var header: BlockHeader
        var raw: [UInt8]
        var offset: UInt64
    }

    /// The bytes of all blocks so far, the open one not included.
    private(set) var output: [UInt8] = []
    private(set) var blocks: [Block] = []
    /// The place of the first byte of `output`.
    private var start: UInt64
    private let salt: UInt64
    private let blockSize: Int
    private let syncedThrough: UInt64
    private let checkpoint: UInt64
    private var chain: UInt32
    // The open block.
    private var raw = CBORWriter()
    private var entryCount: UInt32 = 0
    private var firstCommit: UInt64 = 0
    private var lastCommit: UInt64 = 0

    /// Begins a group at an offset; `front` are bytes that go before the first block.
    init(
        start: UInt64, front: [UInt8], salt: UInt64, chain: UInt32, blockSize: Int, syncedThrough: UInt64,
        checkpoint: UInt64
    ) {
        self.start = start
        self.salt = salt
        self.chain = chain
        self.blockSize = blockSize
        self.syncedThrough = syncedThrough
        self.checkpoint = checkpoint
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

    /// Adds a block as another journal stored it; `raw` is its content.
    mutating func add(_ block: JournalBlock, raw content: [UInt8]) {
        if !raw.bytes.isEmpty { closeBlock(endsCommit: true) }
        append(
            block.payload, raw: content, first: block.firstCommit, last: block.lastCommit,
            entries: block.entryCount, endsCommit: block.endsCommit, payloadCRC: block.checksum)
    }

    private mutating func closeBlock(endsCommit: Bool) {
        var frame: [UInt8] = []
        frame.reserveCapacity(raw.bytes.count)
        LZ4Frame.compress(raw.bytes, into: &frame)
        append(
            frame, raw: raw.bytes, first: firstCommit, last: lastCommit, entries: entryCount,
            endsCommit: endsCommit, payloadCRC: crc32c(frame))
        raw.bytes.removeAll(keepingCapacity: true)
        entryCount = 0
    }

    private mutating func append(
        _ frame: [UInt8], raw: [UInt8], first: UInt64, last: UInt64, entries: UInt32, endsCommit: Bool,
        payloadCRC: UInt32
    ) {
        let offset = start + UInt64(output.count)
        let header = BlockHeader(
            storedSize: UInt32(frame.count), rawSize: UInt32(raw.count), firstCommit: first, lastCommit: last,
            entryCount: entries, endsCommit: endsCommit, payloadCRC: payloadCRC, syncedThrough: syncedThrough,
            previousCRC: chain, checkpoint: UInt32(truncatingIfNeeded: checkpoint))
        let (bytes, _) = header.encoded(salt: salt, offset: offset)
        output += bytes
        output += frame
        // Reading the header back gives the one with its checksum, and checks it.
        guard let written = BlockHeader(bytes.span, at: 0, salt: salt, offset: offset) else {
            preconditionFailure("a block header that was just made is not valid")
        }
        chain = written.checksum
        blocks.append(Block(header: written, raw: raw, offset: offset))
    }

    /// Hands over the bytes and blocks so far, for groups that are too large to be held.
    mutating func drain() -> (bytes: [UInt8], blocks: [Block]) {
        defer {
            start += UInt64(output.count)
            output.removeAll(keepingCapacity: true)
            blocks.removeAll(keepingCapacity: true)
        }
        return (output, blocks)
    }

    /// Closes the open block.
    mutating func finish() {
        if !raw.bytes.isEmpty { closeBlock(endsCommit: true) }
    }

    /// The size in bytes so far.
    var size: Int { output.count + raw.bytes.count }
    var isEmpty: Bool { blocks.isEmpty && raw.bytes.isEmpty }
}
