/// The 64 bytes before a block's LZ4 frame.
struct BlockHeader: Hashable, Sendable {
    static let size = 64

    var storedSize: UInt32
    var rawSize: UInt32
    var firstCommit: UInt64
    var lastCommit: UInt64
    var entryCount: UInt32
    var endsCommit: Bool
    var payloadCRC: UInt32
    var syncedThrough: UInt64
    var previousCRC: UInt32
    var checkpoint: UInt32
    /// The CRC of this header; the next block's `previousCRC`.
    private(set) var checksum: UInt32 = 0

    init(
        storedSize: UInt32, rawSize: UInt32, firstCommit: UInt64, lastCommit: UInt64, entryCount: UInt32,
        endsCommit: Bool, payloadCRC: UInt32, syncedThrough: UInt64, previousCRC: UInt32, checkpoint: UInt32
    ) {
        self.storedSize = storedSize
        self.rawSize = rawSize
        self.firstCommit = firstCommit
        self.lastCommit = lastCommit
        self.entryCount = entryCount
        self.endsCommit = endsCommit
        self.payloadCRC = payloadCRC
        self.syncedThrough = syncedThrough
        self.previousCRC = previousCRC
        self.checkpoint = checkpoint
    }

    /// Writes the header at `place` in `bytes`, which lies at `offset` in the file.
    /// - Returns: Its checksum.
    func write(into bytes: inout [UInt8], at place: Int, salt: UInt64, offset: UInt64) -> UInt32 {
        bytes.setWord32(LZ4Frame.blockHeaderMagic, at: place)
        bytes.setWord32(56, at: place + 4)
        bytes.setWord32(storedSize, at: place + 8)
        bytes.setWord32(rawSize, at: place + 12)
        bytes.setWord64(firstCommit, at: place + 16)
        bytes.setWord64(lastCommit, at: place + 24)
        bytes.setWord32(entryCount, at: place + 32)
        bytes.setWord32(endsCommit ? 1 : 0, at: place + 36)
        bytes.setWord32(payloadCRC, at: place + 40)
        bytes.setWord64(syncedThrough, at: place + 44)
        bytes.setWord32(previousCRC, at: place + 52)
        bytes.setWord32(checkpoint, at: place + 56)
        let checksum = bytes.placedCRC(place..<place + 60, salt: salt, offset: offset)
        bytes.setWord32(checksum, at: place + 60)
        return checksum
    }

    /// Reads the header at `place` in `bytes`, which lies at `offset` in the file; nil if there is no valid one.
    init?(_ bytes: Span<UInt8>, at place: Int, salt: UInt64, offset: UInt64) {
        guard place + Self.size <= bytes.count, bytes.word32(at: place) == LZ4Frame.blockHeaderMagic,
            bytes.word32(at: place + 4) == 56,
            bytes.word32(at: place + 60) == bytes.placedCRC(place..<place + 60, salt: salt, offset: offset)
        else { return nil }
        storedSize = bytes.word32(at: place + 8)
        rawSize = bytes.word32(at: place + 12)
        firstCommit = bytes.word64(at: place + 16)
        lastCommit = bytes.word64(at: place + 24)
        entryCount = bytes.word32(at: place + 32)
        endsCommit = bytes.word32(at: place + 36) & 1 == 1
        payloadCRC = bytes.word32(at: place + 40)
        syncedThrough = bytes.word64(at: place + 44)
        previousCRC = bytes.word32(at: place + 52)
        checkpoint = bytes.word32(at: place + 56)
        checksum = bytes.word32(at: place + 60)
        guard rawSize <= FormatLimits.blockRawSizeMax, storedSize <= FormatLimits.blockStoredSizeMax,
            firstCommit <= lastCommit, lastCommit <= FormatLimits.numberMax,
            syncedThrough < max(firstCommit, 1)
        else { return nil }
    }
}
