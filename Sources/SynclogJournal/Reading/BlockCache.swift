/// The decoded blocks that were read last; bounded.
final class BlockCache: Sendable {
    private struct Place: Hashable {
        var segment: SegmentName
        var offset: UInt64
    }

    private struct State {
        var blocks: [Place: [UInt8]] = [:]
        var order: [Place] = []
        var next = 0
    }

    private static let countMax = 64
    private static let blockSizeMax = 64 * 1024
    private let state = Monitor(State())

    /// The content of a block, from here or from its file.
    func read(_ row: BlockRow, of segment: OpenSegment) throws(JournalError) -> [UInt8] {
        let name = SegmentName(number: segment.header.number, generation: segment.header.generation)
        let place = Place(segment: name, offset: row.offset)
        if let raw = state.withLock({ $0.blocks[place] }) { return raw }
        let raw = try segment.read(row)
        guard raw.count <= Self.blockSizeMax else { return raw }
        state.withLock { state in
            guard state.blocks[place] == nil else { return }
            if state.order.count < Self.countMax {
                state.order.append(place)
            } else {
                state.blocks[state.order[state.next]] = nil
                state.order[state.next] = place
                state.next = (state.next + 1) % Self.countMax
            }
            state.blocks[place] = raw
        }
        return raw
    }

    /// Forgets everything; for a directory whose content was replaced.
    func removeAll() { state.withLock { $0 = State() } }
}
