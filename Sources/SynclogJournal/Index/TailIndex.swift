/// The index of the blocks that no index on disk covers yet.
struct TailIndex: Sendable {
    private(set) var blocks: [BlockRow] = []
    private(set) var keys: [KeyRow] = []
    private(set) var groups: [GroupRow] = []
    private(set) var zones: [UInt64: ZoneRow] = [:]
    private(set) var sessions: [SessionRow] = []
    private(set) var entryCount: UInt64 = 0
    /// The log clock of the last commit.
    private(set) var clock: Int64 = 0
    /// The newest row of each fingerprint; older ones are found through `older`.
    ///
    /// Both hold the first `older.count` keys: a tail that nobody searches pays nothing for them.
    private var newest: [UInt64: Int32] = [:]
    private var older: [Int32] = []
    private static let groupsSearched = 32

    /// The stored bytes of the blocks.
    var storedSize: UInt64 { blocks.last.map { $0.end - blocks[0].offset } ?? 0 }

    /// Adds a block and its entries, which come after all others; they must be what the header says.
    mutating func add(_ header: BlockHeader, at offset: UInt64, raw: Span<UInt8>) throws(CBORError) {
        var row = BlockRow(header, at: offset)
        let number = UInt32(blocks.count)
        let firstGroup = groups.count
        let firstEntry = entryCount
        var parser = PayloadParser(raw)
        var commit: CommitPlace?
        while !parser.isAtEnd {
            switch try parser.next() {
            case .commit(let info):
                guard info.number > commit?.number ?? 0, commit != nil || info.number == header.firstCommit
                else { throw CBORError(offset: parser.offset) }
                row.firstWall = commit == nil ? info.wall : min(row.firstWall, info.wall)
                row.lastWall = commit == nil ? info.wall : max(row.lastWall, info.wall)
                info.forEachZone(in: raw) { link in
                    include(ZoneRow(zone: link.zone, firstCommit: info.number, lastCommit: info.number))
                }
                commit = info
            case .entry(let view):
                guard let info = commit else { throw CBORError(offset: parser.offset) }
                entryCount += 1
                note(GroupRow(space: view.space.rawValue, block: number, zone: view.zone), from: firstGroup)
                if view.operation == .note { continue }
                if view.space == .session, view.name.count == 8 {
                    sessions.append(
                        SessionRow(
                            info: SessionInfo(
                                label: view.name.reduce(0) { $0 << 8 | UInt64(raw[$1]) }, commit: info.number,
                                clock: info.clock)))
                }
                let fingerprint = view.fingerprint(in: raw)
                let place = UInt32(view.range.lowerBound) | (view.operation == .delete ? KeyRow.tombstone : 0)
                keys.append(KeyRow(fingerprint: fingerprint, block: number, place: place))
            }
        }
        guard let commit, commit.number == header.lastCommit,
            entryCount - firstEntry == UInt64(header.entryCount)
        else { throw CBORError(offset: parser.offset) }
        clock = commit.clock
        dropRepeats(from: firstGroup)
        blocks.append(row)
    }

    /// Adds commits of a zone that come after all others.
    private mutating func include(_ row: ZoneRow) {
        let first = zones[row.zone]?.firstCommit ?? row.firstCommit
        zones[row.zone] = ZoneRow(zone: row.zone, firstCommit: first, lastCommit: row.lastCommit)
    }

    /// Adds a group unless it is among the block's last ones; most blocks have few, and the last one comes again most often.
    private mutating func note(_ row: GroupRow, from first: Int) {
        let reach = max(first, groups.count - Self.groupsSearched)
        for place in stride(from: groups.count - 1, through: reach, by: -1) where groups[place] == row {
            return
        }
        groups.append(row)
    }

    /// Takes out the repeats that `note` let through in a block of very many zones.
    private mutating func dropRepeats(from first: Int) {
        guard groups.count - first > Self.groupsSearched else { return }
        let unique = Set(groups[first...])
        groups.replaceSubrange(first..., with: unique.sorted())
    }

    /// The rows of a fingerprint, newest first.
    mutating func rows(of fingerprint: UInt64) -> [KeyRow] {
        for place in older.count..<keys.count {
            older.append(newest.updateValue(Int32(place), forKey: keys[place].fingerprint) ?? -1)
        }
        var rows: [KeyRow] = []
        var next = newest[fingerprint] ?? -1
        while next >= 0 {
            rows.append(keys[Int(next)])
            next = older[Int(next)]
        }
        return rows
    }

    /// Adds what was indexed elsewhere and comes after all others.
    mutating func append(_ other: TailIndex) {
        guard !other.blocks.isEmpty else { return }
        let base = UInt32(blocks.count)
        blocks += other.blocks
        for row in other.keys {
            keys.append(KeyRow(fingerprint: row.fingerprint, block: row.block + base, place: row.place))
        }
        for row in other.groups {
            groups.append(GroupRow(space: row.space, block: row.block + base, zone: row.zone))
        }
        for row in other.zones.values { include(row) }
        sessions += other.sessions
        entryCount += other.entryCount
        clock = other.clock
    }

    /// Gives the keys away instead of copying them.
    mutating func takeKeys() -> [KeyRow] {
        defer { self = TailIndex() }
        return keys
    }

    /// Forgets everything.
    mutating func removeAll() { self = TailIndex() }
}
