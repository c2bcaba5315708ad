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
    private let pages: PageCache

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

    private func page(_ number: Int) throws(JournalError) -> [UInt8] {
        if let page = pages.page(number) { return page }
        guard number < layout.pageCount else {
            throw .corrupted(
                Damage(file: file.path, offset: offset, reason: "index names a page that it lacks"))
        }
        let page = try Self.readPage(number, of: file, salt: salt, offset: offset)
        pages.keep(page, number, of: layout.pageCount)
        return page
    }

    /// The page and the place in it of an offset in the stream.
    private func locate(_ at: Int) throws(JournalError) -> (page: [UInt8], place: Int) {
        (try page(at / IndexLayout.payload), at % IndexLayout.payload)
    }

    /// Checks the sum of every page.
    func verify() throws(JournalError) {
        for number in 0..<layout.pageCount {
            _ = try Self.readPage(number, of: file, salt: salt, offset: offset)
        }
    }

    func block(_ number: Int) throws(JournalError) -> BlockRow {
        guard number < blockCount else {
            throw .corrupted(
                Damage(file: file.path, offset: offset, reason: "index names a block that it lacks"))
        }
        let (page, at) = try locate(layout.blocks + number * BlockRow.size)
        return BlockRow(
            offset: page.word64(at: at), storedSize: page.word32(at: at + 8),
            rawSize: page.word32(at: at + 12),
            firstCommit: page.word64(at: at + 16), lastCommit: page.word64(at: at + 24),
            firstWall: Int64(bitPattern: page.word64(at: at + 32)),
            lastWall: Int64(bitPattern: page.word64(at: at + 40)))
    }

    private func key(_ number: Int) throws(JournalError) -> KeyRow {
        let (page, at) = try locate(layout.keys + number * KeyRow.size)
        return KeyRow(
            fingerprint: page.word64(at: at), block: page.word32(at: at + 8), place: page.word32(at: at + 12))
    }

    private func group(_ number: Int) throws(JournalError) -> GroupRow {
        let (page, at) = try locate(layout.groups + number * GroupRow.size)
        return GroupRow(
            space: page.word32(at: at), block: page.word32(at: at + 4), zone: page.word64(at: at + 8))
    }

    private func zone(_ number: Int) throws(JournalError) -> ZoneRow {
        let (page, at) = try locate(layout.zones + number * ZoneRow.size)
        return ZoneRow(
            zone: page.word64(at: at), firstCommit: page.word64(at: at + 8),
            lastCommit: page.word64(at: at + 16))
    }

    func session(_ number: Int) throws(JournalError) -> SessionRow {
        let (page, at) = try locate(layout.sessions + number * SessionRow.size)
        return SessionRow(
            info: SessionInfo(
                label: page.word64(at: at), commit: page.word64(at: at + 8),
                clock: Int64(bitPattern: page.word64(at: at + 16))))
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

    /// Whether a fingerprint may be in this part.
    func mayContain(_ fingerprint: UInt64) throws(JournalError) -> Bool {
        guard layout.filterLines > 0 else { return keyCount > 0 }
        let (low, high) = KeyFilter.mask(fingerprint)
        let line = KeyFilter.line(fingerprint, lines: layout.filterLines)
        let (page, at) = try locate(layout.filter + line * KeyFilter.lineSize)
        return page.word64(at: at) & low == low && page.word64(at: at + 8) & high == high
    }

    /// The rows of a fingerprint, newest first.
    func rows(of fingerprint: UInt64) throws(JournalError) -> [KeyRow] {
        guard try mayContain(fingerprint) else { return [] }
        var rows: [KeyRow] = []
        var place = try firstKey(reaching: fingerprint)
        while place < keyCount {
            let row = try key(place)
            guard row.fingerprint == fingerprint else { break }
            rows.append(row)
            place += 1
        }
        return rows
    }

    /// The number of the first key row at or above a fingerprint.
    ///
    /// Fingerprints are spread evenly, so the page is guessed and mostly right, or its neighbour is.
    private func firstKey(reaching fingerprint: UInt64) throws(JournalError) -> Int {
        var low = 0
        var high = keyCount
        var guess = Int(Double(fingerprint) / 18_446_744_073_709_551_616.0 * Double(keyCount))
        for _ in 0..<Self.guessesMax where low < high {
            guess = max(low, min(guess, high - 1))
            let at = layout.keys + guess * KeyRow.size
            let page = try page(at / IndexLayout.payload)
            let span = page.span
            // The rows of this page that are still in question: `first` is the number of its first one.
            let inPage = at % IndexLayout.payload / KeyRow.size
            let start = at % IndexLayout.payload - min(inPage, guess - low) * KeyRow.size
            let first = guess - min(inPage, guess - low)
            let count = min(high - first, (IndexLayout.payload - start) / KeyRow.size)
            if span.word64(at: start) >= fingerprint {
                high = first
                guess = first - 1
                continue
            }
            if span.word64(at: start + (count - 1) * KeyRow.size) < fingerprint {
                low = first + count
                guess = low
                continue
            }
            var less = 0
            var reaching = count - 1
            while reaching - less > 1 {
                let middle = (less + reaching) / 2
                if span.word64(at: start + middle * KeyRow.size) >= fingerprint {
                    reaching = middle
                } else {
                    less = middle
                }
            }
            return first + reaching
        }
        return try firstIndex(from: low, high) { number throws(JournalError) in
            try key(number).fingerprint >= fingerprint
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

    /// Calls the body with every key row, in order of fingerprint.
    func forEachKey(_ body: (KeyRow) -> Void) throws(JournalError) {
        for number in 0..<keyCount { body(try key(number)) }
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
