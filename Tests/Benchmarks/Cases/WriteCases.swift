internal import SynclogJournal
internal import TestSupport

extension BenchmarkRun {
    /// Loads the workload, 250 records a commit, in random order of names.
    mutating func measureBulk(_ stores: [Store]) throws {
        for store in stores {
            let time = try Self.seconds { try store.load(workload.records) }
            measurements.add("bulk250", store.name, Double(store.count) / time)
            try store.engine.settle()
            if options.wants("bulk250"), let own = store.engine as? JournalEngine {
                try measureRawBulk(own, commits: (store.count + 249) / 250)
            }
            store.engine.close()
        }
    }

    /// The same bytes as the journal wrote, in as many commits.
    private mutating func measureRawBulk(_ engine: JournalEngine, commits: Int) throws {
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let log = try RawLoops.Log(directory.path)
        let size = try engine.storedSize(ofCommit: commits / 2)
        let time = try Self.seconds { for _ in 0..<commits { try log.commit(size: size) } }
        measurements.add("bulk250", "raw", Double(workload.records.count) / time)
    }

    mutating func measureCommits(_ stores: [Store]) throws {
        let single = options.wants("commit1", "commit16")
        let slices = 8
        // Long enough that starting is not what is measured.
        let perSlice = min(200, max(25, options.scale / 1000))
        let perThread = min(100, max(20, options.scale / 1000))
        let count = (slices + 1) * perSlice + slices * 16 * perThread
        let extra = Workload(seed: options.seed &+ 2, count: count, size: 256).records
        var rest = extra[...]
        func take(_ count: Int) -> ArraySlice<Workload.Record> {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        if single {
            let directory = TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let log = try RawLoops.Log(directory.path)
            var size = 512
            // The first slice only warms.
            for slice in 0...slices {
                let list = take(perSlice)
                try Self.alternate(stores, times: 1) { store in
                    let time = try Self.seconds {
                        for place in list.indices { try store.commit(list[place...place]) }
                    }
                    if slice > 0 { measurements.add("commit1", store.name, Double(list.count) / time) }
                    if let own = store.engine as? JournalEngine {
                        size = try own.storedSize(ofCommit: store.lastCommit)
                    }
                }
                let time = try Self.seconds { for _ in list { try log.commit(size: size) } }
                if slice > 0 { measurements.add("commit1", "raw", Double(list.count) / time) }
            }
        }
        guard options.wants("commit16") else { return }
        for _ in 0..<slices {
            let list = take(16 * perThread)
            try Self.alternate(stores, times: 1) { store in
                measurements.add("commit16", store.name, try Self.concurrently(store, list))
            }
        }
        if let one = measurements.median("commit1", "synclog") { measurements.add("commit16", "one", one) }
    }

    /// Commits records one by one on 16 threads.
    /// - Returns: Commits a second.
    private static func concurrently(_ store: Store, _ list: ArraySlice<Workload.Record>) throws -> Double {
        let share = list.count / 16
        let left = Monitor((running: 16, failure: String?.none))
        let engine = store.engine
        let time = Self.seconds {
            for thread in 0..<16 {
                let part = list.dropFirst(thread * share).prefix(share)
                startThread {
                    var failure: String?
                    do {
                        for place in part.indices { _ = try engine.commit(part[place...place]) }
                    } catch {
                        failure = "\(error)"
                    }
                    left.withLock { state in
                        state.running -= 1
                        if let failure { state.failure = failure }
                    }
                    left.wakeAll()
                }
            }
            _ = left.wait { $0.running == 0 ? true : nil }
        }
        if let failure = left.withLock({ $0.failure }) {
            throw BenchmarkError("\(store.name): a commit failed: \(failure)")
        }
        store.count += 16 * share
        return Double(16 * share) / time
    }

    mutating func measureDisk(_ stores: [Store]) throws {
        for store in stores {
            try store.engine.compact()
            store.engine.close()
            let size = RawLoops.size(of: store.path)
            measurements.add("disk", store.name, Double(size) / Double(store.count))
            try store.reopen()
        }
        let size = RawLoops.compressedSize(workload.records)
        measurements.add("disk", "raw", Double(size) / Double(workload.records.count))
    }
}
