/// Commits one after the other, with those of their entries that pass the filter; commits without any are left out.
///
/// It reads what was durable when it was made; make another one to go on. Not for use by two threads at once.
public struct JournalReader {
    /// Called with damage that reading then goes around; without it damage is thrown.
    public var onDamage: ((Damage) -> Void)?

    private var snapshot: JournalSnapshot
    private let filter: ReadFilter
    private var position: JournalPosition
    private let backward: Bool
    /// The segment that comes next.
    private var segment: Int
    private var current: OpenSegment?
    /// The file of that, which compaction may take away meanwhile.
    private var file: (any File)?
    /// The blocks still to be read, the next one last.
    private var rows: [BlockRow] = []
    /// Commits to hand out, the next one last.
    private var ready: [Commit] = []
    /// A commit whose other blocks may follow.
    private var carry: Commit?
    /// The last commit of the last block that was read; the first one when reading backward.
    private var seen: UInt64?
    private var buffer = BlockBuffer()
    /// How often in a row the next file was gone.
    private var oldListings = 0

    init(_ snapshot: JournalSnapshot, from position: JournalPosition, backward: Bool, filter: ReadFilter)
        throws(JournalError)
    {
        self.snapshot = snapshot
        self.filter = filter
        self.position = position
        self.backward = backward
        segment =
            position.commit > snapshot.head.commit && backward
            ? snapshot.segments.count - 1 : try snapshot.segmentIndex(of: position.commit)
        if !backward, position.commit > snapshot.proven { segment = snapshot.segments.count }
    }

    /// The next commit, or nil at the end.
    public mutating func next() throws(JournalError) -> Commit? {
        while true {
            if let commit = ready.popLast() {
                if !commit.entries.isEmpty { return commit }
                continue
            }
            if let row = rows.popLast(), let open = current {
                do throws(JournalError) {
                    take(try commits(of: row, in: open))
                    seen = backward ? row.firstCommit : row.lastCommit
                } catch {
                    guard let onDamage, case .corrupted(let damage) = error else { throw error }
                    onDamage(damage)
                }
                continue
            }
            if try !enterSegment() {
                defer { carry = nil }
                return carry.flatMap { $0.entries.isEmpty ? nil : $0 }
            }
        }
    }

    /// Calls the body with each of the next entries, in the reader's direction, until it returns false or the end is reached.
    ///
    /// Nothing is copied and nothing allocated per entry. After a stop the next call, or ``next()``, goes on behind the entry
    /// that the body returned false for.
    public mutating func forEachEntry(_ body: (borrowing EntryView) -> Bool) throws(JournalError) {
        guard try forEachLeft(body) else { return }
        while true {
            guard let row = rows.popLast(), let open = current else {
                if try enterSegment() { continue }
                return
            }
            do throws(JournalError) {
                if let stop = try forEachEntry(of: row, in: open, body) {
                    position = stop
                    rows.append(row)
                    return
                }
                seen = backward ? row.firstCommit : row.lastCommit
            } catch {
                guard let onDamage, case .corrupted(let damage) = error else { throw error }
                onDamage(damage)
            }
        }
    }

    /// Hands out what `next` has read already.
    /// - Returns: False if the body wants no more.
    private mutating func forEachLeft(_ body: (borrowing EntryView) -> Bool) throws(JournalError) -> Bool {
        if let carry {
            ready.insert(carry, at: 0)
            self.carry = nil
        }
        while let commit = ready.popLast() {
            let entries = backward ? commit.entries.reversed() : commit.entries
            for (number, entry) in entries.enumerated() {
                if body(EntryView(entry, of: commit.info)) { continue }
                let rest = entries[(number + 1)...]
                ready.append(Commit(info: commit.info, entries: backward ? rest.reversed() : Array(rest)))
                return false
            }
        }
        return true
    }

