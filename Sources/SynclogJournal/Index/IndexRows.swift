/// A row of an index: fixed size, little-endian, never across two pages.
protocol IndexRow {
    /// The size in bytes; a divisor of ``IndexLayout/alignment``.
    static var size: Int { get }
    init(_ page: Span<UInt8>, at place: Int)
    func write(into page: inout [UInt8], at place: Int)
}

/// One block in an index.
struct BlockRow: IndexRow, Hashable, Sendable {
    static let size = 48

    var offset: UInt64
    var storedSize: UInt32
    var rawSize: UInt32
    var firstCommit: UInt64
    var lastCommit: UInt64
    var firstWall: Int64 = 0
    var lastWall: Int64 = 0

    /// The place after the block.
    var end: UInt64 { offset + UInt64(BlockHeader.size) + UInt64(storedSize) }

    /// The row of a block at an offset; its wall times are known when its content is read.
    init(_ header: BlockHeader, at offset: UInt64) {
        self.offset = offset
        storedSize = header.storedSize
        rawSize = header.rawSize
        firstCommit = header.firstCommit
        lastCommit = header.lastCommit
    }

    init(_ page: Span<UInt8>, at place: Int) {
        offset = page.word64(at: place)
        storedSize = page.word32(at: place + 8)
        rawSize = page.word32(at: place + 12)
        firstCommit = page.word64(at: place + 16)
        lastCommit = page.word64(at: place + 24)
        firstWall = Int64(bitPattern: page.word64(at: place + 32))
        lastWall = Int64(bitPattern: page.word64(at: place + 40))
    }

    func write(into page: inout [UInt8], at place: Int) {
        page.setWord64(offset, at: place)
        page.setWord32(storedSize, at: place + 8)
        page.setWord32(rawSize, at: place + 12)
        page.setWord64(firstCommit, at: place + 16)
        page.setWord64(lastCommit, at: place + 24)
        page.setWord64(UInt64(bitPattern: firstWall), at: place + 32)
        page.setWord64(UInt64(bitPattern: lastWall), at: place + 40)
    }
}

/// One put or delete in an index.
///
/// Sorted by fingerprint, the newer one first.
struct KeyRow: IndexRow, Hashable, Sendable {
    static let size = 16
    /// The bit of `place` that marks a delete.
    static let tombstone: UInt32 = 1 << 31
    /// More rows than this are sorted in place, which takes longer and less memory.
    private static let sortedByCountMax = 1 << 18

    var fingerprint: UInt64
    /// The block's number in its part of the index.
    var block: UInt32
    /// The entry's offset in the block's payload, and the tombstone bit.
    var place: UInt32

    init(fingerprint: UInt64, block: UInt32, place: UInt32) {
        self.fingerprint = fingerprint
        self.block = block
        self.place = place
    }

    init(_ page: Span<UInt8>, at place: Int) {
        fingerprint = page.word64(at: place)
        block = page.word32(at: place + 8)
        self.place = page.word32(at: place + 12)
    }

    func write(into page: inout [UInt8], at place: Int) {
        page.setWord64(fingerprint, at: place)
        page.setWord32(block, at: place + 8)
        page.setWord32(self.place, at: place + 12)
    }

    static func order(_ a: KeyRow, _ b: KeyRow) -> Bool {
        if a.fingerprint != b.fingerprint { return a.fingerprint < b.fingerprint }
        if a.block != b.block { return a.block > b.block }
        return a.place & ~tombstone > b.place & ~tombstone
    }

    /// Brings rows from the order of their entries into that of an index.
    ///
    /// Fingerprints are spread evenly, so a few rows share each value of their highest bits: the rows are counted out by
    /// these, and only neighbours are compared.
    static func sort(_ rows: inout [KeyRow]) {
        let bits = UInt64.bitWidth - max(rows.count / 4, 1).leadingZeroBitCount
        guard rows.count > 64, rows.count <= sortedByCountMax else {
            rows.sort(by: order)
            return
        }
        let shift = UInt64(64 - bits)
        var starts = [Int32](repeating: 0, count: 1 << bits + 1)
        for row in rows { starts[Int(row.fingerprint >> shift) + 1] += 1 }
        for bucket in 1..<starts.count { starts[bucket] += starts[bucket - 1] }
        var sorted = rows
        // From the end on, so that the newer of two entries of a key comes first.
        for place in stride(from: rows.count - 1, through: 0, by: -1) {
            let bucket = Int(rows[place].fingerprint >> shift)
            sorted[Int(starts[bucket])] = rows[place]
            starts[bucket] += 1
        }
        // `starts` has become the ends.
        var start = 0
        for end in starts.dropLast() {
            if Int(end) - start > 1 { sorted[start..<Int(end)].sort(by: order) }
            start = Int(end)
        }
        rows = sorted
    }
}

/// Says that a block holds entries of a space and zone.
struct GroupRow: IndexRow, Hashable, Comparable, Sendable {
    static let size = 16

    var space: UInt32
    var block: UInt32
    var zone: UInt64

    init(space: UInt32, block: UInt32, zone: UInt64) {
        self.space = space
        self.block = block
        self.zone = zone
    }

    init(_ page: Span<UInt8>, at place: Int) {
        space = page.word32(at: place)
        block = page.word32(at: place + 4)
        zone = page.word64(at: place + 8)
    }

    func write(into page: inout [UInt8], at place: Int) {
        page.setWord32(space, at: place)
        page.setWord32(block, at: place + 4)
        page.setWord64(zone, at: place + 8)
    }

    static func < (a: GroupRow, b: GroupRow) -> Bool {
        (a.space, a.zone, a.block) < (b.space, b.zone, b.block)
    }
}

/// The first and last commit with records of a zone.
struct ZoneRow: IndexRow, Hashable, Sendable {
    static let size = 24

    var zone: UInt64
    var firstCommit: UInt64
    var lastCommit: UInt64

    init(zone: UInt64, firstCommit: UInt64, lastCommit: UInt64) {
        self.zone = zone
        self.firstCommit = firstCommit
        self.lastCommit = lastCommit
    }

    init(_ page: Span<UInt8>, at place: Int) {
        zone = page.word64(at: place)
        firstCommit = page.word64(at: place + 8)
        lastCommit = page.word64(at: place + 16)
    }

    func write(into page: inout [UInt8], at place: Int) {
        page.setWord64(zone, at: place)
        page.setWord64(firstCommit, at: place + 8)
        page.setWord64(lastCommit, at: place + 16)
    }
}

/// Where a session begins; in order of commit.
struct SessionRow: IndexRow, Hashable, Sendable {
    static let size = 24

    var info: SessionInfo

    init(info: SessionInfo) { self.info = info }

    init(_ page: Span<UInt8>, at place: Int) {
        info = SessionInfo(
            label: page.word64(at: place), commit: page.word64(at: place + 8),
            clock: Int64(bitPattern: page.word64(at: place + 16)))
    }

    func write(into page: inout [UInt8], at place: Int) {
        page.setWord64(info.label, at: place)
        page.setWord64(info.commit, at: place + 8)
        page.setWord64(UInt64(bitPattern: info.clock), at: place + 16)
    }
}

/// Half a line of the filter.
struct FilterWord: IndexRow {
    static let size = 8

    var bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    init(_ page: Span<UInt8>, at place: Int) { bits = page.word64(at: place) }

    func write(into page: inout [UInt8], at place: Int) { page.setWord64(bits, at: place) }
}
