import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// What was reported of other stores about compaction: keys that came back, damage that filled the disk, tombstones for ever.
@Suite(.long) struct CompactionReportTests {
    private func delete(_ name: String) -> PlannedEntry {
        PlannedEntry(.delete, recordKey(name), value: textValue(""))
    }

    /// A journal whose tombstones may go at once, with segments that end where the test says.
    private func journal(_ system: MemoryFileSystem, clock: ManualClock = ManualClock()) throws -> Journal {
        var options = JournalOptions.test(system, segmentSize: 1, clock: clock)
        options.retention.tombstones = .zero
        return try Journal.create(at: "/j", options: options)
    }

    /// A segment with the deletion was merged without the one with the put, and the deletion dropped.
    @Test func `a merge of newer segments keeps the deletion of a key that is put in an older one`() throws {
        let system = MemoryFileSystem()
        let made = try Journal.create(at: "/j", options: .test(system, segmentSize: 64 << 10))
        // An old segment so large that the tiers leave it alone.
        var workload = Workload(seed: 341)
        while system.segments(of: "/j").count < 2 {
            try made.apply([
                put("k", "old"), PlannedEntry(.put, recordKey("other"), value: workload.value(9000)),
            ])
        }
        made.close()
        var options = JournalOptions.test(system, segmentSize: 1, seed: 2)
        options.retention.tombstones = .zero
        let journal = try Journal.open(at: "/j", options: options)
        try journal.apply([delete("k")])
        for number in 0..<5 { try journal.apply([put("n\(number)", "x")]) }
        let before = system.segments(of: "/j")
        let report = try journal.compact()
        #expect(report.segments >= 4 && system.segments(of: "/j").first == before.first)
        #expect(report.tombstones == 0 && report.kept.olderPut == 1)
        journal.close()
        try system.remove("/j/HEAD")
        let reopened = try Journal.open(at: "/j", options: .test(system, seed: 3))
        #expect(try reopened.entry(for: recordKey("k"))?.entry.operation != .put)
    }

    /// The story: crashtest, seed 600340. Two processes had a zone; one deleted it, and the other put a record in it afterwards. A
    /// merge dropped that record's commit, and the log said that it was whole from the deletion on.
    @Test func `a record put after its zone went is dropped, and the log says that it is not whole there`()
        throws
    {
        let journal = try Journal.create(at: "/j", options: .test(MemoryFileSystem()))
        let key = EntryKey(space: .zone, name: Array("z".utf8))
        let zone = try journal.apply([PlannedEntry(.put, key, value: textValue(""))]).info.number
        let deletion = try journal.apply([PlannedEntry(.delete, key, value: textValue(""))]).info.number
        let late = try journal.apply([put("late", "x", zone: zone)]).info.number
        let last = try journal.apply([put("kept", "x", zone: 99)]).info.number
        #expect(try journal.compact(everything: true).others == 1)
        #expect(try journal.commits().map(\.info.number).suffix(2) == [deletion, last])
        #expect(try journal.consistentFrom() == late)
    }

    /// A segment with nothing but deletions counted as empty and was removed; a hundred messages came back after a kill.
    @Test func `a segment that holds only deletions is no empty segment`() throws {
        let system = MemoryFileSystem()
        let made = try Journal.create(at: "/j", options: .test(system, segmentSize: 64 << 10))
        var workload = Workload(seed: 342)
        try made.apply((0..<100).map { put("n\($0)", "x") })
        while system.segments(of: "/j").count < 2 {
            try made.apply([PlannedEntry(.put, recordKey("filler"), value: workload.value(9000))])
        }
        made.close()
        var options = JournalOptions.test(system, segmentSize: 1, seed: 2)
        options.retention.tombstones = .zero
        let journal = try Journal.open(at: "/j", options: options)
        for start in stride(from: 0, to: 99, by: 33) {
            try journal.apply((start..<start + 33).map { delete("n\($0)") })
        }
        try journal.apply([put("brief", "x")])
        try journal.apply([delete("brief")])
        #expect(try journal.compact().segments >= 4)
        // Killed here: no close, and HEAD is lost as well.
        let left = system.copy()
        try left.remove("/j/HEAD")
        let reopened = try Journal.open(at: "/j", options: .test(left, seed: 3))
        let live = try (0..<100).filter {
            try reopened.entry(for: recordKey("n\($0)"))?.entry.operation == .put
        }
        #expect(live == [99])
        #expect(try reopened.entry(for: recordKey("brief"))?.entry.operation != .put)
    }

