import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// Reading forward and backward, with filters, equals an array.
@Suite(.long) struct ReadingTests {
    /// A journal and its model; some commits have wall times that went backwards.
    static func sample(seed: UInt64, count: Int, blockSize: Int = 1024) throws -> (
        Journal, JournalModel, MemoryFileSystem
    ) {
        let system = MemoryFileSystem()
        let clock = ManualClock()
        var model = JournalModel()
        var workload = Workload(seed: seed, zones: 4, names: 80, entriesMax: 7, valueSizeMax: 250)
        var generator = SeededGenerator(seed: seed + 1)
        let journal = try Journal.create(
            at: "/j", options: .test(system, blockSize: blockSize, seed: seed, clock: clock))
        for _ in 0..<count {
            if Int.random(in: 0..<12, using: &generator) == 0 {
                clock.set(1_700_000_000_000_000 + Int64.random(in: -5_000_000...5_000_000, using: &generator))
            }
            model.commits.append(try journal.apply(workload.next()))
        }
        return (journal, model, system)
    }

    static func randomFilter(_ generator: inout SeededGenerator, _ model: JournalModel) -> ReadFilter {
        var filter = ReadFilter()
        if Bool.random(using: &generator) {
            filter.zones = Set(
                (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                    UInt64.random(in: 1...5, using: &generator)
                })
        }
        if Int.random(in: 0..<3, using: &generator) == 0 {
            filter.spaces = Bool.random(using: &generator) ? [.record] : [.state, .conflict]
        }
        if Bool.random(using: &generator) {
            let walls = [
                model.commits.randomElement(using: &generator)!.info.wall,
                model.commits.randomElement(using: &generator)!.info.wall,
            ]
            filter.wall = walls.min()!...walls.max()!
        }
        return filter
    }

    @Test(arguments: [201, 202, 203, 204] as [UInt64])
    func `any range with any filter equals the model, both ways`(seed: UInt64) throws {
        let (journal, model, system) = try Self.sample(seed: seed, count: 150)
        #expect(system.segments(of: "/j").count > 3)
        var generator = SeededGenerator(seed: seed + 7)
        let reopened = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        for round in 0..<150 {
            let commit = model.commits.randomElement(using: &generator)!
            let position: JournalPosition =
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: .start
                case 1: .end(of: commit.info.number)
                case 2: .end(of: commit.info.number - 1)
                default:
                    JournalPosition(
                        commit: commit.info.number,
                        index: commit.entries.randomElement(using: &generator)!.index)
                }
            let filter = Self.randomFilter(&generator, model)
            for handle in [journal, reopened] {
                #expect(
                    try handle.commits(after: position, filter: filter)
                        == model.read(after: position, filter: filter),
                    "round \(round): \(position), \(filter)")
                #expect(
                    try handle.commitsBackward(before: position, filter: filter)
                        == model.readBackward(before: position, filter: filter),
                    "round \(round) backward: \(position), \(filter)")
            }
            #expect(try reopened.commitsBackward(filter: filter) == model.readBackward(filter: filter))
        }
    }

    @Test(arguments: [211, 212] as [UInt64])
    func `look-ups by key equal the model, old segments and the live one`(seed: UInt64) throws {
        let (journal, model, system) = try Self.sample(seed: seed, count: 200)
        let reopened = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        let missing = (0..<50).map { recordKey("missing-\($0)") } + [EntryKey(space: .lease, name: [])]
        for handle in [journal, reopened] {
            for key in Array(model.keys) + missing {
                let expected = model.entry(for: key)
                #expect(try handle.entry(for: key) == expected)
                #expect(try handle.position(of: key) == expected?.position)
            }
            for number in Set([0, model.commits.last!.info.number] + model.commits.map(\.info.number)) {
                #expect(try handle.zonesChanged(after: number) == model.zonesChanged(after: number))
            }
        }
        #expect(try journal.verify().damages == [])
    }

    @Test func `zone links name the zone's previous commit`() throws {
        let (journal, model, _) = try Self.sample(seed: 221, count: 150)
        var last: [UInt64: UInt64] = [:]
        for commit in try journal.commits() {
            let touched = Set(commit.entries.filter { $0.key.zone != 0 }.map(\.key.zone)).sorted()
            #expect(commit.info.zones == touched.map { ZoneLink(zone: $0, previous: last[$0] ?? 0) })
            for zone in touched { last[zone] = commit.info.number }
        }
        let state = try journal.commit {
            (transaction: inout CommitTransaction) throws(JournalError) -> [UInt64] in
            var found: [UInt64] = []
            for zone in 1...5 as ClosedRange<UInt64> {
                found.append(try transaction.lastCommit(ofZone: zone))
            }
            return found
        }
        #expect(state.result == (1...5).map { last[$0] ?? 0 })
        #expect(model.commits.count == 150)
    }

    @Test func `walls that step back stay in commit order and the clock never does`() throws {
        let system = MemoryFileSystem()
        let clock = ManualClock(step: 0)
        let journal = try Journal.create(at: "/j", options: .test(system, clock: clock))
        let walls: [Int64] = [10, 11, 5, 6, 12]
        for (number, wall) in walls.enumerated() {
            clock.set(wall * 1_000_000)
            try journal.apply([put("n\(number)", String(repeating: "\(wall)", count: 3000))])
        }
        let all = try journal.commits()
        #expect(all.map(\.info.wall) == walls.map { $0 * 1_000_000 })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.info.clock < $1.info.clock })
        let filter = ReadFilter(wall: 5_000_000...6_000_000)
        #expect(try journal.commits(filter: filter).map(\.info.wall) == [5_000_000, 6_000_000])
        #expect(try journal.commitsBackward(filter: filter).map(\.info.wall) == [6_000_000, 5_000_000])
    }

    @Test func `keys that Swift's strings call equal stay apart`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        let names: [[UInt8]] = [
            [0xC3, 0xA9], [0x65, 0xCC, 0x81], Array("Å".utf8), Array("\u{212B}".utf8), Array("❤".utf8),
            Array("❤\u{FE0F}".utf8), Array("👨‍👩‍👧".utf8), Array("👨👩👧".utf8), [], [0], [0xFF, 0xFE],
            Array("a\nb".utf8), Array("../x".utf8), Array(repeating: 0x61, count: FormatLimits.keySizeMax),
        ]
        var commits: [Commit] = []
        for (number, name) in names.enumerated() {
            let key = EntryKey(space: .record, zone: 1, name: name)
            commits.append(try journal.apply([PlannedEntry(.put, key, value: textValue("\(number)"))]))
        }
        #expect(try journal.commits() == commits)
        for (number, name) in names.enumerated() {
            let key = EntryKey(space: .record, zone: 1, name: name)
            #expect(try journal.entry(for: key)?.entry.value == textValue("\(number)"))
        }
    }

    @Test(arguments: [0, 1, 4094, 4095, 4096, 4097, 65_536, 1 << 20, FormatLimits.valueSizeMax - 10])
    func `a value of any size comes back whole`(size: Int) throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var workload = Workload(seed: UInt64(size))
        let plans = [
            put("before", "x"), PlannedEntry(.put, recordKey("big"), value: workload.value(size)),
            put("z", "y"),
        ]
        let commit = try journal.apply(plans)
        let next = try journal.apply([put("next", "x")])
        #expect(try journal.commits() == [commit, next])
        #expect(try journal.entry(for: recordKey("big"))?.entry.value == plans[1].value)
        journal.close()
        #expect(try recovered(system) == [commit, next])
    }
}
