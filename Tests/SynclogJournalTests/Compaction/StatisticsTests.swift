import SynclogJournal
import TestSupport
import Testing

/// What statistics say is live, dead and held back, against the model.
@Suite struct StatisticsTests {
    private static let day: Int64 = 86_400_000_000

    @Test(arguments: [61, 62, 63] as [UInt64])
    func `each entry is counted once, and each deletion under what keeps it`(seed: UInt64) throws {
        let system = MemoryFileSystem()
        let clock = ManualClock()
        let journal = try Journal.create(at: "/j", options: .test(system, seed: seed, clock: clock))
        var model = JournalModel()
        var workload = Workload(seed: seed, valueSizeMax: 400)
        try fill(journal, &model, &workload, count: 120)

        let newest = model.keys.compactMap { model.entry(for: $0)?.entry }
        let all = model.commits.flatMap(\.entries)
        let deleted = newest.count { $0.operation == .delete }
        var found = try journal.statistics()
        // The label of the session is the journal's own.
        #expect(found.live.entries == newest.count { $0.operation == .put } + 1)
        #expect(found.tombstones.entries == deleted && deleted > 0)
        #expect(found.notes.entries == all.count { $0.operation == .note })
        #expect(found.dead.entries == all.count { $0.operation != .note } - newest.count)
        #expect(
            found.live.entries + found.dead.entries + found.tombstones.entries + found.notes.entries
                == found.entries)
        let size = newest.filter { $0.operation == .delete }.reduce(0) {
            $0 + $1.key.name.count + $1.value.count
        }
        #expect(found.tombstones.bytes == UInt64(size))
        #expect(found.held.retention == deleted && found.floors.isEmpty && found.leases.isEmpty)

        // A follower that has seen nothing of it yet holds what time would let go.
        try journal.renewLease(of: [1], kind: .replica, at: 1)
        clock.set(clock.read() + 31 * Self.day)
        try journal.apply([put("later", "x")])
        found = try journal.statistics()
        #expect(found.held.lease == deleted && found.leases.map(\.lease.commit) == [1])
        #expect(try journal.compact(everything: true).tombstones == 0)
        #expect(try journal.statistics().held.lease == deleted)
        #expect(try journal.statistics().dead.entries == 0)

        // Its lease runs out.
        clock.set(clock.read() + 180 * Self.day)
        try journal.apply([put("latest", "x")])
        found = try journal.statistics()
        #expect(found.held.nothing == deleted && found.held.lease == 0)
        #expect(found.leases.contains { !$0.lease.isLive(at: found.clock) })
        #expect(try journal.compact(everything: true).tombstones == deleted)
        found = try journal.statistics()
        #expect(found.tombstones.entries == 0 && !found.floors.isEmpty)
        for floor in found.floors {
            #expect(
                floor.commit <= model.commits[model.commits.count - 1].info.number || floor.zone > 1 << 40)
        }
    }

    @Test func `a deletion whose older version is still stored is held by it`() throws {
        let system = MemoryFileSystem()
        let clock = ManualClock()
        let journal = try Journal.create(at: "/j", options: .test(system, clock: clock))
        try journal.apply([put("a", "x"), put("b", "x")])
        try journal.apply([PlannedEntry(.delete, recordKey("a"), value: textValue(""))])
        clock.set(clock.read() + 31 * Self.day)
        try journal.apply([put("later", "x")])
        let held = try journal.statistics().held
        #expect(held.olderPut == 1 && held.nothing == 0 && held.retention == 0)
    }

    @Test func `damage is left out of the statistics and stops nothing`() throws {
        let sample = DamageTests.Sample.shared
        let whole = try Journal.open(at: "/j", mode: .readOnly, options: .test(sample.system))
        let entries = try whole.statistics().live.entries
        let entriesOfAll = try whole.statistics().entries
        let system = sample.system.copy()
        try system.flip(sample.segments[1], at: 6000)
        let damaged = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        let found = try damaged.statistics()
        #expect(found.live.entries > 0 && found.entries < entriesOfAll)
        #expect(found.live.entries <= entries + found.dead.entries)
    }
}
