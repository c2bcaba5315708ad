internal import SynclogJournal

extension CrashOracle {
    private static let choicesMax = 512

    /// A commit's entries that are the caller's, not the journal's own.
    static func own(_ commit: Commit) -> [Entry] {
        commit.entries.filter { $0.key.space == .record || $0.key.space == .zone }
    }

    /// Checks a journal's commits, its state, its floors and its files; throws what a crash must not leave.
    func check(_ journal: Journal) throws {
        let consistentFrom = try journal.consistentFrom()
        var reader = try journal.read()
        var commits: [Commit] = []
        while let commit = try reader.next() { commits.append(commit) }
        let present = try checkCommits(commits, consistentFrom)
        try checkState(journal, present, consistentFrom)
        try checkPromises(journal)
        let report = try journal.verify()
        if let damage = report.damages.first {
            throw CrashFinding(reason: "verify: \(damage.reason) at \(damage.offset) of \(damage.file)")
        }
        if report.lost != nil { throw CrashFinding(reason: "verify: the acknowledged end is lost") }
        if report.strays != [CrashWorld.strayName] {
            throw CrashFinding(reason: "verify: the foreign names are \(report.strays)")
        }
    }

    /// Every commit is one that was issued, follows the one it was decided on, and no acknowledged one is missing.
    /// - Returns: What is in the journal, by number, as far as it is certain.
    private func checkCommits(_ commits: [Commit], _ consistentFrom: UInt64) throws -> [UInt64: [Entry]] {
        var present: [UInt64: [Entry]] = [:]
        var last: UInt64 = 0
        for commit in commits {
            let number = commit.info.number
            guard number > last else { throw CrashFinding(reason: "commit \(number) follows \(last)") }
            let own = Self.own(commit)
            let candidates = issued[number] ?? []
            if number <= consistentFrom {
                let known = candidates.first { candidate in own.allSatisfy { candidate.entries.contains($0) }
                }
                if !own.isEmpty, known == nil {
                    throw CrashFinding(reason: "compacted commit \(number) holds what nobody issued")
                }
                if !own.isEmpty { present[number] = known?.entries ?? [] }
            } else if !own.isEmpty {
                let same = candidates.filter { $0.entries == own }
                guard !same.isEmpty else {
                    throw CrashFinding(
                        reason: "commit \(number) holds what nobody issued, or a part of it: "
                            + "\(own.count) entries, issued were \(candidates.map(\.entries.count))")
                }
                let follows = same.contains { $0.previous == last || last <= consistentFrom }
                guard follows else {
                    throw CrashFinding(
                        reason: "commit \(number) follows \(last), but was decided on \(same[0].previous)")
                }
                present[number] = own
            }
            last = number
        }
        for (number, place) in acknowledged.sorted(by: { $0.key < $1.key }) {
            let entries = issued[number]?[place].entries ?? []
            if number <= consistentFrom {
                present[number] = entries
            } else if present[number] != entries {
                let what = present[number] == nil ? "missing" : "another one"
                throw CrashFinding(reason: "acknowledged commit \(number) is \(what); the head is \(last)")
            }
        }
        return present
    }

