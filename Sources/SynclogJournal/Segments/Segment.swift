/// One segment file, opened when it is first needed.
final class Segment: Sendable {
    let name: SegmentName
    let path: String
    private let fileSystem: any FileSystem
    private let budget: PageBudget
    private let openFiles: OpenFiles
    private let state: Monitor<State>

    private struct State {
        var opened: OpenSegment?
        /// Whether it was opened elsewhere, as the live one.
        var isAdopted = false
        /// The next segment; it says where this one ends if it was never sealed.
        var successor: Segment?
    }

    init(name: SegmentName, in directory: SegmentDirectory) {
        self.name = name
        path = directory.path + "/" + name.text
        fileSystem = directory.fileSystem
        budget = directory.budget
        openFiles = directory.openFiles
        state = Monitor(State())
    }

    /// Names the next segment: one that was the live one is opened anew, as the others are.
    func setSuccessor(_ segment: Segment) {
        state.withLock { state in
            state.successor = segment
            if state.isAdopted { (state.opened, state.isAdopted) = (nil, false) }
        }
    }

    /// The segment if it is open already.
    var ifOpen: OpenSegment? { state.withLock { $0.opened } }

    /// Keeps the live segment, which was opened elsewhere.
    func adopt(_ opened: OpenSegment) { state.withLock { ($0.opened, $0.isAdopted) = (opened, true) } }

    /// Opens the file and reads its header.
    static func openFile(_ path: String, fileSystem: any FileSystem, writing: Bool) throws(JournalError)
        -> (file: any File, header: SegmentHeader)
    {
        let file = try journalErrors { () throws(FileError) in
            try fileSystem.open(path, writing ? .readWrite : .read)
        }
        let facts = try file.bytes(at: SegmentHeader.factsOffset, count: SegmentHeader.factsSize)
        let header = try SegmentHeader(facts, file: path)
        if writing { try header.requireWritable(path) }
        return (file, header)
    }

    /// Opens the file for reading and reads its header only.
    func openFile() throws(JournalError) -> (file: any File, header: SegmentHeader) {
        try Self.openFile(path, fileSystem: fileSystem, writing: false)
    }

    /// The open segment: by its footer if it is sealed, by a scan up to its successor's start if it was cut.
    func open() throws(JournalError) -> OpenSegment {
        if let opened = ifOpen { return opened }
        let (file, header) = try openFile()
        guard header.number == name.number, header.generation == name.generation else {
            throw .corrupted(Damage(file: path, offset: 0, reason: "segment header belongs to another file"))
        }
        let status = try journalErrors { () throws(FileError) in try file.status() }
        let pooled = SegmentFile(file, inode: status.inode, fileSystem: fileSystem, among: openFiles)
        let opened = OpenSegment(path: path, file: pooled, header: header, budget: budget)
        if try !opened.loadSealed(size: status.size) {
            guard let successor = state.withLock({ $0.successor }) else {
                throw .corrupted(Damage(file: path, offset: status.size, reason: "segment has no footer"))
            }
            let next = try successor.open().header
            try opened.scan(to: status.size, through: next.previousLast)
            opened.expectEnd(before: next)
        }
        return state.withLock { state in
            if let other = state.opened { return other }
            state.opened = opened
            return opened
        }
    }
}

/// A segment's file, header and index.
final class OpenSegment: Sendable {
    let path: String
    let file: any File
    let header: SegmentHeader
    let content: Monitor<SegmentContent>
    let budget: PageBudget

    /// The file, which stays open as long as somebody holds this.
    func openFile() throws(JournalError) -> any File {
        try journalErrors { () throws(FileError) in try (file as? SegmentFile)?.opened() ?? file }
    }

    init(path: String, file: any File, header: SegmentHeader, budget: PageBudget) {
        self.budget = budget
        self.path = path
        self.file = file
        self.header = header
        content = Monitor(
            SegmentContent(
                end: UInt64(SegmentHeader.size), lastCommit: header.previousLast, chain: header.chainStart,
                clock: header.clock, session: header.session))
    }

    /// Takes the index of a sealed file.
    /// - Returns: False if there is no valid footer.
    func loadSealed(size: UInt64) throws(JournalError) -> Bool {
        guard let footer = try SegmentFooter.read(from: file, size: size, salt: header.salt) else {
            return false
        }
        let part = try IndexPart(
            file: file, salt: header.salt, offset: footer.indexOffset, root: footer.root, budget: budget)
        var session = header.session
        if part.sessionCount > 0 { session = try part.session(part.sessionCount - 1).info }
        content.withLock { content in
            content.parts = footer.blockCount > 0 ? [part] : []
            content.tail.removeAll()
            content.end = footer.blocksEnd
            content.lastCommit = footer.lastCommit
            content.chain = footer.chain
            content.session = session
            content.footer = footer
        }
        return true
    }