    /// Damage that nobody saw at the start made every compaction fail and leave its output, until the disk was full.
    @Test func `compactions that meet damage go around it, take no more space and always tell the same`()
        throws
    {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system, segmentSize: 6 << 10))
        var workload = Workload(seed: 343, names: 8, valueSizeMax: 500)
        while system.segments(of: "/j").count < 12 { try journal.apply(workload.next()) }
        let damaged = system.segments(of: "/j")[4]
        let whole = try #require(system.contents(damaged))
        let block = try #require(JournalFiles.frames(whole).first { $0.kind == 0x50 })
        try system.flip(damaged, at: block.offset + 64 + 30)
        journal.close()
        let before = try #require(system.contents(damaged))
        var sizes: [Int] = []
        for round in 0..<20 {
            let next = try Journal.open(
                at: "/j", options: .test(system, segmentSize: 6 << 10, seed: 50 + UInt64(round)))
            let report = try next.compact()
            #expect(report.damages.map(\.file) == (report.damages.isEmpty ? [] : [damaged]), "round \(round)")
            next.close()
            sizes.append(system.image(of: "/j").values.reduce(0) { $0 + $1.count })
            #expect(try system.list("/j/tmp").isEmpty, "round \(round)")
        }
        #expect(system.contents(damaged) == before)
        #expect(system.segments(of: "/j").count < 12, "the others are merged")
        #expect(Set(sizes.dropFirst()).count == 1, "\(sizes)")
        let report = try Journal.open(at: "/j", mode: .readOnly, options: .test(system)).verify()
        #expect(report.damages.map(\.file) == [damaged])
    }

    /// Every update of a key wrote a tombstone beside it.
    @Test func `a thousand updates of a key leave one version and no deletion`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        for number in 0..<1000 { try journal.apply([put("k", "\(number)")]) }
        _ = try journal.compact(everything: true)
        let statistics = try journal.statistics()
        #expect(statistics.tombstones.entries == 0 && statistics.live.entries >= 1)
        #expect(try journal.entry(for: recordKey("k"))?.entry.value == textValue("999"))
        #expect(try journal.commits(filter: ReadFilter(spaces: [.record])).flatMap(\.entries).count == 1)
    }

    /// Deletions stayed for ever, and the file grew with every key that had ever been.
    @Test func `keys that come and go leave a journal no larger than its window of deletions`() throws {
        let system = MemoryFileSystem()
        let clock = ManualClock()
        var options = JournalOptions.test(system, segmentSize: 32 << 10, clock: clock)
        options.compacts = true
        let journal = try Journal.create(at: "/j", options: options)
        let day: Int64 = 86_400 * 1_000_000
        let holder: [UInt8] = Array(repeating: 7, count: 16)
        var sizes: [Int] = []
        for round in 0..<24 {
            for batch in 0..<4 {
                let names = (0..<60).map { "key-\(round)-\(batch)-\($0)" }
                try journal.apply(names.map { put($0, "some text of a record") })
                try journal.apply(names.map(delete))
            }
            // A follower that is always there, and ten days a round: three rounds are the retention.
            try journal.renewLease(of: holder, kind: .replica, at: journal.head().commit)
            clock.set(clock.now + 10 * day)
            _ = try journal.compact(everything: true)
            sizes.append(system.image(of: "/j").values.reduce(0) { $0 + $1.count })
        }
        let window = try #require(sizes[4..<10].max())
        let last = try #require(sizes.last)
        #expect(last <= window + window / 10, "it grows: \(sizes)")
        #expect(try journal.statistics().tombstones.entries <= 60 * 4 * 5)
    }

    /// Segments that a sleeping writer had open were merged and deleted; it came back and wrote to a file that was gone.
    @Test func `a writer that slept while its segments were merged and deleted loses nothing`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 345, valueSizeMax: 500)
        let sleeper = try Journal.create(at: "/j", options: .test(system, segmentSize: 6 << 10))
        try fill(sleeper, &model, &workload, count: 30)
        let known = system.segments(of: "/j")
        let other = try Journal.open(at: "/j", options: .test(system, segmentSize: 6 << 10, seed: 2))
        for _ in 0..<3 {
            try fill(other, &model, &workload, count: 25)
            _ = try other.compact(everything: true)
        }
        #expect(Set(known).isDisjoint(with: system.segments(of: "/j")))
        try fill(sleeper, &model, &workload, count: 3)
        let left = try Journal.open(at: "/j", options: .test(system.afterPowerLoss(), seed: 3))
        for key in model.keys {
            #expect(try left.entry(for: key)?.position == model.entry(for: key)?.position)
        }
        #expect(try left.verify().isSound)
    }

    /// Consumers stood still, or skipped, where compaction had taken the numbers in between.
    @Test func `reading from any number goes on across numbers that compaction took away`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var numbers: [UInt64] = []
        for number in 0..<300 {
            numbers.append(try journal.apply([put(number == 2 ? "kept" : "again", "\(number)")]).info.number)
        }
        _ = try journal.compact(everything: true)
        let live = [numbers[2], numbers[299]]
        let head = try journal.head().commit
        for from in [
            0, numbers[0], numbers[1], numbers[2], numbers[3], numbers[150], numbers[298], numbers[299],
        ] {
            let found = try journal.commits(after: .end(of: from), filter: ReadFilter(spaces: [.record]))
            #expect(found.map(\.info.number) == live.filter { $0 > from }, "from \(from)")
            #expect(head >= from)
            let backward = try journal.commitsBackward(
                before: .end(of: from), filter: ReadFilter(spaces: [.record]))
            #expect(backward.map(\.info.number) == live.reversed().filter { $0 <= from }, "before \(from)")
            // The place is as good for a cursor as if nothing had been taken away.
            if from > 0 { try journal.validate(try journal.cursor(at: .end(of: from))) }
        }
    }
}
