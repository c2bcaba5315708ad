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
    init(_ tail: consuming TailIndex) {
        blocks = tail.blocks
        groups = tail.groups.sorted()
        zones = tail.zones.values.sorted { $0.zone < $1.zone }
        sessions = tail.sessions
        entryCount = tail.entryCount
        keys = tail.takeKeys()
        KeyRow.sort(&keys)
    }

    init() {}

    /// Adds the content of blocks that come after all of these.
    mutating func append(_ other: IndexContent) {
        let base = UInt32(blocks.count)
        blocks += other.blocks
        keys += other.keys.lazy.map {
            KeyRow(fingerprint: $0.fingerprint, block: $0.block + base, place: $0.place)
        }
        groups += other.groups.lazy.map {
            GroupRow(space: $0.space, block: $0.block + base, zone: $0.zone)
        }
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
        KeyRow.sort(&keys)
        groups.sort()
    }
}

/// Turns the content of an index into pages, one after the other, so that a large one never lies in memory twice.
struct IndexPages {
    private let content: IndexContent
    private let salt: UInt64
    private let offset: UInt64
    private let earlier: [UInt64]
    private let layout: IndexLayout
    private let filter: [FilterWord]

    /// The pages of an index frame whose first page lies at `offset` in the file.
    init(_ content: IndexContent, salt: UInt64, offset: UInt64, earlier: [UInt64]) {
        self.content = content
        self.salt = salt
        self.offset = offset
        self.earlier = earlier
        layout = IndexLayout(
            blocks: content.blocks.count, keys: content.keys.count, groups: content.groups.count,
            zones: content.zones.count, sessions: content.sessions.count,
            filterLines: KeyFilter.lineCount(keys: content.keys.count), earlier: earlier.count)
        filter = KeyFilter.words(content.keys, lines: layout.filterLines)
    }

    var count: Int { layout.pageCount }

    /// The content of the first page that a footer repeats.
    var root: [UInt8] {
        var root = [UInt8](repeating: 0, count: IndexLayout.rootSize)
        writeRoot(into: &root)
        return root
    }

    /// All pages at once, for the small index of a checkpoint.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * IndexLayout.page)
        for number in 0..<count { append(number, to: &bytes) }
        return bytes
    }

    /// Appends a page.
    func append(_ number: Int, to bytes: inout [UInt8]) {
        var page = [UInt8](repeating: 0, count: IndexLayout.page)
        if number == 0 {
            writeRoot(into: &page)
            for (place, other) in earlier.enumerated() {
                page.setWord32(UInt32(other), at: IndexLayout.rootSize + place * 4)
            }
        }
        let start = number * IndexLayout.payload
        Self.write(content.blocks, from: layout.blocks, into: &page, at: start)
        Self.write(content.keys, from: layout.keys, into: &page, at: start)
        Self.write(content.groups, from: layout.groups, into: &page, at: start)
        Self.write(content.zones, from: layout.zones, into: &page, at: start)
        Self.write(content.sessions, from: layout.sessions, into: &page, at: start)
        Self.write(filter, from: layout.filter, into: &page, at: start)
        page.setWord32(
            page.placedCRC(
                0..<IndexLayout.page - 4, salt: salt, offset: offset + UInt64(number * IndexLayout.page)),
            at: IndexLayout.page - 4)
        bytes += page
    }

    private func writeRoot(into page: inout [UInt8]) {
        page.setWord32(IndexLayout.magic, at: 0)
        page.setWord32(UInt32(layout.pageCount), at: 4)
        page.setWord64(content.blocks.first?.firstCommit ?? 0, at: 8)
        page.setWord64(content.blocks.last?.lastCommit ?? 0, at: 16)
        page.setWord64(UInt64(bitPattern: content.blocks.lazy.map(\.firstWall).min() ?? 0), at: 24)
        page.setWord64(UInt64(bitPattern: content.blocks.lazy.map(\.lastWall).max() ?? 0), at: 32)
        for (place, count) in layout.counts.enumerated() {
            page.setWord32(UInt32(count), at: 40 + place * 4)
        }
        page.setWord64(content.entryCount, at: 72)
        page.setWord64(content.blocks.first?.offset ?? 0, at: 80)
    }

    /// The numbers of the rows of a section that lie in the page at `start` of the stream.
    private static func rows(_ count: Int, size: Int, from section: Int, at start: Int) -> Range<Int> {
        let first = max(0, start - section + size - 1) / size
        let end = max(0, start + IndexLayout.payload - section) / size
        return min(first, count)..<max(min(first, count), min(end, count))
    }

    private static func write<Row: IndexRow>(
        _ rows: [Row], from section: Int, into page: inout [UInt8], at start: Int
    ) {
        for place in Self.rows(rows.count, size: Row.size, from: section, at: start) {
            rows[place].write(into: &page, at: section + place * Row.size - start)
        }
    }
}