    /// The state is what the commits say, whatever became of those that a merge left nothing of.
    ///
    /// If such a commit was never acknowledged, nobody can say whether it was there, or which of several that had its number;
    /// all that it held is superseded or forgotten.
    private func checkState(
        _ journal: Journal, _ present: [UInt64: [Entry]], _ consistentFrom: UInt64
    ) throws {
        let uncertain = issued.filter { number, _ in number <= consistentFrom && present[number] == nil }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value.map(\.entries) + [[]]) }
        let count = uncertain.reduce(1) { min($0 * $1.1.count, Self.choicesMax) }
        for choice in 0..<count {
            var chosen = present
            var rest = choice
            for (number, candidates) in uncertain {
                chosen[number] = candidates[rest % candidates.count]
                rest /= candidates.count
            }
            do {
                return try checkState(journal, chosen)
            } catch {
                if choice + 1 == count { throw error }
            }
        }
    }

    /// The newest version of every key is the one that the commits say, and only what may be forgotten is.
    private func checkState(_ journal: Journal, _ present: [UInt64: [Entry]]) throws {
        var newest: [EntryKey: (number: UInt64, entry: Entry)] = [:]
        var made: [EntryKey: [UInt64]] = [:]
        var dead: Set<UInt64> = []
        for (number, entries) in present.sorted(by: { $0.key < $1.key }) {
            for entry in entries {
                newest[entry.key] = (number, entry)
                guard entry.key.space == .zone else { continue }
                if entry.operation == .put {
                    made[entry.key, default: []].append(number)
                } else {
                    dead.formUnion(made.removeValue(forKey: entry.key) ?? [])
                }
            }
        }
        let floors = try journal.floors()
        let ordered = newest.sorted {
            ($0.value.number, $0.value.entry.index) < ($1.value.number, $1.value.entry.index)
        }
        for (key, expected) in ordered {
            let found = try journal.entry(for: key)
            if key.space == .record, dead.contains(key.zone) { continue }
            if let found, found.commit.number == expected.number, found.entry == expected.entry { continue }
            let zone = key.space == .record ? key.zone : 0
            if expected.entry.operation == .delete, found?.entry.operation != .put {
                if floors[zone, default: 0] >= expected.number { continue }
                throw CrashFinding(
                    reason: "the tombstone of commit \(expected.number) is gone without a floor")
            }
            let there = found.map { "\($0.entry.operation) of commit \($0.commit.number)" } ?? "nothing"
            throw CrashFinding(
                reason: "the newest version of a key should be \(expected.entry.operation) of commit "
                    + "\(expected.number), but is \(there)")
        }
    }

    /// No floor went above the position of a lease while it was alive.
    private func checkPromises(_ journal: Journal) throws {
        guard !promises.isEmpty else { return }
        for (zone, floor) in try journal.floors().sorted(by: { $0.key < $1.key }) where zone < .max - 1 {
            let name = (0..<8).map { UInt8(truncatingIfNeeded: zone >> UInt64(56 - $0 * 8)) }
            guard let stored = try journal.entry(for: EntryKey(space: .floor, name: name)) else { continue }
            for promise in promises
            where stored.commit.number > promise.made && stored.commit.clock < promise.until
                && floor > promise.commit
            {
                throw CrashFinding(
                    reason: "commit \(stored.commit.number) raised a floor to \(floor) above a live lease at "
                        + "\(promise.commit)")
            }
        }
    }

    /// A copy holds what its source holds.
    func checkCopy(_ copy: Journal, of source: Journal) throws {
        let mine = try Self.live(copy)
        let theirs = try Self.live(source)
        guard mine != theirs else { return }
        let missing = theirs.filter { mine[$0.key] != $0.value }.count
        let extra = mine.filter { theirs[$0.key] == nil }.count
        throw CrashFinding(
            reason: "the follower differs from its source: \(missing) keys missing or old, \(extra) too many")
    }

    /// The newest put of every key that is not deleted; records of deleted zones left out.
    private static func live(_ journal: Journal) throws -> [EntryKey: StoredEntry] {
        var newest: [EntryKey: StoredEntry] = [:]
        var reader = try journal.read(filter: ReadFilter(spaces: [.record, .zone]))
        while let commit = try reader.next() {
            for entry in commit.entries { newest[entry.key] = StoredEntry(commit: commit.info, entry: entry) }
        }
        var zones = Set([0] + CrashWorld.zones)
        for (key, stored) in newest where key.space == .zone && stored.entry.operation == .put {
            zones.insert(stored.commit.number)
        }
        return newest.filter { key, stored in stored.entry.operation == .put && zones.contains(key.zone) }
            .mapValues { stored in
                // Links to earlier commits of other zones may be cut by compaction.
                var stored = stored
                stored.commit.zones = []
                return stored
            }
    }
}

/// The highest commit number that any block header in a directory's segments names, found as the format's description says.
struct HeaderSearch {
    /// Looks at every byte of every segment.
    static func highestCommit(in image: [String: [UInt8]]) -> UInt64 {
        var highest: UInt64 = 0
        for (name, bytes) in image where SegmentName(name) != nil && bytes.count > 4096 {
            let salt = word(bytes, 3840 + 120, 8)
            var place = 4096
            while place + 64 <= bytes.count {
                if bytes[place] == 0x50, bytes[place + 1] == 0x2A, bytes[place + 2] == 0x4D,
                    bytes[place + 3] == 0x18, isHeader(bytes, place, salt)
                {
                    highest = max(highest, word(bytes, place + 24, 8))
                }
                place += 1
            }
        }
        return highest
    }

    private static func isHeader(_ bytes: [UInt8], _ place: Int, _ salt: UInt64) -> Bool {
        let seed = crc32c(littleEndian(salt) + littleEndian(UInt64(place)))
        return word(bytes, place + 4, 4) == 56
            && UInt64(crc32c(Array(bytes[place..<place + 60]), seed: seed)) == word(bytes, place + 60, 4)
    }

    private static func word(_ bytes: [UInt8], _ place: Int, _ count: Int) -> UInt64 {
        (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[place + $1]) }
    }

    private static func littleEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }
}