    /// Takes the checkpoints that end with the one at an offset, and goes on from there.
    func loadCheckpoints(last offset: UInt64) throws(JournalError) {
        let last = try IndexPart(file: file, salt: header.salt, offset: offset, budget: budget)
        let row = try last.block(last.blockCount - 1)
        let bytes = try file.bytes(at: row.offset, count: BlockHeader.size)
        guard let block = BlockHeader(bytes.span, at: 0, salt: header.salt, offset: row.offset) else {
            throw .corrupted(
                Damage(file: path, offset: row.offset, reason: "block header does not match its checksum"))
        }
        var parts: [IndexPart] = []
        for place in last.earlier {
            parts.append(try IndexPart(file: file, salt: header.salt, offset: place, budget: budget))
        }
        parts.append(last)
        var session = header.session
        for part in parts where part.sessionCount > 0 {
            session = try part.session(part.sessionCount - 1).info
        }
        content.withLock { content in
            content.parts = parts
            content.tail.removeAll()
            content.end = last.end
            content.lastCommit = last.commits.upperBound
            content.chain = block.checksum
            content.session = session
            content.checkpoint = offset
        }
    }

    /// Indexes the blocks from the known end to `limit`, no commit above `through`; damage is kept, not thrown.
    func scan(to limit: UInt64, through last: UInt64 = .max) throws(JournalError) {
        var state = content.withLock { $0 }
        var scanner = FrameScanner(
            file: file, salt: header.salt, offset: state.end, limit: limit, chain: state.chain)
        var checkpoint: UInt64?
        scanning: while true {
            switch try scanner.next() {
            case .block(let blockHeader, let raw):
                if blockHeader.firstCommit > last { break scanning }
                if !state.add(blockHeader, raw: raw, offset: scanner.frameOffset) {
                    state.damage = damage(
                        scanner.frameOffset, "block holds no valid entries", state.lastCommit)
                    break scanning
                }
                state.checkpoint = checkpoint ?? state.checkpoint
                checkpoint = nil
            case .index:
                // A checkpoint that another process wrote: its blocks are in the tail already. It counts with the block
                // that was written with it; without one it is a seal that a crash cut short.
                checkpoint = scanner.frameOffset + 8
            case .filler: continue
            case .footer, .end: break scanning
            case .damaged(let reason):
                // Above the last commit asked for, wrong bytes are nobody's.
                if last == .max || state.lastCommit < last {
                    state.damage = damage(scanner.frameOffset, reason, state.lastCommit)
                }
                break scanning
            }
        }
        let scanned = state
        content.withLock { $0 = scanned }
    }

    /// Moves the end behind a checkpoint that no group followed, if it lies below `limit`.
    func takeCheckpoint(before limit: UInt64) throws(JournalError) {
        let end = content.withLock { $0.end }
        guard let behind = try endOfFrame(LZ4Frame.indexMagic, at: end, before: limit) else { return }
        content.withLock { content in
            content.end = behind
            content.checkpoint = end + 8
        }
    }

    /// Moves the end behind the padding that a group was written with, if it lies below `limit`.
    func takePadding(before limit: UInt64) throws(JournalError) {
        let end = content.withLock { $0.end }
        guard let behind = try endOfFrame(LZ4Frame.fillerMagic, at: end, before: limit),
            behind == LZ4Frame.paddedEnd(of: end)
        else { return }
        content.withLock { $0.end = behind }
    }

    /// Where a skippable frame of a kind ends that begins at a place; nil if there is none below `limit`.
    private func endOfFrame(
        _ magic: UInt32, at place: UInt64, before limit: UInt64
    ) throws(JournalError) -> UInt64? {
        guard place + 8 <= limit else { return nil }
        let head = try file.bytes(at: place, count: 8)
        guard head.count == 8, head.word32(at: 0) == magic else { return nil }
        let end = place + 8 + UInt64(head.word32(at: 4))
        return end <= limit ? end : nil
    }

    /// Everything up to the start of the next segment was acknowledged: one that ends before it lost its end.
    func expectEnd(before next: SegmentHeader) {
        let isVery = next.number == header.number + 1 && next.previousGeneration == header.generation
        content.withLock { content in
            guard content.damage == nil,
                content.lastCommit != next.previousLast || isVery && content.chain != next.previousChain
            else { return }
            let first = min(content.lastCommit + 1, next.previousLast)
            content.damage = Damage(
                file: path, offset: content.end, commits: first...next.previousLast,
                reason: "segment ends before the next one begins")
        }
    }

    private func damage(_ offset: UInt64, _ reason: String, _ lastCommit: UInt64) -> Damage {
        Damage(file: path, offset: offset, commits: lastCommit + 1 ... .max, reason: reason)
    }

    /// Reads and checks a block; with `prefix`, only so many bytes of its content are decoded.
    func read(_ row: BlockRow, prefix: Int = .max) throws(JournalError) -> [UInt8] {
        let stored = try file.bytes(at: row.offset, count: BlockHeader.size + Int(row.storedSize))
        try check(stored.span, row)
        let payload = stored.span.extracting(BlockHeader.size...)
        guard let raw = LZ4Frame.decode(payload, rawSize: Int(row.rawSize), prefix: prefix) else {
            throw damaged(row, "block does not decompress")
        }
        return raw
    }