    /// Calls the body with the entries of a block.
    /// - Returns: The position of the entry that it returned false for, or nil.
    private mutating func forEachEntry(
        of row: BlockRow, in open: OpenSegment, _ body: (borrowing EntryView) -> Bool
    ) throws(JournalError) -> JournalPosition? {
        try buffer.read(row, of: open)
        let raw = buffer.content
        var places: [(CommitPlace, EntryPlace)] = []
        var stop: JournalPosition?
        try forEachPlace(in: raw, of: row, open) { commit, entry in
            if backward {
                places.append((commit, entry))
            } else if !body(EntryView(entry, of: commit, in: raw)) {
                stop = JournalPosition(commit: commit.number, index: entry.index)
            }
            return stop == nil
        }
        while let (commit, entry) = places.popLast() {
            if !body(EntryView(entry, of: commit, in: raw)) {
                return JournalPosition(commit: commit.number, index: entry.index)
            }
        }
        return stop
    }

    /// Calls the body with the place of each entry asked for in a block's content, in order, until it returns false.
    /// - Returns: Whether the last commit goes on in the next block.
    @discardableResult
    private func forEachPlace(
        in raw: Span<UInt8>, of row: BlockRow, _ open: OpenSegment,
        _ body: (CommitPlace, EntryPlace) -> Bool
    ) throws(JournalError) -> Bool {
        var current: CommitPlace?
        // Neighbours mostly have one zone and one space, about which sets need not be asked again.
        var known: (space: Space, zone: UInt64, passes: Bool)?
        var parser = PayloadParser(raw)
        do throws(CBORError) {
            while !parser.isAtEnd {
                switch try parser.next() {
                case .commit(let commit): current = commit
                case .entry(let entry):
                    guard let commit = current else { throw CBORError(offset: 0) }
                    if known?.space != entry.space || known?.zone != entry.zone {
                        let passes = passes(space: entry.space, zone: entry.zone)
                        known = (entry.space, entry.zone, passes)
                    }
                    guard known?.passes == true, isWanted(entry, of: commit) else { continue }
                    if !body(commit, entry) { return false }
                }
            }
        } catch {
            throw .corrupted(
                Damage(
                    file: open.path, offset: row.offset, commits: row.firstCommit...row.lastCommit,
                    reason: "block holds no valid entries"))
        }
        return current?.continued ?? false
    }

    private mutating func enterSegment() throws(JournalError) -> Bool {
        guard snapshot.segments.indices.contains(segment) else { return false }
        let name = snapshot.segments[segment]
        segment += backward ? -1 : 1
        let open: OpenSegment
        do throws(JournalError) {
            open = try name.open()
            file = try open.openFile()
            let found = try matchingRows(of: open)
            rows = backward ? found : found.reversed()
            if let damage = open.content.withLock({ $0.damage }) { throw .corrupted(damage) }
        } catch {
            if error.mayBeAnOldListing, oldListings < JournalError.oldListingsMax {
                try relist()
                return true
            }
            guard let onDamage, case .corrupted(let damage) = error else { throw error }
            onDamage(damage)
            // Its index cannot be trusted: look at every byte instead.
            guard let salvaged = try Salvage(name, snapshot: snapshot) else { return true }
            current = salvaged.segment
            rows = backward ? salvaged.rows : salvaged.rows.reversed()
            return true
        }
        current = open
        oldListings = 0
        return true
    }

    /// Compaction took the next file away: what it held is in another one, which is entered behind what was read.
    private mutating func relist() throws(JournalError) {
        while true {
            oldListings += 1
            do throws(JournalError) {
                snapshot = try snapshot.relisted()
                if let seen {
                    position = backward ? JournalPosition(commit: seen, index: 0) : .end(of: seen)
                    segment = try snapshot.segmentIndex(of: seen)
                } else {
                    segment =
                        backward
                        ? snapshot.segments.count - 1 : try snapshot.segmentIndex(of: position.commit)
                }
                return
            } catch {
                guard error.mayBeAnOldListing, oldListings < JournalError.oldListingsMax else { throw error }
            }
        }
    }

