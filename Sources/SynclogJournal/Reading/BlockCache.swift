/// A block's content with the places of its commit items, for finding entries in it again and again.
final class DecodedBlock: Sendable {
    let raw: [UInt8]
    private let commits: [UInt32]

    init(_ raw: [UInt8]) throws(CBORError) {
        self.raw = raw
        var commits: [UInt32] = []
        var parser = PayloadParser(raw.span)
        while !parser.isAtEnd {
            let start = UInt32(parser.offset)
            if case .commit = try parser.next() { commits.append(start) }
        }
        self.commits = commits
    }

    /// The place of the last commit item before a place, or nil.
    func commit(before place: Int) -> Int? {
        var low = 0
        var high = commits.count
        while low < high {
            let middle = (low + high) / 2
            if Int(commits[middle]) < place { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : Int(commits[low - 1])
    }
}

/// The blocks that single entries were looked up in; bounded.
///
/// A block is kept when it is asked for twice in short order, so that reading here and there does not drive out what is
/// read all the time.
final class BlockCache: Sendable {
    private struct Place: Hashable {
        var segment: SegmentName
        var offset: UInt64
    }

    private struct State {
        var blocks: [Place: DecodedBlock] = [:]
        /// The places of the blocks in the order in which they are given up; a ring of at most `countMax`.
        var order: [Place] = []
        var next = 0
        /// The blocks that were asked for last, by hash.
        var asked = [Place?](repeating: nil, count: BlockCache.countMax)
    }

    private static let countMax = 512
    /// 512 of these are 16 MiB; the usual block has 8 KiB, that of a merge 16.
    private static let blockSizeMax = 32 * 1024
    private let state = Monitor(State())

    /// A block that is kept, or is worth to be kept from now on; nil for others.
    func block(_ row: BlockRow, of segment: OpenSegment) throws(JournalError) -> DecodedBlock? {
        let name = SegmentName(number: segment.header.number, generation: segment.header.generation)
        let place = Place(segment: name, offset: row.offset)
        let (kept, isWorthIt) = state.withLock { state -> (DecodedBlock?, Bool) in
            if let block = state.blocks[place] { return (block, true) }
            let slot = Int(truncatingIfNeeded: (row.offset / 512 &+ name.number &* 0x9E37_79B9) & 511)
            if state.asked[slot] == place { return (nil, true) }
            state.asked[slot] = place
            return (nil, false)
        }
        if let kept { return kept }
        guard isWorthIt, row.rawSize <= Self.blockSizeMax else { return nil }
        let raw = try segment.read(row)
        guard let block = try? DecodedBlock(raw) else { return nil }
        state.withLock { state in
            guard state.blocks[place] == nil else { return }
            if state.order.count < Self.countMax {
                state.order.append(place)
            } else {
                state.blocks[state.order[state.next]] = nil
                state.order[state.next] = place
                state.next = (state.next + 1) % Self.countMax
            }
            state.blocks[place] = block
        }
        return block
    }

    /// Forgets everything; for a directory whose content was replaced.
    func removeAll() { state.withLock { $0 = State() } }
}
