import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// Random histories with compaction, leases, clock jumps and reopening at random places, against a dictionary and a list.
@Suite(.long) struct CompactionModelTests {
    /// The newest version of a key.
    private struct Version: Hashable {
        var commit: UInt64
        var isDelete: Bool
        var firstSeen: UInt64
        var clock: Int64
    }

    private struct Change: Hashable {
        var key: EntryKey
        var commit: UInt64
        var isDelete: Bool
    }

    private struct Run {
        var newest: [EntryKey: Version] = [:]
        var deletes: [(zone: UInt64, commit: UInt64)] = []
        var cursors: [Cursor] = []
        var leases: [(commit: UInt64, until: Int64)] = []
        var head: UInt64 = 0
        var clock: Int64 = 0
        var clocks: [UInt64: Int64] = [:]
    }

    private static let zones: [UInt64] = [1, 2]
    private static let day: Int64 = 86_400_000_000

    @Test(arguments: everyByte ? Array(0..<10_000) : Array(0..<40) + [66, 107])
    func `state, deltas and errors agree with the model`(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed) &+ 9000)
        let system = MemoryFileSystem()
        let clock = ManualClock()
        func options() -> JournalOptions {
            .test(system, seed: generator.next(), clock: clock)
        }
        var journal = try Journal.create(at: "/j", options: options())
        var run = Run()
        for step in 0..<140 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<13: try change(journal, &run, &generator)
            case 13, 14:
                _ = try journal.compact(everything: Int.random(in: 0..<5, using: &generator) == 0)
                try check(journal, run, "seed \(seed), step \(step)")
            case 15: clock.set(clock.read() + Int64.random(in: 0...25, using: &generator) * Self.day)
            case 16: try lease(journal, &run, clock, &generator)
            case 17:
                journal.close()
                journal = try Journal.open(at: "/j", options: options())
            default:
                let zone = Self.zones.randomElement(using: &generator)!
                run.cursors.append(
                    try journal.cursor(at: .end(of: run.head), kind: .zone, scope: zone))
            }
        }
        _ = try journal.compact(everything: true)
        try check(journal, run, "seed \(seed), end")
        journal.close()
        try check(
            try Journal.open(at: "/j", mode: .readOnly, options: options()), run, "seed \(seed), reopened")
        #expect(try system.list("/j/tmp").isEmpty)
    }

    private func change(_ journal: Journal, _ run: inout Run, _ generator: inout SeededGenerator) throws {
        var planned: [PlannedEntry] = []
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let key = recordKey(
                "name-\(Int.random(in: 0..<20, using: &generator))",
                zone: Self.zones.randomElement(using: &generator)!)
            guard !planned.contains(where: { $0.key == key }) else { continue }
            let isDelete = Int.random(in: 0..<3, using: &generator) == 0
            // Random digits, so that segments fill in spite of compression.
            let size = Int.random(in: 0..<2500, using: &generator)
            let text = String(decoding: generator.bytes(size).map { 0x21 + $0 % 90 }, as: UTF8.self)
            planned.append(PlannedEntry(isDelete ? .delete : .put, key, value: textValue(text)))
        }
        let commit = try journal.apply(planned)
        run.head = commit.info.number
        run.clock = commit.info.clock
        run.clocks[run.head] = run.clock
        for entry in commit.entries {
            let isDelete = entry.operation == .delete
            run.newest[entry.key] = Version(
                commit: commit.info.number, isDelete: isDelete, firstSeen: entry.firstSeen,
                clock: commit.info.clock)
            if isDelete { run.deletes.append((entry.key.zone, commit.info.number)) }
        }
    }

    private func lease(
        _ journal: Journal, _ run: inout Run, _ clock: ManualClock, _ generator: inout SeededGenerator
    ) throws {
        let commit = run.head
        let holder = Array("holder-\(run.leases.count)".utf8)
        let until = max(clock.read(), run.clock) + Int64.random(in: 1...60, using: &generator) * Self.day
        let committed = try journal.commit { transaction throws(JournalError) in
            try transaction.put(
                Lease.key(holder), value: Lease(kind: .replica, commit: commit, until: until).value)
            return transaction.clock
        }
        run.head = committed.head.commit
        run.clocks[run.head] = committed.result
        run.leases.append((commit, until))
    }

    private func check(_ journal: Journal, _ run: Run, _ comment: Comment) throws {
        let report = try journal.verify()
        #expect(report.isSound, "\(comment): \(report.damages)")
        #expect(try journal.head().commit >= run.head, comment)
        let floors = try journal.floors()
        for (key, version) in run.newest {
            let found = try journal.entry(for: key)
            // A forgotten tombstone leaves nothing, or an older tombstone in a segment that was not merged.
            if version.isDelete, found?.commit.number != version.commit {
                #expect(found?.entry.operation != .put, comment)
                #expect(floors[key.zone, default: 0] >= version.commit, comment)
                #expect(try headClock(journal) - version.clock >= 30 * Self.day, comment)
                continue
            }
            #expect(found?.commit.number == version.commit, comment)
            #expect((found?.entry.operation == .delete) == version.isDelete, comment)
        }
        for cursor in run.cursors { try check(cursor, journal, run, floors, comment) }
        // A compaction goes by the clock of the commits before it, and these are behind it by now.
        let clock = try headClock(journal)
        for lease in run.leases where lease.until > clock {
            for zone in Self.zones { #expect(floors[zone, default: 0] <= lease.commit, comment) }
        }
    }

    private func check(
        _ cursor: Cursor, _ journal: Journal, _ run: Run, _ floors: [UInt64: UInt64], _ comment: Comment
    ) throws {
        let position = cursor.position.commit
        if let floor = expiry(cursor, journal) {
            if floors[cursor.scope, default: 0] <= position {
                // Only the label of its session is gone, 180 days after the session's end.
                let info = try journal.session(at: position)
                #expect(info.label != cursor.session && floor >= position, comment)
                #expect(try headClock(journal) - run.clocks[position, default: 0] > 180 * Self.day, comment)
                return
            }
            #expect(floors[cursor.scope] == floor, comment)
            let dropped = run.deletes.contains {
                $0.zone == cursor.scope && $0.commit > position && $0.commit <= floor
            }
            #expect(dropped, comment)
            return
        }
        try journal.validate(cursor)
        var expected: Set<Change> = []
        for (key, version) in run.newest where key.zone == cursor.scope && version.commit > position {
            if version.isDelete, version.firstSeen > position { continue }
            expected.insert(Change(key: key, commit: version.commit, isDelete: version.isDelete))
        }
        var found: Set<Change> = []
        for commit in try journal.commits(
            after: cursor.position, filter: ReadFilter(zones: [cursor.scope], spaces: [.record]))
        {
            for entry in commit.entries {
                let isDelete = entry.operation == .delete
                guard try journal.position(of: entry.key)?.commit == commit.info.number,
                    !(isDelete && entry.firstSeen > position)
                else { continue }
                found.insert(Change(key: entry.key, commit: commit.info.number, isDelete: isDelete))
            }
        }
        #expect(found == expected, comment)
    }

    private func expiry(_ cursor: Cursor, _ journal: Journal) -> UInt64? {
        do throws(JournalError) {
            try journal.validate(cursor)
            return nil
        } catch {
            if case .expired(let floor) = error { return floor }
            return nil
        }
    }

    /// The log clock of the last commit.
    private func headClock(_ journal: Journal) throws -> Int64 {
        var reader = try journal.readBackward()
        return try reader.next()?.info.clock ?? 0
    }
}
