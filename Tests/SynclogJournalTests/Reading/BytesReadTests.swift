import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// What is read does not grow with the number of entries.
@Suite(.long) struct BytesReadTests {
    /// Bytes read by processes that come, do one thing, and go: the mean over some of them.
    struct Cost {
        var open = 0
        /// One `get` with the opening before it, and without it.
        var openAndGet = 0
        var get = 0
        /// A delta of ten changes with the opening before it, and without it.
        var openAndDelta = 0
        var delta = 0
    }

    /// Bytes read by a fresh handle that opens, and by what it does then.
    private func bytesRead(
        _ system: MemoryFileSystem, _ body: (Journal) throws -> Void
    ) throws -> (open: Int, body: Int) {
        var options = JournalOptions()
        options.fileSystem = system
        system.resetCounts()
        let handle = try Journal.open(at: "/j", mode: .readOnly, options: options)
        _ = try handle.head()
        let open = system.counts.bytesRead
        try body(handle)
        handle.close()
        return (open, system.counts.bytesRead - open)
    }

    private func add(_ numbers: Range<Int>, to journal: Journal, _ workload: inout Workload) throws {
        try journal.apply(
            numbers.map {
                let key = recordKey("record-\($0)", zone: UInt64($0 % 4 + 1))
                return PlannedEntry(.put, key, value: workload.value(150))
            })
    }

    private func change(_ journal: Journal) throws {
        for number in 0..<10 { try journal.apply([put("change-\(number)", "x", zone: 2)]) }
    }

    private func cost(entries: Int) async throws -> Cost {
        let system = MemoryFileSystem()
        var options = JournalOptions()
        options.fileSystem = system
        let journal = try Journal.create(at: "/j", options: options)
        var generator = SeededGenerator(seed: 5)
        var workload = Workload(seed: 5)
        for start in stride(from: 0, to: entries, by: 250) {
            try add(start..<start + 250, to: journal, &workload)
        }
        let bound = try await journal.head().commit
        try change(journal)
        journal.close()

        var cost = Cost()
        let rounds = 40
        for _ in 0..<rounds {
            let number = Int.random(in: 0..<entries, using: &generator)
            let read = try bytesRead(system) { handle in
                let key = recordKey("record-\(number)", zone: UInt64(number % 4 + 1))
                let found = try handle.entry(for: key)
                #expect(found?.entry.key == key)
            }
            cost.open += read.open
            cost.get += read.body
        }
        cost.open /= rounds
        cost.get /= rounds
        cost.openAndGet = cost.open + cost.get
        cost.delta = try bytesRead(system) { handle in
            let filter = ReadFilter(zones: [2], spaces: [.record])
            let changes = try handle.commits(after: .end(of: bound), filter: filter)
            #expect(changes.count == 10)
        }.body
        cost.openAndDelta = cost.open + cost.delta
        return cost
    }

    @Test func `open, get and a delta of ten changes read no more at a hundred thousand`() async throws {
        let small = try await cost(entries: 1000)
        let large = try await cost(entries: 100_000)
        print("bytes read at 1 k: \(small), at 100 k: \(large)")
        #expect(large.open < 2 * small.open)
        #expect(large.openAndGet < 2 * small.openAndGet)
        #expect(large.openAndDelta < 2 * small.openAndDelta)
        #expect(large.delta < 2 * small.delta)
        // Not less than one block in either: a count of nothing would pass all of the above.
        #expect(small.open > 4096 && small.get > 1024 && small.delta > 1024)
    }

    @Test func `who reads all takes many blocks at a time, who reads a few reads little else`() throws {
        let system = MemoryFileSystem()
        var options = JournalOptions()
        options.fileSystem = system
        let journal = try Journal.create(at: "/j", options: options)
        var workload = Workload(seed: 6)
        for start in stride(from: 0, to: 20_000, by: 250) {
            try add(start..<start + 250, to: journal, &workload)
        }
        let bound = try journal.head().commit
        for number in 0..<10 { try journal.apply([put("late-\(number)", "x")]) }
        let size = system.segments(of: "/j").compactMap { system.contents($0)?.count }.reduce(0, +)
        system.resetCounts()
        let all = try journal.commits()
        #expect(all.count == 90)
        // Some 300 blocks of 8 KiB, and the pages that name them.
        #expect(system.counts.reads < 120)
        #expect(system.counts.bytesRead < size * 5 / 4)
        system.resetCounts()
        #expect(try journal.commits(after: .end(of: bound)).count == 10)
        // A few pages of the index, and ten small blocks.
        #expect(system.counts.bytesRead < 40 * 1024)
        journal.close()
    }
}
