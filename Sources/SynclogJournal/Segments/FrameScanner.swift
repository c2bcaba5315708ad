/// What lies at a place in a segment.
enum Frame {
    /// A block whose header, chain, sizes and checksum are right.
    case block(BlockHeader, raw: [UInt8])
    /// An index checkpoint, or the index of a sealed segment.
    case index
    /// A filler.
    case filler
    /// A valid footer.
    case footer(SegmentFooter)
    /// The limit of the scan.
    case end
    /// Anything else.
    case damaged(String)
}

/// Walks the frames of a segment from one place to another; the reader of last resort, trusting no index.
struct FrameScanner {
    let file: any File
    let salt: UInt64
    /// The place of the next frame.
    private(set) var offset: UInt64
    /// The place where the scan ends; reading does not go beyond.
    let limit: UInt64
    /// The checksum of the last block header.
    private(set) var chain: UInt32
    /// The place of the frame that `next` returned last.
    private(set) var frameOffset: UInt64
    /// Whether payloads are checked against their checksums.
    var checksPayloads = true
    private var window: [UInt8] = []
    private var windowOffset: UInt64 = 0
    private static let windowSize = 128 * 1024

    init(file: any File, salt: UInt64, offset: UInt64, limit: UInt64, chain: UInt32) {
        self.file = file
        self.salt = salt
        self.offset = offset
        self.limit = limit
        self.chain = chain
        frameOffset = offset
    }

    /// Bytes at a place as a range of `window`, or nil if the scan ends before their end.
    private mutating func load(_ place: UInt64, _ count: Int) throws(JournalError) -> Range<Int>? {
        guard place + UInt64(count) <= limit else { return nil }
        if place < windowOffset || place + UInt64(count) > windowOffset + UInt64(window.count) {
            let size = Int(min(limit - place, UInt64(max(count, Self.windowSize))))
            window = try file.bytes(at: place, count: size)
            windowOffset = place
            guard window.count >= count else { return nil }
        }
        let start = Int(place - windowOffset)
        return start..<start + count
    }

    /// The next frame; the scan stays where it is after damage.
    mutating func next() throws(JournalError) -> Frame {
        frameOffset = offset
        guard offset < limit else { return .end }
        guard let head = try load(offset, 8) else { return .damaged("frame is cut off") }
        let magic = window.word32(at: head.lowerBound)
        let size = UInt64(window.word32(at: head.lowerBound + 4))
        switch magic {
        case LZ4Frame.blockHeaderMagic: return try block()
        case LZ4Frame.fillerMagic, LZ4Frame.indexMagic:
            guard offset + 8 + size <= limit else { return .damaged("frame goes beyond the end") }
            offset += 8 + size
            return magic == LZ4Frame.fillerMagic ? .filler : .index
        case LZ4Frame.footerMagic:
            guard let range = try load(offset, SegmentFooter.size),
                let footer = SegmentFooter(
                    Array(window[range]), salt: salt, fileSize: offset + UInt64(SegmentFooter.size))
            else { return .damaged("footer does not match its checksum") }
            offset += UInt64(SegmentFooter.size)
            return .footer(footer)
        default: return .damaged("no frame begins here")
        }
    }

    private mutating func block() throws(JournalError) -> Frame {
        guard let range = try load(offset, BlockHeader.size),
            let header = BlockHeader(window.span, at: range.lowerBound, salt: salt, offset: offset)
        else { return .damaged("block header does not match its checksum") }
        guard header.previousCRC == chain else { return .damaged("block does not continue the one before") }
        let place = offset + UInt64(BlockHeader.size)
        guard let payload = try load(place, Int(header.storedSize)) else {
            return .damaged("block is cut off")
        }
        guard !checksPayloads || window.crc(payload) == header.payloadCRC else {
            return .damaged("block does not match its checksum")
        }
        guard
            let raw = LZ4Frame.decode(
                window.span.extracting(payload), rawSize: Int(header.rawSize))
        else {
            return .damaged("block does not decompress")
        }
        offset = place + UInt64(header.storedSize)
        chain = header.checksum
        return .block(header, raw: raw)
    }

    /// The next place, by default from one byte behind `offset` on, where a valid block header of this segment stands.
    func findHeader(from start: UInt64? = nil) throws(JournalError) -> (offset: UInt64, header: BlockHeader)?
    {
        var place = start ?? offset + 1
        while place + UInt64(BlockHeader.size) <= limit {
            let count = Int(min(limit - place, UInt64(Self.windowSize)))
            let bytes = try file.bytes(at: place, count: count)
            guard bytes.count >= BlockHeader.size else { return nil }
            for at in 0...bytes.count - BlockHeader.size where bytes[at] == 0x50 && bytes[at + 3] == 0x18 {
                if let header = BlockHeader(bytes.span, at: at, salt: salt, offset: place + UInt64(at)) {
                    return (place + UInt64(at), header)
                }
            }
            if count < Self.windowSize { return nil }
            place += UInt64(bytes.count - BlockHeader.size + 1)
        }
        return nil
    }

    /// The highest commit that block headers from here on prove durable; 0 without one.
    func provenBehind() throws(JournalError) -> UInt64 {
        var proven: UInt64 = 0
        var place = offset
        while let found = try findHeader(from: place) {
            proven = max(proven, found.header.syncedThrough)
            place = found.offset + UInt64(BlockHeader.size)
        }
        return proven
    }

    /// The last commit that blocks from here on prove durable, and the last one of whole blocks without a gap.
    mutating func proof(above known: UInt64) throws(JournalError) -> (proven: UInt64, found: UInt64) {
        var (proven, found) = (known, known)
        while true {
            switch try next() {
            case .block(let header, _):
                proven = max(proven, header.syncedThrough)
                found = header.lastCommit
            case .footer(let footer): proven = max(proven, footer.lastCommit)
            case .index, .filler: continue
            case .damaged:
                // Blocks behind the damage may prove that it hit acknowledged commits.
                return (max(proven, try provenBehind()), found)
            case .end: return (proven, found)
            }
        }
    }

    /// Goes on at a place found after damage.
    mutating func resume(at place: UInt64, chain: UInt32) {
        offset = place
        self.chain = chain
    }
}
