/// An index on disk: that of a sealed segment, or one checkpoint of a live one.
///
/// Read page by page, each checked.
final class IndexPart: Sendable {
    let file: any File
    private let salt: UInt64
    /// The offset of the first page.
    let offset: UInt64
    let layout: IndexLayout
    let commits: ClosedRange<UInt64>
    let walls: ClosedRange<Int64>
    let entryCount: UInt64
    /// The first pages of earlier checkpoints in the same segment, oldest first.
    let earlier: [UInt64]
    private static let guessesMax = 3
    /// How far a guess inside a page is mostly wrong at the most, in rows.
    private static let guessError = 8
    private let pages: PageCache
    private let filter = LoadedFilter()

    var blockCount: Int { layout.counts[0] }
    var keyCount: Int { layout.counts[1] }
    /// The place after the index frame.
    var end: UInt64 { offset + UInt64(layout.pageCount * IndexLayout.page) }

    /// Opens the index whose first page lies at an offset; `known` is its root, where a footer repeats it.
    init(
        file: any File, salt: UInt64, offset: UInt64, root known: [UInt8]? = nil, budget: PageBudget
    ) throws(JournalError) {
        self.file = file
        self.salt = salt
        self.offset = offset
        let root: [UInt8]
        if let known {
            root = known
        } else {
            root = try Self.readPage(0, of: file, salt: salt, offset: offset)
        }
        let counts = (0..<7).map { Int(root.word32(at: 40 + $0 * 4)) }
        let commits = (root.word64(at: 8), root.word64(at: 16))
        let walls = (Int64(bitPattern: root.word64(at: 24)), Int64(bitPattern: root.word64(at: 32)))
        let layout = IndexLayout(
            blocks: counts[0], keys: counts[1], groups: counts[2], zones: counts[3], sessions: counts[4],
            filterLines: counts[5], earlier: counts[6])
        guard root.word32(at: 0) == IndexLayout.magic, layout.pageCount == Int(root.word32(at: 4)),
            commits.0 <= commits.1, walls.0 <= walls.1,
            // A block counts its entries in 32 bits, so sums over indexes cannot overflow.
            root.word64(at: 72) >> 32 <= UInt64(counts[0]),
            IndexLayout.rootSize + counts[6] * 4 <= IndexLayout.payload, known == nil || counts[6] == 0
        else {
            throw .corrupted(Damage(file: file.path, offset: offset, reason: "index root is not one"))
        }
        self.layout = layout
        self.commits = commits.0...commits.1
        self.walls = walls.0...walls.1
        entryCount = root.word64(at: 72)
        earlier = (0..<counts[6]).map { UInt64(root.word32(at: IndexLayout.rootSize + $0 * 4)) }
        pages = PageCache(budget)
    }

    private static func readPage(
        _ number: Int, of file: any File, salt: UInt64, offset: UInt64
    ) throws(JournalError) -> [UInt8] {
        let place = offset + UInt64(number * IndexLayout.page)
        let bytes = try file.bytes(at: place, count: IndexLayout.page)
        guard bytes.count == IndexLayout.page,
            bytes.word32(at: IndexLayout.page - 4)
                == bytes.placedCRC(0..<IndexLayout.page - 4, salt: salt, offset: place)
        else {
            throw .corrupted(
                Damage(file: file.path, offset: place, reason: "index page does not match its checksum"))
        }
        return bytes
    }

    /// Runs a body with a page.
    @inline(__always)
    private func withPage<Result>(
        _ number: Int, _ body: (Span<UInt8>) -> Result
    ) throws(JournalError) -> Result {
        if let result = pages.withPage(number, body) { return result }
        guard number < layout.pageCount else {
            throw .corrupted(
                Damage(file: file.path, offset: offset, reason: "index names a page that it lacks"))
        }
        let page = try Self.readPage(number, of: file, salt: salt, offset: offset)
        pages.keep(page, number, of: layout.pageCount)
        return body(page.span)
    }

    /// A row of the section that begins at a place in the stream.
    @inline(__always)
    private func row<Row: IndexRow>(_ number: Int, from section: Int) throws(JournalError) -> Row {
        let at = section + number * Row.size
        return try withPage(at / IndexLayout.payload) { Row($0, at: at % IndexLayout.payload) }
    }