    /// The blocks of a segment that may hold entries asked for, in order.
    private func matchingRows(of open: OpenSegment) throws(JournalError) -> [BlockRow] {
        let (parts, tail) = open.content.withLock { ($0.parts, $0.tail) }
        var rows: [BlockRow] = []
        for part in parts {
            if backward
                ? part.commits.lowerBound > position.commit : part.commits.upperBound < position.commit
            {
                continue
            }
            if let wall = filter.wall, !wall.overlaps(part.walls) { continue }
            let first = backward ? 0 : try part.firstBlock(reaching: position.commit)
            for number in try matchingBlocks(of: part, from: first) {
                rows.append(try part.block(number))
            }
        }
        if filter.zones == nil, filter.spaces == nil {
            rows += tail.blocks
        } else {
            var wanted = Set<UInt32>()
            for row in tail.groups where passes(space: Space(rawValue: row.space), zone: row.zone) {
                wanted.insert(row.block)
            }
            for (number, row) in tail.blocks.enumerated() where wanted.contains(UInt32(number)) {
                rows.append(row)
            }
        }
        return rows.filter { row in
            if backward ? row.firstCommit > position.commit : row.lastCommit < position.commit {
                return false
            }
            guard let wall = filter.wall else { return true }
            return row.firstWall <= wall.upperBound && row.lastWall >= wall.lowerBound
        }
    }

    private func matchingBlocks(of part: IndexPart, from first: Int) throws(JournalError) -> [Int] {
        var wanted = Set<Int>()
        switch (filter.spaces, filter.zones) {
        case (nil, nil): return Array(first..<max(first, part.blockCount))
        case (let spaces?, let zones):
            for space in spaces {
                guard let zones else {
                    wanted.formUnion(try part.blocks(space: space.rawValue, zone: nil, from: first))
                    continue
                }
                for zone in space == .record ? zones : [0] {
                    wanted.formUnion(try part.blocks(space: space.rawValue, zone: zone, from: first))
                }
            }
        case (nil, let zones?):
            wanted.formUnion(try part.zonelessBlocks(from: first))
            for zone in zones {
                wanted.formUnion(try part.blocks(space: Space.record.rawValue, zone: zone, from: first))
            }
        }
        return wanted.sorted()
    }

    private func passes(space: Space, zone: UInt64) -> Bool {
        if let spaces = filter.spaces, !spaces.contains(space) { return false }
        guard zone != 0, let zones = filter.zones else { return true }
        return zones.contains(zone)
    }

    /// The commits of a block with the entries asked for, and whether the last one goes on in the next block.
    private mutating func commits(
        of row: BlockRow, in open: OpenSegment
    ) throws(JournalError) -> ([Commit], Bool) {
        try buffer.read(row, of: open)
        let raw = buffer.content
        var commits: [Commit] = []
        let goesOn = try forEachPlace(in: raw, of: row, open) { commit, entry in
            if commits.last?.info.number != commit.number {
                commits.append(Commit(info: commit.info(in: raw), entries: []))
            }
            commits[commits.count - 1].entries.append(entry.entry(in: raw, commit: commit.number))
            return true
        }
        return (commits, goesOn)
    }

    /// Whether place and time of an entry are asked for; its space and zone are looked at elsewhere.
    @inline(__always)
    private func isWanted(_ entry: EntryPlace, of commit: CommitPlace) -> Bool {
        let place = JournalPosition(commit: commit.number, index: entry.index)
        return commit.number <= snapshot.proven && (backward ? place < position : place > position)
            && filter.wall?.contains(commit.wall) ?? true
    }

    /// Takes a block's commits, joining a commit that lies in several blocks.
    private mutating func take(_ block: (commits: [Commit], goesOn: Bool)) {
        var commits = block.commits
        guard !commits.isEmpty else { return }
        if backward {
            if let later = carry {
                if later.info.number == commits[commits.count - 1].info.number {
                    commits[commits.count - 1].entries += later.entries
                } else {
                    commits.append(later)
                }
            }
            carry = commits.removeFirst()
            ready = commits
        } else {
            if let earlier = carry {
                if earlier.info.number == commits[0].info.number {
                    commits[0].entries = earlier.entries + commits[0].entries
                } else {
                    commits.insert(earlier, at: 0)
                }
            }
            carry = block.goesOn ? commits.removeLast() : nil
            ready = commits.reversed()
        }
    }
}