    /// Checks a block as it is stored, and decodes it into an array whose memory is used again.
    fileprivate func decode(
        _ stored: Span<UInt8>, _ row: BlockRow, into raw: inout [UInt8]
    ) throws(JournalError) {
        try check(stored, row)
        let payload = stored.extracting(BlockHeader.size...)
        guard LZ4Frame.decode(payload, rawSize: Int(row.rawSize), into: &raw) else {
            throw damaged(row, "block does not decompress")
        }
    }

    /// Checks the header and the checksum of a block as it is stored.
    private func check(_ stored: Span<UInt8>, _ row: BlockRow) throws(JournalError) {
        guard let header = BlockHeader(stored, at: 0, salt: self.header.salt, offset: row.offset),
            header.storedSize == row.storedSize, header.rawSize == row.rawSize,
            header.firstCommit == row.firstCommit, header.lastCommit == row.lastCommit
        else { throw damaged(row, "block header does not match its checksum") }
        guard stored.count >= BlockHeader.size + Int(row.storedSize) else {
            throw damaged(row, "block is cut off")
        }
        guard crc32c(stored.extracting(BlockHeader.size...)) == header.payloadCRC else {
            throw damaged(row, "block does not match its checksum")
        }
    }

    private func damaged(_ row: BlockRow, _ reason: String) -> JournalError {
        .corrupted(
            Damage(file: path, offset: row.offset, commits: row.firstCommit...row.lastCommit, reason: reason))
    }
}

/// Memory for one block at a time, and for the stored bytes of some that follow it.
struct BlockBuffer {
    /// What was read last of a segment, from `start` on; the first `storedCount` bytes.
    private var stored: [UInt8] = []
    private var storedCount = 0
    private var start: UInt64 = 0
    private var segment: OpenSegment?
    /// How many bytes were read at once.
    private var ahead = 0
    /// The content is in the first `count` bytes.
    private var raw: [UInt8] = []
    private var count = 0

    private static let aheadMax = 128 * 1024

    /// Reads and checks a block.
    mutating func read(_ row: BlockRow, of segment: OpenSegment) throws(JournalError) {
        let size = BlockHeader.size + Int(row.storedSize)
        if self.segment !== segment || row.offset < start
            || row.offset + UInt64(size) > start + UInt64(storedCount)
        {
            // Whoever reads on from where the last bytes end will go on: each time twice as much is read.
            let end = start + UInt64(storedCount)
            let goesOn = self.segment === segment && row.offset >= start && row.offset <= end
            ahead = goesOn ? min(ahead * 2, Self.aheadMax) : size
            self.segment = segment
            start = row.offset
            // Nothing, if reading fails.
            storedCount = 0
            storedCount = try segment.file.read(max(size, ahead), at: start, into: &stored)
        }
        let place = Int(row.offset - start)
        let window = place..<min(place + size, storedCount)
        // Taken out, for the one is read while the other is written.
        var content: [UInt8] = []
        swap(&content, &raw)
        let failure = decode(window, row, segment, into: &content)
        swap(&content, &raw)
        if let failure { throw failure }
        count = Int(row.rawSize)
    }

    private func decode(
        _ window: Range<Int>, _ row: BlockRow, _ segment: OpenSegment, into content: inout [UInt8]
    ) -> JournalError? {
        do throws(JournalError) {
            try segment.decode(stored.span.extracting(window), row, into: &content)
            return nil
        } catch {
            return error
        }
    }

    /// The content of the block that was read last.
    var content: Span<UInt8> {
        @_lifetime(borrow self)
        borrowing get { raw.span.extracting(first: count) }
    }
}

/// What is known of a segment: what its indexes cover, the tail behind them, and where it ends.
struct SegmentContent: Sendable {
    var parts: [IndexPart] = []
    var tail = TailIndex()
    /// The place after the last durable block or checkpoint.
    var end: UInt64
    var lastCommit: UInt64
    /// The checksum of the last block header.
    var chain: UInt32
    /// The log clock of the last commit.
    var clock: Int64
    /// The session in force at the end.
    var session: SessionInfo
    /// The first page of the last checkpoint, or 0.
    var checkpoint: UInt64 = 0
    /// The footer of a sealed segment.
    var footer: SegmentFooter?
    /// Where a scan met wrong bytes; what lies behind is not in the tail.
    var damage: Damage?

    init(end: UInt64, lastCommit: UInt64, chain: UInt32, clock: Int64, session: SessionInfo) {
        self.end = end
        self.lastCommit = lastCommit
        self.chain = chain
        self.clock = clock
        self.session = session
    }

    /// Adds a block that was read at an offset.
    /// - Returns: False if its entries are not valid.
    mutating func add(_ header: BlockHeader, raw: [UInt8], offset: UInt64) -> Bool {
        var index = TailIndex()
        do throws(CBORError) { try index.add(header, at: offset, raw: raw.span) } catch { return false }
        append(index, chain: header.checksum)
        return true
    }

    /// Adds blocks that were indexed as they were written.
    mutating func append(_ index: TailIndex, chain: UInt32) {
        guard let last = index.blocks.last else { return }
        tail.append(index)
        end = last.end
        lastCommit = last.lastCommit
        self.chain = chain
        clock = index.clock
        if let row = index.sessions.last { session = row.info }
    }
}
