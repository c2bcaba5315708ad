internal import SynclogJournal
internal import TestSupport

extension BenchmarkRun {
    /// How many records are hot; each lies in a block of its own, and the journal's cache holds 512 blocks of 16 KiB.
    private static let hotCount = 256

    mutating func measureMemory(_ stores: [Store]) throws {
        for (name, path) in stores.map({ ($0.name, $0.path) }) + [("raw", "-")] {
            let text = try ChildProcess.output(of: [ChildProcess.own, "--child", "scan", name, path])
            guard let kibibytes = Double(String(decoding: text.filter { $0 != 0x0A }, as: UTF8.self)) else {
                throw BenchmarkError("\(name): the child that scans printed no number")
            }
            measurements.add("memory", name, kibibytes / 1024)
        }
    }

    /// Opens closed stores, and walks over all they hold with nothing cached in the process; the files are in memory.
    mutating func measureOpenAndScan(_ stores: [Store]) throws {
        try Self.alternate(stores, times: 3) { store in
            measurements.add("open", store.name, try Self.seconds { try store.reopen() } * 1000)
            store.engine.close()
        }
        if options.wants("scan") {
            try Self.alternate(stores, times: 3) { store in
                try store.reopen()
                try measureScan(store)
                store.engine.close()
            }
        }
        for store in stores { try store.reopen() }
    }

    private mutating func measureScan(_ store: Store) throws {
        var found = Walk()
        let time = try Self.seconds { found = try store.engine.walk(after: 0) }
        guard found == walk else {
            throw BenchmarkError("\(store.name): the scan found \(found), not \(walk)")
        }
        measurements.add("scan", store.name, Double(found.count) / time)
        if store.engine is JournalEngine {
            let files = RawLoops.files(in: store.path, suffix: ".lz4")
            let time = try Self.seconds { _ = try RawLoops.decode(files) }
            measurements.add("scan", "raw", Double(found.count) / time)
        }
    }

    mutating func measurePoints(_ stores: [Store]) throws {
        let records = workload.records
        let hot = (0..<Self.hotCount).map { _ in Int(generator.next() % UInt64(records.count)) }
        let count = min(20_000, max(1000, options.scale / 20))
        for name in ["point", "point-hot"] where options.wants(name) {
            for slice in 0..<6 {
                let places = (0..<count).map { _ in
                    let bits = generator.next()
                    return name == "point"
                        ? Int(bits % UInt64(records.count)) : hot[Int(bits % UInt64(hot.count))]
                }
                try Self.alternate(stores, times: 1) { store in
                    let engine = store.engine
                    let time = try Self.seconds {
                        for place in places
                        where try engine.get(records[place].name) != records[place].value.count {
                            throw BenchmarkError("\(store.name): a record is not there")
                        }
                    }
                    // The first slice only warms.
                    if slice > 0 { measurements.add(name, store.name, Double(count) / time) }
                }
            }
        }
    }

    /// Makes ten commits of ten records.
    /// - Returns: What a walk over them must find.
    private func change(_ store: Store, seed: UInt64) throws -> (after: Int, walk: Walk) {
        let extra = Workload(seed: seed, count: 100)
        let before = store.lastCommit
        try store.load(extra.records, batch: 10)
        return (before, extra.walk)
    }

    mutating func measureDelta(_ stores: [Store]) throws {
        let changes = try stores.map { ($0, try change($0, seed: options.seed &+ 3)) }
        try Self.alternate(changes, times: 15) { store, change in
            measurements.add("delta", store.name, try Self.delta(store, change))
        }
    }

    private static func delta(_ store: Store, _ change: (after: Int, walk: Walk)) throws -> Double {
        var found = Walk()
        let time = try seconds { found = try store.engine.walk(after: change.after) }
        guard found == change.walk else {
            throw BenchmarkError("\(store.name): the delta found \(found), not \(change.walk)")
        }
        return time * 1000
    }

    /// Opening, and the same 100 changes, in a journal with a hundredth of the records.
    mutating func measureSmall() throws {
        let store = try Store(Contestant.all[0])
        try store.load(Array(workload.records.prefix(max(1, options.scale / 100))))
        store.engine.close()
        for _ in 0..<3 {
            measurements.add("open", "hundredth", try Self.seconds { try store.reopen() } * 1000)
            store.engine.close()
        }
        try store.reopen()
        let change = try change(store, seed: options.seed &+ 3)
        for _ in 0..<15 { measurements.add("delta", "hundredth", try Self.delta(store, change)) }
        store.engine.close()
    }
}
