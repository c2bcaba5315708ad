/// The first 4096 bytes of a segment: which journal, which place in it, what came before.
struct SegmentHeader: Hashable, Sendable {
    static let size = 4096
    /// Where the facts begin; all before them is for people and for other readers.
    static let factsOffset: UInt64 = 3840
    static let factsSize = 256
    private static let magic: UInt64 = 0x3147_4F4C_434E_5953  // "SYNCLOG1"
    private static let major: UInt16 = 1

    var journal: JournalID
    var session: SessionInfo
    var number: UInt64
    var generation: UInt32 = 0
    var firstCommit: UInt64
    var previousLast: UInt64
    var previousChain: UInt32
    var previousGeneration: UInt32 = 0
    var replaces: ClosedRange<UInt64>?
    var consistentFrom: UInt64 = 0
    var highestFloor: UInt64 = 0
    var salt: UInt64
    var clock: Int64
    /// The chain value before the first block.
    var chainStart: UInt32 { placeSeed(salt: salt, offset: 0) }

    init(
        journal: JournalID, session: SessionInfo, number: UInt64, firstCommit: UInt64, previousLast: UInt64,
        previousChain: UInt32, previousGeneration: UInt32, salt: UInt64, clock: Int64
    ) {
        self.journal = journal
        self.session = session
        self.number = number
        self.firstCommit = firstCommit
        self.previousLast = previousLast
        self.previousChain = previousChain
        self.previousGeneration = previousGeneration
        self.salt = salt
        self.clock = clock
    }

    /// The head of the file.
    func encoded() -> [UInt8] {
        var item = CBORWriter()
        item.array(4)
        item.text("synclog")
        item.unsigned(UInt64(Self.major))
        item.unsigned(0)
        item.text(journal.description)
        var bytes: [UInt8] = []
        LZ4Frame.compress(item.bytes, into: &bytes)
        bytes += LZ4Frame.skippableHead(
            LZ4Frame.segmentHeaderMagic, size: UInt64(Self.size - bytes.count - 8))
        bytes += [UInt8](repeating: 0, count: Self.size - bytes.count)
        bytes.setWord64(Self.magic, at: 3840)
        bytes.setWord32(UInt32(Self.major), at: 3848)
        bytes.setWord64(journal.high, at: 3864)
        bytes.setWord64(journal.low, at: 3872)
        bytes.setWord64(session.label, at: 3880)
        bytes.setWord64(number, at: 3888)
        bytes.setWord32(generation, at: 3896)
        bytes.setWord64(firstCommit, at: 3904)
        bytes.setWord64(previousLast, at: 3912)
        bytes.setWord32(previousChain, at: 3920)
        bytes.setWord32(previousGeneration, at: 3924)
        bytes.setWord64(replaces?.lowerBound ?? 0, at: 3928)
        bytes.setWord64(replaces?.upperBound ?? 0, at: 3936)
        bytes.setWord64(consistentFrom, at: 3944)
        bytes.setWord64(highestFloor, at: 3952)
        bytes.setWord64(salt, at: 3960)
        bytes.setWord64(UInt64(bitPattern: clock), at: 3968)
        bytes.setWord64(UInt64(bitPattern: session.clock), at: 3976)
        bytes.setWord64(session.commit, at: 3984)
        bytes.setWord32(bytes.crc(0..<3840), at: 3992)
        bytes.setWord32(bytes.crc(3840..<4092), at: 4092)
        return bytes
    }

    /// Reads the last 256 bytes of a head.
    init(_ bytes: [UInt8], file: String) throws(JournalError) {
        guard bytes.count == Self.factsSize, bytes.word64(at: 0) == Self.magic,
            bytes.word32(at: 252) == bytes.crc(0..<252)
        else {
            throw .corrupted(
                Damage(
                    file: file, offset: Self.factsOffset, reason: "segment header does not match its checksum"
                ))
        }
        guard bytes.word32(at: 8) & 0xFFFF == UInt32(Self.major), bytes.word32(at: 16) == 0 else {
            throw .unsupported(
                path: file,
                feature: "format \(bytes.word32(at: 8) & 0xFFFF), flags \(bytes.word32(at: 16))")
        }
        journal = JournalID(high: bytes.word64(at: 24), low: bytes.word64(at: 32))
        session = SessionInfo(
            label: bytes.word64(at: 40), commit: bytes.word64(at: 144),
            clock: Int64(bitPattern: bytes.word64(at: 136)))
        number = bytes.word64(at: 48)
        generation = bytes.word32(at: 56)
        firstCommit = bytes.word64(at: 64)
        previousLast = bytes.word64(at: 72)
        previousChain = bytes.word32(at: 80)
        previousGeneration = bytes.word32(at: 84)
        let first = bytes.word64(at: 88)
        let last = bytes.word64(at: 96)
        replaces = first > 0 && first <= last ? first...last : nil
        consistentFrom = bytes.word64(at: 104)
        highestFloor = bytes.word64(at: 112)
        salt = bytes.word64(at: 120)
        clock = Int64(bitPattern: bytes.word64(at: 128))
        headCRC = bytes.word32(at: 152)
        compatibleFlags = bytes.word32(at: 20)
        let highest = max(number, firstCommit, previousLast, last, session.commit)
        guard number > 0, highest <= FormatLimits.numberMax, clock <= Int64(FormatLimits.numberMax) else {
            throw .corrupted(
                Damage(
                    file: file, offset: Self.factsOffset,
                    reason: "segment header has numbers that no segment has"))
        }
    }

