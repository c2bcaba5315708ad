/// The durable content of a journal at one moment: its segments, and the head.
final class JournalSnapshot: Sendable {
    let segments: [Segment]
    let head: JournalHead
    /// The log clock of the head's commit.
    let clock: Int64
    /// The last commit that is durable; above the head only where damage lies between, for reading around it.
    let proven: UInt64
    let cache: BlockCache
    let directory: SegmentDirectory
    /// A block is decoded this far behind the begin of an entry that is looked for.
    private static let entrySizeGuess = 1024

    init(
        segments: [Segment], head: JournalHead, clock: Int64, proven: UInt64, cache: BlockCache,
        directory: SegmentDirectory
    ) {
        self.segments = segments
        self.head = head
        self.clock = clock
        self.proven = proven
        self.cache = cache
        self.directory = directory
    }

    /// The same moment read from the files as they are named now, after a compaction took some of them away.
    func relisted() throws(JournalError) -> JournalSnapshot {
        var known: [SegmentName: Segment] = [:]
        for segment in segments where segment.ifOpen != nil { known[segment.name] = segment }
        let listed = try directory.segments()
        var found = listed.dropLast().map { known[$0.name] ?? $0 }
        if let last = listed.last, let live = known[last.name] { found.append(live) }
        for (place, segment) in found.enumerated().dropLast() { segment.setSuccessor(found[place + 1]) }
        return JournalSnapshot(
            segments: found, head: head, clock: clock, proven: proven, cache: cache, directory: directory)
    }

    /// The highest floor of any zone that compaction dropped tombstones of, here or in the source.
    func highestFloor() throws(JournalError) -> UInt64 {
        var highest = try floor(zone: Floor.highest)
        for segment in segments where segment.name.generation > 0 {
            highest = max(highest, try segment.open().header.highestFloor)
        }
        return highest
    }

    /// The lowest commit from which on the log holds whole commits.
    func consistentFrom() throws(JournalError) -> UInt64 {
        var highest: UInt64 = 0
        for segment in segments where segment.name.generation > 0 {
            highest = max(highest, try segment.open().header.consistentFrom)
        }
        return highest
    }

    /// The floor of a zone, or 0; zone 0 is the walk over zones.
    func floor(zone: UInt64) throws(JournalError) -> UInt64 {
        guard let stored = try entry(for: Floor.key(zone: zone)), stored.entry.operation == .put else {
            return 0
        }
        return Floor.commit(stored.entry.value) ?? 0
    }