    /// Checks the sum of every page.
    func verify() throws(JournalError) {
        for number in 0..<layout.pageCount {
            _ = try Self.readPage(number, of: file, salt: salt, offset: offset)
        }
    }

    func block(_ number: Int) throws(JournalError) -> BlockRow {
        guard number >= 0, number < blockCount else {
            throw .corrupted(
                Damage(file: file.path, offset: offset, reason: "index names a block that it lacks"))
        }
        let row: BlockRow = try row(number, from: layout.blocks)
        guard row.firstCommit <= row.lastCommit, row.lastCommit <= FormatLimits.numberMax,
            row.storedSize <= FormatLimits.blockStoredSizeMax, row.rawSize <= FormatLimits.blockRawSizeMax,
            row.offset <= FormatLimits.numberMax
        else {
            throw .corrupted(
                Damage(file: file.path, offset: offset, reason: "index names a block that no segment holds"))
        }
        return row
    }

    /// A key row; they are in order of fingerprint.
    func key(_ number: Int) throws(JournalError) -> KeyRow { try row(number, from: layout.keys) }

    private func group(_ number: Int) throws(JournalError) -> GroupRow {
        try row(number, from: layout.groups)
    }

    private func zone(_ number: Int) throws(JournalError) -> ZoneRow { try row(number, from: layout.zones) }

    func session(_ number: Int) throws(JournalError) -> SessionRow {
        try row(number, from: layout.sessions)
    }

    var sessionCount: Int { layout.counts[4] }

    /// The zones of this part, each with its first and last commit.
    func zoneRows() throws(JournalError) -> [ZoneRow] {
        var rows: [ZoneRow] = []
        for number in 0..<layout.counts[3] { rows.append(try zone(number)) }
        return rows
    }

    /// The row of one zone.
    func zoneRow(_ zone: UInt64) throws(JournalError) -> ZoneRow? {
        let place = try firstIndex(layout.counts[3]) { number throws(JournalError) in
            try self.zone(number).zone >= zone
        }
        guard place < layout.counts[3] else { return nil }
        let row = try self.zone(place)
        return row.zone == zone ? row : nil
    }

    /// Whether a key may be in this part.
    @inline(__always)
    func mayContain(_ probe: KeyProbe) throws(JournalError) -> Bool {
        if let answer = filter.mayContain(probe, lines: layout.filterLines) { return answer }
        return try mayContainByPage(probe)
    }

    /// Asks the filter's page; a part that is asked often gets its whole filter into memory.
    private func mayContainByPage(_ probe: KeyProbe) throws(JournalError) -> Bool {
        guard layout.filterLines > 0 else { return keyCount > 0 }
        if filter.isWanted(lines: layout.filterLines) {
            var words: [UInt64] = []
            words.reserveCapacity(layout.filterLines * 2)
            for number in 0..<layout.filterLines * 2 {
                words.append((try row(number, from: layout.filter) as FilterWord).bits)
            }
            filter.load(words)
        }
        let at =
            layout.filter + KeyFilter.line(probe.fingerprint, lines: layout.filterLines) * KeyFilter.lineSize
        return try withPage(at / IndexLayout.payload) { page in
            let place = at % IndexLayout.payload
            return probe.matches(page.word64(at: place), page.word64(at: place + 8))
        }
    }

    /// The first thing that a body finds at the rows of a fingerprint, which come newest first.
    @inline(__always)
    func first<Found>(
        of probe: KeyProbe, _ find: (KeyRow) throws(JournalError) -> Found?
    ) throws(JournalError) -> Found? {
        guard try mayContain(probe) else { return nil }
        var place = try firstKey(reaching: probe.fingerprint)
        while place < keyCount {
            let row = try key(place)
            guard row.fingerprint == probe.fingerprint else { return nil }
            if let found = try find(row) { return found }
            place += 1
        }
        return nil
    }

    /// The number of the first key row at or above a fingerprint.
    ///
    /// Fingerprints are spread evenly, so the place is guessed: from the whole part, then from the edge of the page that
    /// the guess led to, then inside the page that holds it.
    private func firstKey(reaching fingerprint: UInt64) throws(JournalError) -> Int {
        var range = 0..<keyCount
        var guess = Self.distance(fingerprint, of: keyCount)
        for _ in 0..<Self.guessesMax where !range.isEmpty {
            let at = layout.keys + max(range.lowerBound, min(guess, range.upperBound - 1)) * KeyRow.size
            let (narrower, next) = try firstKey(reaching: fingerprint, range, page: at / IndexLayout.payload)
            range = narrower
            guess = next
        }
        return try firstIndex(from: range.lowerBound, range.upperBound) { number throws(JournalError) in
            try key(number).fingerprint >= fingerprint
        }
    }