    /// The CRC of the bytes before the facts.
    private(set) var headCRC: UInt32 = 0

    /// Flags whose unknown bits, here all of them, forbid to write or merge the segment, but not to read it.
    private(set) var compatibleFlags: UInt32 = 0

    /// Throws if this version may only read the segment.
    func requireWritable(_ path: String) throws(JournalError) {
        guard compatibleFlags == 0 else {
            throw .unsupported(path: path, feature: "compatible flags \(compatibleFlags)")
        }
    }
}

/// The last 160 bytes of a sealed segment; it repeats the root of the index, so that opening reads no page.
struct SegmentFooter: Hashable, Sendable {
    static let size = 160

    var indexOffset: UInt64
    var indexPages: UInt32
    var blockCount: UInt32
    var blocksEnd: UInt64
    var lastCommit: UInt64
    var chain: UInt32
    var entryCount: UInt64
    var fileSize: UInt64
    /// The first 96 bytes of the index.
    var root: [UInt8]

    init(
        indexOffset: UInt64, indexPages: UInt32, blockCount: UInt32, blocksEnd: UInt64, lastCommit: UInt64,
        chain: UInt32, entryCount: UInt64, fileSize: UInt64, root: [UInt8]
    ) {
        self.indexOffset = indexOffset
        self.indexPages = indexPages
        self.blockCount = blockCount
        self.blocksEnd = blocksEnd
        self.lastCommit = lastCommit
        self.chain = chain
        self.entryCount = entryCount
        self.fileSize = fileSize
        self.root = root
    }

    func encoded(salt: UInt64) -> [UInt8] {
        var bytes = LZ4Frame.skippableHead(LZ4Frame.footerMagic, size: UInt64(Self.size - 8))
        bytes.appendWord64(indexOffset)
        bytes.appendWord32(indexPages)
        bytes.appendWord32(blockCount)
        bytes.appendWord64(blocksEnd)
        bytes.appendWord64(lastCommit)
        bytes.appendWord32(chain)
        bytes.appendWord64(entryCount)
        bytes.appendWord64(fileSize)
        bytes += root
        bytes.appendWord32(
            bytes.placedCRC(0..<Self.size - 4, salt: salt, offset: fileSize - UInt64(Self.size)))
        return bytes
    }

    /// Reads the last 160 bytes of a file, or says that they are no footer.
    init?(_ bytes: [UInt8], salt: UInt64, fileSize: UInt64) {
        guard bytes.count == Self.size, bytes.word32(at: 0) == LZ4Frame.footerMagic,
            fileSize >= UInt64(SegmentHeader.size + Self.size),
            bytes.word32(at: Self.size - 4)
                == bytes.placedCRC(0..<Self.size - 4, salt: salt, offset: fileSize - UInt64(Self.size)),
            bytes.word64(at: 52) == fileSize
        else { return nil }
        indexOffset = bytes.word64(at: 8)
        indexPages = bytes.word32(at: 16)
        blockCount = bytes.word32(at: 20)
        blocksEnd = bytes.word64(at: 24)
        lastCommit = bytes.word64(at: 32)
        chain = bytes.word32(at: 40)
        entryCount = bytes.word64(at: 44)
        root = Array(bytes[60..<60 + IndexLayout.rootSize])
        self.fileSize = fileSize
        guard indexOffset <= fileSize, blocksEnd <= fileSize, lastCommit <= FormatLimits.numberMax else {
            return nil
        }
    }

    /// The footer at the end of a file; nil if there is none.
    static func read(
        from file: any File, size: UInt64, salt: UInt64
    ) throws(JournalError) -> SegmentFooter? {
        guard size >= UInt64(SegmentHeader.size + Self.size) else { return nil }
        let bytes = try file.bytes(at: size - UInt64(Self.size), count: Self.size)
        return SegmentFooter(bytes, salt: salt, fileSize: size)
    }
}
