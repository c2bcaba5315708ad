/// What a check of all files found.
public struct VerifyReport: Sendable {
    /// One segment that was checked.
    public struct Segment: Sendable {
        /// The file's name.
        public var name: String
        /// Whether it carries an index and a footer.
        public var sealed: Bool
        /// Its commits, nil if none.
        public var commits: ClosedRange<UInt64>?
        /// The number of entries.
        public var entries: Int
        /// The number of blocks.
        public var blocks: Int
        /// The size in bytes of all blocks before compression.
        public var rawBytes: UInt64
        /// The size in bytes.
        public var size: UInt64
    }

    /// The segments in order.
    public var segments: [Segment] = []
    /// What is wrong, in order of place.
    public var damages: [Damage] = []
    /// The loss of an acknowledged end, if there is one.
    public var lost: JournalError?
    /// Names in the directory that do not belong to a journal, sorted.
    public var strays: [String] = []
    /// Bytes behind the last durable commit that the next open for writing will deal with.
    public var tailBytes: UInt64 = 0

    /// Whether nothing is wrong.
    public var isSound: Bool { damages.isEmpty && lost == nil }
}

extension Journal {
    /// Checks every byte of every file against its checksums, its index and its neighbours; changes nothing.
    ///
    /// It looks at the files anew, whatever this handle knows.
    public static func verify(
        at path: String, options: JournalOptions = JournalOptions(),
        progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(JournalError) -> VerifyReport {
        let live = LiveJournal(path: path, mode: .readOnly, options: options)
        return try lookingAgain { () throws(JournalError) in
            try Verification(directory: live.directory).run(progress: progress)
        }
    }

    /// Checks every byte of every file of this journal.
    public func verify(
        progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(JournalError) -> VerifyReport {
        try Self.verify(at: path, options: options, progress: progress)
    }
}

/// One run over all files of a journal.
struct Verification {
    let directory: SegmentDirectory
    /// More damages than this are not listed.
    private static let damagesMax = 100

    func run(progress: (UInt64, UInt64) -> Void) throws(JournalError) -> VerifyReport {
        let fileSystem = directory.fileSystem
        let segments = try directory.segments()
        var report = VerifyReport()
        report.strays = try journalErrors { () throws(FileError) in try fileSystem.list(directory.path) }
            .filter { SegmentName($0) == nil && !SegmentDirectory.otherNames.contains($0) }.sorted()
        var total: UInt64 = 0
        for segment in segments {
            total +=
                try journalErrors { () throws(FileError) in try fileSystem.status(segment.path) }?.size ?? 0
        }
        var headers: [SegmentHeader?] = []
        for segment in segments {
            do throws(JournalError) {
                let header = try segment.openFile().header
                guard header.number == segment.name.number, header.generation == segment.name.generation
                else {
                    throw .corrupted(
                        Damage(
                            file: segment.path, offset: 0, reason: "segment header belongs to another file"))
                }
                headers.append(header)
            } catch {
                guard case .corrupted(let damage) = error else { throw error }
                report.damages.append(damage)
                headers.append(nil)
            }
        }
        guard let anyHeader = headers.compactMap(\.self).first else { return report }
        let slot = HeadSlot.newest(
            try directory.headBytes(), journal: anyHeader.journal, inode: try directory.inode())
        if let slot, let last = segments.last, slot.segment > last.name.number {
            throw .missingSegment(path: directory.path, number: slot.segment)
        }
        var done: UInt64 = 0
        var previous: (last: UInt64, chain: UInt32, name: SegmentName)?
        for (place, segment) in segments.enumerated() {
            guard let header = headers[place] else {
                previous = nil
                continue
            }
            let file = try segment.openFile().file
            if header.journal != anyHeader.journal {
                report.damages.append(
                    Damage(file: segment.path, offset: 0, reason: "segment belongs to another journal"))
            }
            // The chain is compared only with that very predecessor: a merged one has a chain of its own.
            let isVery =
                previous?.name.number == header.number - 1
                && previous?.name.generation == header.previousGeneration
            if let previous,
                previous.last != header.previousLast || isVery && previous.chain != header.previousChain
            {
                report.damages.append(
                    Damage(file: segment.path, offset: 0, reason: "segment does not continue the one before"))
            }
            let isLast = place == segments.count - 1
            var check = SegmentCheck(path: segment.path, name: segment.name.text, file: file, header: header)
            // Only a recovery that is under way leaves one without its seal: the last but one, and HEAD is still below. A merged
            // one was whole before it got its name.
            check.mustBeSealed =
                place < segments.count - 2
                || !isLast && (header.generation > 0 || slot.map { $0.segment > header.number } ?? false)
            try check.run(
                through: isLast
                    ? nil : place + 1 < headers.count ? headers[place + 1]?.previousLast : nil,
                slot: isLast && slot?.segment == header.number ? slot : nil, isLast: isLast)
            report.segments.append(check.result)
            report.damages += check.damages
            report.lost = check.lost ?? report.lost
            report.tailBytes += check.tailBytes
            previous = check.damages.isEmpty ? (check.lastCommit, check.chain, segment.name) : nil
            done += check.result.size
            progress(done, total)
            if report.damages.count > Self.damagesMax { break }
        }
        return report
    }
}

/// The check of one segment file.
struct SegmentCheck {
    let path: String
    let file: any File
    let header: SegmentHeader
    var result: VerifyReport.Segment
    var damages: [Damage] = []
    var lost: JournalError?
    var tailBytes: UInt64 = 0
    var lastCommit: UInt64
    var chain: UInt32
    /// Whether a missing or wrong seal is damage.
    var mustBeSealed = false
    /// What lies between one index frame and the next; an index covers the last ones, that of a seal all.
    private var parts: [IndexContent] = []
    /// Which of them the index at a place covers.
    private var covered: [UInt64: Range<Int>] = [:]
    /// What lies behind the last index frame.
    private var tail = TailIndex()
    private var lastBlock: BlockHeader?
    private var footer: SegmentFooter?
    /// Where the last index frame begins.
    private var index: UInt64 = 0
    private var end = UInt64(SegmentHeader.size)

    init(path: String, name: String, file: any File, header: SegmentHeader) {
        self.path = path
        self.file = file
        self.header = header
        result = VerifyReport.Segment(
            name: name, sealed: false, commits: nil, entries: 0, blocks: 0, rawBytes: 0, size: 0)
        lastCommit = header.previousLast
        chain = header.chainStart
    }

    private mutating func report(_ offset: UInt64, _ reason: String, _ commits: ClosedRange<UInt64>? = nil) {
        damages.append(Damage(file: path, offset: offset, commits: commits, reason: reason))
    }

    /// Checks the file; a slot of HEAD says where its durable part ends, a successor's start where it is void.
    mutating func run(through limit: UInt64?, slot: HeadSlot?, isLast: Bool) throws(JournalError) {
        let size = try journalErrors { () throws(FileError) in try file.status() }.size
        result.size = size
        // The head is for people and for other readers; the facts behind it were checked when the file was opened.
        if crc32c(try file.bytes(at: 0, count: Int(SegmentHeader.factsOffset))) != header.headCRC {
            report(0, "segment head does not match its checksum")
        }
        let proven = try slot.flatMap { slot throws(JournalError) in try provenBehind(slot, size: size) }
        let limit = proven ?? limit
        // Only what was never sealed has blocks behind its successor's start that are void.
        let seal = isLast ? nil : try SegmentFooter.read(from: file, size: size, salt: header.salt)
        let scanned = proven == nil ? slot.map { min($0.end, size) } ?? size : size
        var scanner = FrameScanner(
            file: file, salt: header.salt, offset: end, limit: scanned, chain: header.chainStart)
        // Whether the blocks end where HEAD says, be it old or not.
        var fitsHead = slot.map { $0.end == end && $0.lastCommit == lastCommit } ?? true
        scanning: while damages.count < 10 {
            defer { fitsHead = fitsHead || slot?.end == end && slot?.lastCommit == lastCommit }
            switch try scanner.next() {
            case .block(let block, let raw):
                if let limit, block.firstCommit > limit, seal == nil { break scanning }
                take(block, raw, at: scanner.frameOffset)
                end = scanner.offset
            case .index:
                index = scanner.frameOffset
                try check(index: index, end: scanner.offset)
                // The index of a seal has a filler before it.
                if scanner.frameOffset == end { end = scanner.offset }
            case .filler:
                // Padding belongs to the group before it; no other filler ends at a multiple of 4 KiB below the durable end.
                if scanner.frameOffset == end, scanner.offset == LZ4Frame.paddedEnd(of: end) {
                    end = scanner.offset
                }
            case .footer(let found):
                footer = found
                if scanner.offset != size { report(scanner.offset, "bytes follow the footer") }
            case .end: break scanning
            case .damaged(let reason):
                if slot == nil, isLast, try scanner.provenBehind() <= lastCommit {
                    // Without a proof this may be the torn tail of a commit that was never acknowledged.
                    break scanning
                }
                if let limit, lastCommit >= limit, footer == nil, proven != nil || !isLast && !mustBeSealed {
                    break scanning
                }
                report(
                    scanner.frameOffset, reason,
                    lastCommit + 1...max(lastCommit + 1, limit ?? slot?.lastCommit ?? 0))
                guard let found = try scanner.findHeader() else { break scanning }
                scanner.resume(at: found.offset, chain: found.header.previousCRC)
            }
        }
        result.sealed = footer != nil
        if header.generation > 0, result.blocks == 0 { chain = footer?.chain ?? chain }
        if let footer { try check(footer) } else if !isLast { checkUnsealed(limit) }
        if let slot, size < slot.end {
            lost = .lostData(
                acknowledged: JournalPlace(commit: slot.lastCommit, file: path, offset: slot.end),
                found: JournalPlace(commit: lastCommit, file: path, offset: end))
            return
        }
        if let slot, !fitsHead, damages.isEmpty {
            let first = min(lastCommit, slot.lastCommit) + 1
            report(
                min(end, slot.end), "blocks do not end where HEAD says", first...max(first, slot.lastCommit))
        }
        if let slot, proven == nil {
            tailBytes = try isFiller(from: slot.end, to: size) ? 0 : size - slot.end
        } else if isLast, footer == nil {
            tailBytes = size - end
        }
    }

    /// The last commit that blocks behind the end of a HEAD that may be old prove durable; nil if there is none.
    private func provenBehind(_ slot: HeadSlot, size: UInt64) throws(JournalError) -> UInt64? {
        guard size > slot.end else { return nil }
        var scanner = FrameScanner(
            file: file, salt: header.salt, offset: slot.end, limit: size, chain: slot.chain)
        let proven = try scanner.proof(above: slot.lastCommit).proven
        return proven > slot.lastCommit ? proven : nil
    }

    private mutating func take(_ block: BlockHeader, _ raw: [UInt8], at offset: UInt64) {
        let continues = lastBlock.map { $0.lastCommit >= block.firstCommit } ?? false
        if block.firstCommit < lastCommit || (block.firstCommit == lastCommit && !continues) {
            report(offset, "commits do not rise", block.firstCommit...block.lastCommit)
        }
        do throws(CBORError) {
            try tail.add(block, at: offset, raw: raw.span)
            lastBlock = block
            lastCommit = block.lastCommit
            chain = block.checksum
            // The last commit stays behind a first block that cannot be.
            let first = result.commits?.lowerBound ?? block.firstCommit
            result.commits = first...max(first, lastCommit)
            result.entries += Int(block.entryCount)
            result.blocks += 1
            result.rawBytes += UInt64(block.rawSize)
        } catch {
            report(offset, "block holds no valid entries", block.firstCommit...block.lastCommit)
        }
    }

    private mutating func check(index offset: UInt64, end: UInt64) throws(JournalError) {
        parts.append(IndexContent(tail))
        tail.removeAll()
        do throws(JournalError) {
            let part = try IndexPart(file: file, salt: header.salt, offset: offset + 8, budget: PageBudget())
            if part.end != end { report(offset, "index frame does not have the size of its pages") }
            try part.verify()
            // Where blocks are damaged, what an index should say is not known.
            guard damages.isEmpty else { return }
            if try !agrees(part) { report(offset + 8, "index does not agree with the blocks") }
        } catch {
            guard case .corrupted(let damage) = error else { throw error }
            damages.append(damage)
        }
    }

    /// Whether an index is, byte by byte, the one of the blocks between its first one and itself.
    private mutating func agrees(_ part: IndexPart) throws(JournalError) -> Bool {
        guard part.blockCount > 0 else { return parts.allSatisfy { $0.blocks.isEmpty } }
        let start = try part.block(0).offset
        guard let first = parts.firstIndex(where: { $0.blocks.first?.offset == start }) else { return false }
        covered[part.offset] = first..<parts.count
        guard leads(part.earlier, to: first) else { return false }
        var content = parts[first]
        for other in parts[(first + 1)...] { content.append(other) }
        content.finish()
        let pages = IndexPages(content, salt: header.salt, offset: part.offset, earlier: part.earlier)
        guard pages.count == part.layout.pageCount else { return false }
        for number in 0..<pages.count {
            var page: [UInt8] = []
            pages.append(number, to: &page)
            let place = part.offset + UInt64(number * IndexLayout.page)
            if try file.bytes(at: place, count: IndexLayout.page) != page { return false }
        }
        return true
    }

    /// Whether the indexes at these places cover all blocks before a part, in order and once.
    private func leads(_ earlier: [UInt64], to first: Int) -> Bool {
        var next = 0
        func skipEmpty() { while next < first, parts[next].blocks.isEmpty { next += 1 } }
        for place in earlier {
            skipEmpty()
            guard let range = covered[place], range.lowerBound == next else { return false }
            next = range.upperBound
        }
        skipEmpty()
        return next == first
    }

    private mutating func check(_ footer: SegmentFooter) throws(JournalError) {
        guard damages.isEmpty else { return }
        let place = footer.fileSize - UInt64(SegmentFooter.size)
        // The last commits of a merged segment may hold nothing any more.
        if header.generation > 0 { lastCommit = max(lastCommit, footer.lastCommit) }
        guard footer.lastCommit == lastCommit, footer.blocksEnd == end, footer.chain == chain,
            Int(footer.blockCount) == result.blocks, footer.entryCount == UInt64(result.entries)
        else { return report(place, "footer does not agree with the blocks") }
        guard footer.blockCount > 0 else { return }
        guard footer.indexOffset == index + 8 else { return report(place, "footer names another index") }
        let rootPage = try file.bytes(at: footer.indexOffset, count: IndexLayout.rootSize)
        guard rootPage == footer.root else { return report(place, "footer does not repeat the index's root") }
        if rootPage.word32(at: 4) != footer.indexPages {
            report(place, "footer names another number of index pages")
        }
        if rootPage.word32(at: 40) != footer.blockCount {
            report(footer.indexOffset, "index does not cover all blocks")
        }
    }

    private mutating func checkUnsealed(_ limit: UInt64?) {
        // A cut segment awaits its seal; everything up to its successor's start must be there.
        if let limit, lastCommit < limit {
            report(end, "segment ends before the next one begins", lastCommit + 1...limit)
        } else if limit == nil || mustBeSealed, damages.isEmpty {
            report(end, "segment has no footer")
        }
    }

    /// Whether nothing, or one filler, lies between a place and the end of the file.
    private func isFiller(from place: UInt64, to size: UInt64) throws(JournalError) -> Bool {
        guard size > place else { return true }
        let bytes = try file.bytes(at: place, count: 8)
        return bytes.count == 8 && bytes.word32(at: 0) == LZ4Frame.fillerMagic
            && place + 8 + UInt64(bytes.word32(at: 4)) == size
    }
}
