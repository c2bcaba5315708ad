import SynclogJournal
import TestSupport
import Testing

/// What is read does not grow with the number of entries.
@Suite struct BytesReadTests {
    struct Cost {
        var open = 0
        var get = 0
        var delta = 0
    }

    /// Bytes read by an opening, by the worst of some look-ups in fresh handles, and by a delta of ten changes.
    private func cost(entries: Int) throws -> Cost {
        let system = MemoryFileSystem()
        var options = JournalOptions.test(system, segmentSize: 1 << 20, blockSize: 16 * 1024)
        options.checkpointInterval = 128 * 1024
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: options)
        var generator = SeededGenerator(seed: 5)
        var workload = Workload(seed: 5)
        for start in stride(from: 0, to: entries, by: 250) {
            try journal.apply(
                (start..<start + 250).map {
                    PlannedEntry(
                        .put, recordKey("record-\($0)", zone: UInt64($0 % 4 + 1)), value: workload.value(150))
                })
        }
        let bound = try journal.head().commit
        for number in 0..<10 { try journal.apply([put("change-\(number)", "x", zone: 2)]) }
        journal.close()

        var cost = Cost()
        for _ in 0..<20 {
            let number = Int.random(in: 0..<entries, using: &generator)
            system.resetCounts()
            let handle = try Journal.open(at: "/j", mode: .readOnly, options: options)
            _ = try handle.head()
            cost.open = max(cost.open, system.counts.bytesRead)
            system.resetCounts()
            let key = recordKey("record-\(number)", zone: UInt64(number % 4 + 1))
            #expect(try handle.entry(for: key) != nil)
            cost.get = max(cost.get, system.counts.bytesRead)
            handle.close()
        }
        let handle = try Journal.open(at: "/j", mode: .readOnly, options: options)
        _ = try handle.head()
        system.resetCounts()
        let filter = ReadFilter(zones: [2], spaces: [.record])
        #expect(try handle.commits(after: .end(of: bound), filter: filter).count == 10)
        cost.delta = system.counts.bytesRead
        return cost
    }

    @Test func `open, get and a delta of ten changes read no more at a hundred thousand`() throws {
        let small = try cost(entries: 1000)
        let large = try cost(entries: 100_000)
        print("bytes read at 1 k: \(small), at 100 k: \(large)")
        #expect(large.open < 2 * small.open)
        #expect(large.get < 2 * small.get)
        #expect(large.delta < 2 * small.delta)
        #expect(small.get > 0 && small.delta > 0)
    }
}