    /// How many of `count` rows lie below a distance of fingerprints, on the average.
    @inline(__always)
    private static func distance(_ fingerprints: UInt64, of count: Int) -> Int {
        Int(fingerprints.multipliedFullWidth(by: UInt64(count)).high)
    }

    /// Narrows a range of key rows by what one page tells, and guesses where to look next.
    private func firstKey(
        reaching fingerprint: UInt64, _ range: Range<Int>, page number: Int
    ) throws(JournalError) -> (range: Range<Int>, guess: Int) {
        let start = number * IndexLayout.payload
        let first = max(range.lowerBound, max(0, start - layout.keys + KeyRow.size - 1) / KeyRow.size)
        let end = min(range.upperBound, (start + IndexLayout.payload - layout.keys) / KeyRow.size)
        let place = layout.keys - start
        let count = keyCount
        return try withPage(number) { page in
            func fingerprintOf(_ row: Int) -> UInt64 { page.word64(at: place + row * KeyRow.size) }
            let lowest = fingerprintOf(first)
            if lowest >= fingerprint {
                return (range.lowerBound..<first, first - 1 - Self.distance(lowest - fingerprint, of: count))
            }
            let highest = fingerprintOf(end - 1)
            if highest < fingerprint {
                return (end..<range.upperBound, end + Self.distance(fingerprint - highest, of: count))
            }
            // The row is behind `low` and not behind `high`.
            var low = first
            var high = end - 1
            var probe = first + Self.distance(fingerprint - lowest, of: count)
            var steps = 0
            while high - low > 1 {
                probe = max(low + 1, min(probe, high - 1))
                let isBelow = fingerprintOf(probe) < fingerprint
                if isBelow { low = probe } else { high = probe }
                steps += 1
                probe = steps > 1 ? (low + high) / 2 : probe + (isBelow ? Self.guessError : -Self.guessError)
            }
            return (high..<high, high)
        }
    }

    /// The numbers, from one on, of the blocks that hold entries of a space, and of a zone if one is given.
    func blocks(space: UInt32, zone: UInt64?, from start: Int) throws(JournalError) -> [Int] {
        let count = layout.counts[2]
        let first = GroupRow(space: space, block: zone == nil ? 0 : UInt32(start), zone: zone ?? 0)
        var place = try firstIndex(count) { number throws(JournalError) in try group(number) >= first }
        var blocks: [Int] = []
        while place < count {
            let row = try group(place)
            guard row.space == space, zone == nil || row.zone == zone else { break }
            if Int(row.block) >= start { blocks.append(Int(row.block)) }
            place += 1
        }
        return blocks
    }

    /// The numbers, from one on, of the blocks that hold entries without a zone, of any space.
    func zonelessBlocks(from start: Int) throws(JournalError) -> [Int] {
        var blocks: [Int] = []
        for number in 0..<layout.counts[2] {
            let row = try group(number)
            if row.zone == 0, Int(row.block) >= start { blocks.append(Int(row.block)) }
        }
        return blocks
    }

    /// The number of the first block whose last commit is at or above a commit.
    func firstBlock(reaching commit: UInt64) throws(JournalError) -> Int {
        try firstIndex(blockCount) { number throws(JournalError) in try block(number).lastCommit >= commit }
    }

    /// The whole content, for merging.
    func content() throws(JournalError) -> IndexContent {
        var content = IndexContent()
        for number in 0..<blockCount { content.blocks.append(try block(number)) }
        for number in 0..<keyCount { content.keys.append(try key(number)) }
        for number in 0..<layout.counts[2] { content.groups.append(try group(number)) }
        content.zones = try zoneRows()
        for number in 0..<sessionCount { content.sessions.append(try session(number)) }
        content.entryCount = entryCount
        return content
    }

    private func firstIndex(
        from low: Int = 0, _ count: Int, where test: (Int) throws(JournalError) -> Bool
    ) throws(JournalError) -> Int {
        var low = low
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if try test(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
