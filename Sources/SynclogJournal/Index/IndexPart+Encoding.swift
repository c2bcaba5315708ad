/// What an index frame is made of, before it becomes pages.
struct IndexContent: Hashable, Sendable {
    var blocks: [BlockRow] = []
    /// Sorted by `KeyRow.order`.
    var keys: [KeyRow] = []
    /// Sorted.
    var groups: [GroupRow] = []
    /// Sorted by zone.
    var zones: [ZoneRow] = []
    /// In order of commit.
    var sessions: [SessionRow] = []
    var entryCount: UInt64 = 0

    /// The content of a tail.
    init(_ tail: TailIndex) {
        blocks = tail.blocks
        keys = tail.keys.sorted(by: KeyRow.order)
        groups = tail.groups.sorted()
        zones = tail.zones.values.sorted { $0.zone < $1.zone }
        sessions = tail.sessions
        entryCount = tail.entryCount
    }

    init() {}

    /// Adds the content of blocks that come after all of these.
    mutating func append(_ other: IndexContent) {
        let base = UInt32(blocks.count)
        blocks += other.blocks
        keys += other.keys.map {
            KeyRow(fingerprint: $0.fingerprint, block: $0.block + base, place: $0.place)
        }
        groups += other.groups.map { GroupRow(space: $0.space, block: $0.block + base, zone: $0.zone) }
        var merged: [UInt64: ZoneRow] = [:]
        for row in zones { merged[row.zone] = row }
        for row in other.zones {
            merged[row.zone, default: row].lastCommit = row.lastCommit
        }
        zones = merged.values.sorted { $0.zone < $1.zone }
        sessions += other.sessions
        entryCount += other.entryCount
    }

    /// Sorts what `append` left unsorted.
    mutating func finish() {
        keys.sort(by: KeyRow.order)
        groups.sort()
    }

    /// The pages of an index frame whose first page lies at `offset` in the file.
    func pages(salt: UInt64, offset: UInt64, earlier: [UInt64], filtered: Bool) -> [UInt8] {
        let layout = IndexLayout(
            blocks: blocks.count, keys: keys.count, groups: groups.count, zones: zones.count,
            sessions: sessions.count, filterLines: filtered ? KeyFilter.lineCount(keys: keys.count) : 0,
            earlier: earlier.count)
        var stream = [UInt8](repeating: 0, count: layout.pageCount * IndexLayout.payload)
        stream.setWord32(IndexLayout.magic, at: 0)
        stream.setWord32(UInt32(layout.pageCount), at: 4)
        stream.setWord64(blocks.first?.firstCommit ?? 0, at: 8)
        stream.setWord64(blocks.last?.lastCommit ?? 0, at: 16)
        stream.setWord64(UInt64(bitPattern: blocks.map(\.firstWall).min() ?? 0), at: 24)
        stream.setWord64(UInt64(bitPattern: blocks.map(\.lastWall).max() ?? 0), at: 32)
        for (place, count) in layout.counts.enumerated() {
            stream.setWord32(UInt32(count), at: 40 + place * 4)
        }
        stream.setWord64(entryCount, at: 72)
        stream.setWord64(blocks.first?.offset ?? 0, at: 80)
        for (place, other) in earlier.enumerated() {
            stream.setWord32(UInt32(other), at: IndexLayout.rootSize + place * 4)
        }
        for (place, row) in blocks.enumerated() {
            let at = layout.blocks + place * BlockRow.size
            stream.setWord64(row.offset, at: at)
            stream.setWord32(row.storedSize, at: at + 8)
            stream.setWord32(row.rawSize, at: at + 12)
            stream.setWord64(row.firstCommit, at: at + 16)
            stream.setWord64(row.lastCommit, at: at + 24)
            stream.setWord64(UInt64(bitPattern: row.firstWall), at: at + 32)
            stream.setWord64(UInt64(bitPattern: row.lastWall), at: at + 40)
        }
        for (place, row) in keys.enumerated() {
            let at = layout.keys + place * KeyRow.size
            stream.setWord64(row.fingerprint, at: at)
            stream.setWord32(row.block, at: at + 8)
            stream.setWord32(row.place, at: at + 12)
        }
        for (place, row) in groups.enumerated() {
            let at = layout.groups + place * GroupRow.size
            stream.setWord32(row.space, at: at)
            stream.setWord32(row.block, at: at + 4)
            stream.setWord64(row.zone, at: at + 8)
        }
        for (place, row) in zones.enumerated() {
            let at = layout.zones + place * ZoneRow.size
            stream.setWord64(row.zone, at: at)
            stream.setWord64(row.firstCommit, at: at + 8)
            stream.setWord64(row.lastCommit, at: at + 16)
        }
        for (place, row) in sessions.enumerated() {
            let at = layout.sessions + place * SessionRow.size
            stream.setWord64(row.info.label, at: at)
            stream.setWord64(row.info.commit, at: at + 8)
            stream.setWord64(UInt64(bitPattern: row.info.clock), at: at + 16)
        }
        if layout.filterLines > 0 {
            KeyFilter.write(keys, lines: layout.filterLines, into: &stream, at: layout.filter)
        }
        return Self.paged(stream, salt: salt, offset: offset)
    }