    /// The number of the segment that holds a commit: the last one that begins at or below it.
    func segmentIndex(of commit: UInt64) throws(JournalError) -> Int {
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if try segments[middle].open().header.previousLast < commit {
                low = middle
            } else {
                high = middle
            }
        }
        return low
    }

    /// The newest put or delete of a key, in some segments or all.
    func entry(for key: EntryKey, among range: Range<Int>? = nil) throws(JournalError) -> StoredEntry? {
        guard let found = try find(key, among: range) else { return nil }
        let raw = found.raw.span
        return StoredEntry(
            commit: found.commit.info(in: raw),
            entry: found.place.entry(of: key, in: raw, commit: found.commit.number))
    }

    /// The position of the newest put or delete of a key.
    func position(of key: EntryKey) throws(JournalError) -> JournalPosition? {
        guard let found = try find(key) else { return nil }
        return JournalPosition(commit: found.commit.number, index: found.place.index)
    }

    private struct Found {
        var commit: CommitPlace
        var place: EntryPlace
        /// The block's content, at least up to the entry's end.
        var raw: [UInt8]
    }

    private func find(_ key: EntryKey, among range: Range<Int>? = nil) throws(JournalError) -> Found? {
        let probe = KeyProbe(key)
        for segment in segments[range ?? segments.indices].reversed() {
            let open = try segment.open()
            let (parts, rows) = try open.content.withLock { content throws(JournalError) in
                // A newer version may lie in the damage: no answer is better than an old one.
                if let damage = content.damage { throw .corrupted(damage) }
                return (
                    content.parts,
                    content.tail.rows(of: probe.fingerprint).map { ($0, content.tail.blocks[Int($0.block)]) }
                )
            }
            for (row, block) in rows {
                if let found = try look(row, block, open, key) { return found }
            }
            for part in parts.reversed() {
                let found = try part.first(of: probe) { row throws(JournalError) in
                    try look(row, try part.block(Int(row.block)), open, key)
                }
                if let found { return found }
            }
        }
        return nil
    }

    /// Looks whether the entry that an index row names is one of the key.
    private func look(
        _ row: KeyRow, _ block: BlockRow, _ segment: OpenSegment, _ key: EntryKey
    ) throws(JournalError) -> Found? {
        let place = Int(row.place & ~KeyRow.tombstone)
        let found: (CommitPlace, EntryPlace)?
        var raw: [UInt8]
        if let decoded = try cache.block(block, of: segment) {
            raw = decoded.raw
            found = Self.entry(at: place, in: raw.span, commitAt: decoded.commit(before: place))
        } else {
            // Most entries are short, and most blocks need not be decoded to their end, nor walked through for the commit.
            let commit = block.firstCommit == block.lastCommit ? 0 : nil
            raw = try segment.read(block, prefix: min(Int(block.rawSize), place + Self.entrySizeGuess))
            var short = Self.entry(at: place, in: raw.span, commitAt: commit)
            if short == nil, raw.count < Int(block.rawSize) {
                raw = try segment.read(block)
                short = Self.entry(at: place, in: raw.span, commitAt: commit)
            }
            found = short
        }
        guard let (commit, entry) = found else {
            throw .corrupted(damage(block, segment, "index names an entry that the block lacks"))
        }
        return entry.isOf(key, in: raw.span) ? Found(commit: commit, place: entry, raw: raw) : nil
    }

    /// The entry that begins at a place, and its commit, whose item is looked for unless its place is known.
    private static func entry(
        at place: Int, in raw: Span<UInt8>, commitAt known: Int?
    ) -> (CommitPlace, EntryPlace)? {
        var commit: CommitPlace?
        var parser = PayloadParser(raw, from: known ?? 0)
        repeat {
            guard let item = try? parser.next() else { return nil }
            if case .commit(let found) = item { commit = found }
        } while known == nil && parser.offset < place
        guard let commit, known != nil || parser.offset == place else { return nil }
        parser = PayloadParser(raw, from: place)
        guard case .entry(let entry)? = try? parser.next() else { return nil }
        return (commit, entry)
    }

    /// Whether a segment holds a put of a key, the newest one or not.
    func holds(_ key: EntryKey, _ probe: KeyProbe, in open: OpenSegment) throws(JournalError) -> Bool {
        for part in open.content.withLock({ $0.parts }) {
            let found = try part.first(of: probe) { row throws(JournalError) in
                row.place & KeyRow.tombstone == 0
                    ? try look(row, try part.block(Int(row.block)), open, key) : nil
            }
            if found != nil { return true }
        }
        return false
    }

    private func damage(_ block: BlockRow, _ segment: OpenSegment, _ reason: String) -> Damage {
        Damage(
            file: segment.path, offset: block.offset, commits: block.firstCommit...block.lastCommit,
            reason: reason)
    }

    /// The last commit with records of a zone, or 0.
    func lastCommit(ofZone zone: UInt64) throws(JournalError) -> UInt64 {
        for segment in segments.reversed() {
            let open = try segment.open()
            let (parts, row, damage) = open.content.withLock { ($0.parts, $0.tail.zones[zone], $0.damage) }
            if let damage { throw .corrupted(damage) }
            if let row { return row.lastCommit }
            for part in parts.reversed() {
                if let row = try part.zoneRow(zone) { return row.lastCommit }
            }
            // A zone has no records before the commit that made it.
            if open.header.previousLast < zone { return 0 }
        }
        return 0
    }

    /// The zones with records after a commit, each with its last commit.
    func zonesChanged(after commit: UInt64) throws(JournalError) -> [UInt64: UInt64] {
        var zones: [UInt64: UInt64] = [:]
        func see(_ row: ZoneRow) {
            if row.lastCommit > commit { zones[row.zone] = max(zones[row.zone] ?? 0, row.lastCommit) }
        }
        for segment in segments.reversed() {
            let open = try segment.open()
            let (parts, rows, damage) = open.content.withLock {
                ($0.parts, Array($0.tail.zones.values), $0.damage)
            }
            if let damage { throw .corrupted(damage) }
            rows.forEach(see)
            for part in parts where part.commits.upperBound > commit { try part.zoneRows().forEach(see) }
            if open.header.previousLast <= commit { break }
        }
        return zones
    }

    /// The session in force at a commit.
    func session(at commit: UInt64) throws(JournalError) -> SessionInfo {
        let open = try segments[try segmentIndex(of: commit)].open()
        let (parts, rows) = open.content.withLock { ($0.parts, $0.tail.sessions) }
        if let row = rows.last(where: { $0.info.commit <= commit }) { return row.info }
        for part in parts.reversed() where part.sessionCount > 0 {
            var low = 0
            var high = part.sessionCount
            while low < high {
                let middle = (low + high) / 2
                if try part.session(middle).info.commit <= commit { low = middle + 1 } else { high = middle }
            }
            if low > 0 { return try part.session(low - 1).info }
        }
        return open.header.session
    }

    /// The commit that carries the first session label after a commit, or nil.
    func nextSession(after commit: UInt64) throws(JournalError) -> SessionInfo? {
        for segment in segments[(try segmentIndex(of: commit))...] {
            let open = try segment.open()
            let (parts, rows) = open.content.withLock { ($0.parts, $0.tail.sessions) }
            for part in parts {
                for number in 0..<part.sessionCount {
                    let row = try part.session(number)
                    if row.info.commit > commit { return row.info }
                }
            }
            if let row = rows.first(where: { $0.info.commit > commit }) { return row.info }
        }
        return nil
    }
}
