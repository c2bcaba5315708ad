import SynclogJournal
import TestSupport
import Testing

/// What is read does not grow with the number of entries.
@Suite struct BytesReadTests {
    /// Bytes read by processes that come, do one thing, and go: the mean over some of them.
    struct Cost {
        var open = 0
        var get = 0
        var delta = 0
    }

    private func cost(entries: Int) throws -> Cost {
        let system = MemoryFileSystem()
        var options = JournalOptions()
        options.fileSystem = system
        let journal = try Journal.create(at: "/j", options: options)
        var generator = SeededGenerator(seed: 5)
        var workload = Workload(seed: 5)
        for start in stride(from: 0, to: entries, by: 250) {
            try journal.apply(
                (start..<start + 250).map {
                    let key = recordKey("record-\($0)", zone: UInt64($0 % 4 + 1))
                    return PlannedEntry(.put, key, value: workload.value(150))
                })
        }
        let bound = try journal.head().commit
        for number in 0..<10 { try journal.apply([put("change-\(number)", "x", zone: 2)]) }
        journal.close()

        /// Bytes read by a fresh handle that does something.
        func bytesRead(_ body: (Journal) throws -> Void) throws -> Int {
            system.resetCounts()
            let handle = try Journal.open(at: "/j", mode: .readOnly, options: options)
            _ = try handle.head()
            try body(handle)
            handle.close()
            return system.counts.bytesRead
        }

        var cost = Cost()
        let rounds = 40
        cost.open = try bytesRead { _ in }
        for _ in 0..<rounds {
            let number = Int.random(in: 0..<entries, using: &generator)
            cost.get += try bytesRead { handle in
                let key = recordKey("record-\(number)", zone: UInt64(number % 4 + 1))
                let found = try handle.entry(for: key)
                #expect(found?.entry.key == key)
            }
        }
        cost.get /= rounds
        cost.delta = try bytesRead { handle in
            let filter = ReadFilter(zones: [2], spaces: [.record])
            let changes = try handle.commits(after: .end(of: bound), filter: filter)
            #expect(changes.count == 10)
        }
        return cost
    }

    @Test func `open, get and a delta of ten changes read no more at a hundred thousand`() throws {
        let small = try cost(entries: 1000)
        let large = try cost(entries: 100_000)
        print("bytes read at 1 k: \(small), at 100 k: \(large)")
        #expect(large.open < 2 * small.open)
        #expect(large.get < 2 * small.get)
        #expect(large.delta < 2 * small.delta)
        #expect(small.open < small.get && small.open < small.delta)
    }
}