    /// Cuts a stream into pages, each with its checksum.
    private static func paged(_ stream: [UInt8], salt: UInt64, offset: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        let count = stream.count / IndexLayout.payload
        bytes.reserveCapacity(count * IndexLayout.page)
        for number in 0..<count {
            let start = bytes.count
            bytes += stream[number * IndexLayout.payload..<(number + 1) * IndexLayout.payload]
            bytes += repeatElement(0, count: IndexLayout.page - IndexLayout.payload - 4)
            bytes.appendWord32(
                bytes.placedCRC(
                    start..<start + IndexLayout.page - 4, salt: salt, offset: offset + UInt64(start)))
        }
        return bytes
    }
}

/// Where the sections of an index lie in the stream that its pages carry.
struct IndexLayout: Hashable, Sendable {
    static let page = 4096
    /// The bytes of a page that belong to the stream: a multiple of every row's size.
    static let payload = 4080
    static let rootSize = 96
    static let magic: UInt32 = 0x5844_4953  // "SIDX"
    /// Sections begin at multiples of this, so that no row crosses a page.
    private static let alignment = 48

    let counts: [Int]
    let blocks: Int
    let keys: Int
    let groups: Int
    let zones: Int
    let sessions: Int
    let filter: Int
    let pageCount: Int

    var filterLines: Int { counts[5] }

    init(blocks: Int, keys: Int, groups: Int, zones: Int, sessions: Int, filterLines: Int, earlier: Int) {
        counts = [blocks, keys, groups, zones, sessions, filterLines, earlier]
        var end = Self.rootSize + earlier * 4
        func section(_ size: Int) -> Int {
            let start = (end + Self.alignment - 1) / Self.alignment * Self.alignment
            end = start + size
            return start
        }
        self.blocks = section(blocks * BlockRow.size)
        self.keys = section(keys * KeyRow.size)
        self.groups = section(groups * GroupRow.size)
        self.zones = section(zones * ZoneRow.size)
        self.sessions = section(sessions * SessionRow.size)
        filter = section(filterLines * KeyFilter.lineSize)
        pageCount = (end + Self.payload - 1) / Self.payload
    }
}

/// A blocked Bloom filter over fingerprints: lines of 16 bytes, six bits a key in one line.
enum KeyFilter {
    static let lineSize = 16
    private static let bitsPerKey = 10
    private static let probes = 6

    static func lineCount(keys: Int) -> Int { (keys * bitsPerKey + 127) / 128 }

    /// The line of a fingerprint.
    static func line(_ fingerprint: UInt64, lines: Int) -> Int {
        Int((fingerprint & 0xFFFF_FFFF).multipliedReportingOverflow(by: UInt64(lines)).partialValue >> 32)
    }

    /// The bits of a fingerprint in its line, as two words.
    static func mask(_ fingerprint: UInt64) -> (UInt64, UInt64) {
        var bits = (fingerprint >> 32) &* 0x9E37_79B9_7F4A_7C15
        var low: UInt64 = 0
        var high: UInt64 = 0
        for _ in 0..<probes {
            let bit = bits >> 57
            if bit < 64 { low |= 1 << bit } else { high |= 1 << (bit - 64) }
            bits = bits << 7 | bits >> 57
        }
        return (low, high)
    }

    static func write(_ keys: [KeyRow], lines: Int, into stream: inout [UInt8], at start: Int) {
        for row in keys {
            let at = start + line(row.fingerprint, lines: lines) * lineSize
            let (low, high) = mask(row.fingerprint)
            stream.setWord64(stream.word64(at: at) | low, at: at)
            stream.setWord64(stream.word64(at: at + 8) | high, at: at + 8)
        }
    }
}
