/// The index of the blocks that no index on disk covers yet.
struct TailIndex: Sendable {
    private(set) var blocks: [BlockRow] = []
    private(set) var keys: [KeyRow] = []
    private(set) var groups: Set<GroupRow> = []
    private(set) var zones: [UInt64: ZoneRow] = [:]
    private(set) var sessions: [SessionRow] = []
    private(set) var entryCount: UInt64 = 0
    /// The newest row of each fingerprint; older ones are found through `older`.
    private var newest: [UInt64: Int32] = [:]
    private var older: [Int32] = []
    private let isSearched: Bool

    /// Makes an empty tail; one that is only written to disk need not be searched.
    init(isSearched: Bool = true) { self.isSearched = isSearched }

    /// The stored bytes of the blocks.
    var storedSize: UInt64 { blocks.last.map { $0.end - blocks[0].offset } ?? 0 }

    /// Adds a block and its entries, which come after all others.
    /// - Returns: The facts of the block's last commit.
    @discardableResult
    mutating func add(_ block: BlockRow, raw: [UInt8]) throws(CBORError) -> CommitInfo? {
        var row = block
        let number = UInt32(blocks.count)
        var parser = PayloadParser(raw)
        var commit: CommitInfo?
        while !parser.isAtEnd {
            switch try parser.next() {
            case .commit(let info, _):
                row.firstWall = commit == nil ? info.wall : min(row.firstWall, info.wall)
                row.lastWall = commit == nil ? info.wall : max(row.lastWall, info.wall)
                for link in info.zones {
                    zones[
                        link.zone, default: ZoneRow(zone: link.zone, firstCommit: info.number, lastCommit: 0)
                    ]
                    .lastCommit = info.number
                }
                commit = info
            case .entry(let view):
                guard let info = commit else { throw CBORError(offset: parser.offset) }
                entryCount += 1
                groups.insert(GroupRow(space: view.space.rawValue, block: number, zone: view.zone))
                if view.operation == .note { continue }
                if view.space == .session, view.name.count == 8 {
                    sessions.append(
                        SessionRow(
                            info: SessionInfo(
                                label: raw[view.name].reduce(0) { $0 << 8 | UInt64($1) }, commit: info.number,
                                clock: info.clock)))
                }
                let fingerprint = view.fingerprint(in: raw)
                let place = UInt32(view.range.lowerBound) | (view.operation == .delete ? KeyRow.tombstone : 0)
                if isSearched {
                    older.append(newest.updateValue(Int32(keys.count), forKey: fingerprint) ?? -1)
                }
                keys.append(KeyRow(fingerprint: fingerprint, block: number, place: place))
            }
        }
        blocks.append(row)
        return commit
    }

    /// The rows of a fingerprint, newest first.
    func rows(of fingerprint: UInt64) -> [KeyRow] {
        var rows: [KeyRow] = []
        var next = newest[fingerprint] ?? -1
        while next >= 0 {
            rows.append(keys[Int(next)])
            next = older[Int(next)]
        }
        return rows
    }

    /// Forgets everything.
    mutating func removeAll() { self = TailIndex() }
}
