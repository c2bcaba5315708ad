internal import Glibc
internal import SynclogJournal
internal import SynclogReplication
internal import TestSupport

/// Runs the cases on all contestants in turn, round by round, so that what else the machine does meets all of them.
@main
struct Benchmark {
    var scale = 10_000
    var rounds = 3
    var seed: UInt64 = 1
    var wanted: [String] = []
    var json = false
    /// Values by case and contestant, one a round.
    private var values: [String: [String: [Double]]] = [:]

    static let cases: [(name: String, unit: String, higher: Bool)] = [
        ("bulk250", "records/s", true), ("open", "ms", false), ("scan", "records/s", true),
        ("point", "reads/s", true), ("point-hot", "reads/s", true), ("delta", "ms", false),
        ("commit1", "commits/s", true), ("commit16", "commits/s", true), ("memory", "MiB", false),
        ("follow", "MB/s", true), ("disk", "B/record", false),
    ]

    static func main() throws {
        var words = CommandLine.arguments.dropFirst()
        if words.first == "--child-scan", words.count == 2, let path = words.last {
            return try childScan(path)
        }
        var benchmark = Benchmark()
        while let word = words.popFirst() {
            switch word {
            case "--json": benchmark.json = true
            case "--case": benchmark.wanted.append(words.popFirst() ?? "")
            case "--scale": benchmark.scale = try number(words.popFirst())
            case "--rounds": benchmark.rounds = try number(words.popFirst())
            case "--seed": benchmark.seed = UInt64(try number(words.popFirst()))
            default: throw BenchmarkError("usage: [--case NAME] [--scale N] [--rounds N] [--seed N] [--json]")
            }
        }
        if let unknown = benchmark.wanted.first(where: { name in !cases.contains { $0.name == name } }) {
            throw BenchmarkError("no case \(unknown); there are " + cases.map(\.name).joined(separator: " "))
        }
        try benchmark.run()
    }

    private static func number(_ word: String?) throws -> Int {
        guard let word, let value = Int(word), value > 0 else { throw BenchmarkError("a number is missing") }
        return value
    }

    private func wants(_ name: String) -> Bool { wanted.isEmpty || wanted.contains(name) }

    private mutating func record(_ name: String, _ contestant: String, _ value: Double) {
        if wants(name) { values[name, default: [:]][contestant, default: []].append(value) }
    }

    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let duration = try ContinuousClock().measure(body)
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    mutating func run() throws {
        let workload = Workload(seed: seed, count: scale)
        #if PeerBenchmarks
            let peers: [(String, (String) throws -> any Engine)] = [("sqlite", { try SQLiteEngine($0) })]
        #else
            let peers: [(String, (String) throws -> any Engine)] = []
        #endif
        let contestants =
            [("synclog", { (path: String) throws -> any Engine in try JournalEngine(path) })] + peers
        for round in 0..<rounds {
            // Each begins in turn.
            for turn in contestants.indices {
                let (name, make) = contestants[(turn + round) % contestants.count]
                let directory = TemporaryDirectory()
                defer { withExtendedLifetime(directory) {} }
                try measure(name, directory.path, workload, make)
            }
            try measureRaw(workload)
        }
        report(workload)
    }

    private mutating func measure(
        _ contestant: String, _ path: String, _ workload: Workload, _ make: (String) throws -> any Engine
    ) throws {
        let records = workload.records
        var engine = try make(path)
        let bulk = try Self.seconds {
            for (number, start) in stride(from: 0, to: records.count, by: 250).enumerated() {
                try engine.commit(records[start..<min(start + 250, records.count)], number: number + 1)
            }
        }
        record("bulk250", contestant, Double(records.count) / bulk)
        engine.close()
        record("open", contestant, try Self.seconds { engine = try make(path) } * 1000)
        var found = (count: 0, bytes: 0)
        let scan = try Self.seconds { found = try engine.scan(after: 0) }
        let bytes = records.reduce(0) { $0 + $1.name.count + $1.value.count }
        guard found == (records.count, bytes) else {
            throw BenchmarkError("\(contestant): the scan gave \(found), not \((records.count, bytes))")
        }
        record("scan", contestant, Double(records.count) / scan)
        var generator = SeededGenerator(seed: workload.seed &+ 1)
        for (name, range) in [("point", records.count), ("point-hot", min(200, records.count))]
        where wants(name) {
            let places = (0..<5000).map { _ in Int(generator.next() % UInt64(range)) }
            let time = try Self.seconds {
                for place in places where try engine.get(records[place].name) != records[place].value.count {
                    throw BenchmarkError("\(contestant): a record is not there")
                }
            }
            record(name, contestant, Double(places.count) / time)
        }
        let before = (records.count + 249) / 250
        let extra = Workload(seed: workload.seed &+ 2, count: 100).records
        try engine.commit(extra[...], number: before + 1)
        let delta = try Self.seconds { found = try engine.scan(after: before) }
        guard found.count == extra.count else {
            throw BenchmarkError("\(contestant): the delta lacks changes")
        }
        record("delta", contestant, delta * 1000)
        if wants("commit1") {
            let singles = (0..<200).map { _ in Workload.record(using: &generator, size: 256) }
            let time = try Self.seconds {
                for place in singles.indices {
                    try engine.commit(singles[place...place], number: before + 2 + place)
                }
            }
            record("commit1", contestant, Double(singles.count) / time)
        }
        if let own = engine as? JournalEngine { try measureJournalOnly(own, path, workload) }
        if wants("disk") {
            try engine.compact()
            engine.close()
            // The concurrent committers write to the journal only.
            let concurrent = contestant == "synclog" && wants("commit16") ? 16 * 50 : 0
            let count = records.count + extra.count + (wants("commit1") ? 200 : 0) + concurrent
            record("disk", contestant, Double(RawLoops.size(of: path)) / Double(count))
        } else {
            engine.close()
        }
    }

    private mutating func measureJournalOnly(
        _ engine: JournalEngine, _ path: String, _ workload: Workload
    ) throws {
        if wants("memory") { record("memory", "synclog", try Self.memoryOfScan(path)) }
        if wants("follow") {
            let directory = TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let files = RawLoops.files(in: path, suffix: ".lz4")
            var bytes: UInt64 = 0
            let time = try Self.seconds {
                bytes = try Follower(
                    at: directory.path + "/copy", source: DirectorySource(path: path)
                ).run().bytes
            }
            record("follow", "synclog", Double(bytes) / time / 1e6)
            let raw = try Self.seconds { try RawLoops.copy(files, to: directory.path + "/raw") }
            record("follow", "raw", Double(RawLoops.size(of: path)) / raw / 1e6)
        }
        if wants("scan") {
            let files = RawLoops.files(in: path, suffix: ".lz4")
            let time = try Self.seconds { _ = try RawLoops.decode(files) }
            record("scan", "raw", Double(workload.records.count) / time)
        }
        if wants("commit16") {
            var generator = SeededGenerator(seed: workload.seed &+ 3)
            let perThread = 50
            let lists = (0..<16).map { _ in
                (0..<perThread).map { _ in Workload.record(using: &generator, size: 256) }
            }
            let left = Monitor((running: lists.count, failed: false))
            let journal = engine.journal
            let time = Self.seconds {
                for list in lists {
                    startThread {
                        var failed = false
                        for record in list {
                            let made = try? journal.commit { transaction throws(JournalError) in
                                try transaction.put(
                                    EntryKey(space: .record, zone: 2, name: record.name), value: record.value)
                            }
                            if made == nil { failed = true }
                        }
                        left.withLock { state in
                            state.running -= 1
                            if failed { state.failed = true }
                        }
                        left.wakeAll()
                    }
                }
                _ = left.wait { $0.running == 0 ? true : nil }
            }
            guard !left.withLock({ $0.failed }) else { throw BenchmarkError("synclog: a commit failed") }
            record("commit16", "synclog", Double(16 * perThread) / time)
        }
    }

    private mutating func measureRaw(_ workload: Workload) throws {
        guard wants("commit1") else { return }
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        // A block of one such record: 64 bytes of header and about 300 of content.
        let time = try Self.seconds { try RawLoops.commits(in: directory.path, count: 200, size: 364) }
        record("commit1", "raw", 200 / time)
    }

    // MARK: - Memory

    /// Opens and scans, and prints the peak of its memory.
    private static func childScan(_ path: String) throws {
        let engine = try JournalEngine(path, mode: .readOnly)
        _ = try engine.scan(after: 0)
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        print(usage.ru_maxrss)
    }

    private static func memoryOfScan(_ path: String) throws -> Double {
        guard let pipe = popen("/proc/\(getpid())/exe --child-scan '\(path)'", "r") else {
            throw BenchmarkError("no child")
        }
        var line = [CChar](repeating: 0, count: 64)
        let text = fgets(&line, 64, pipe).map { String(cString: $0) } ?? ""
        guard pclose(pipe) == 0, let kibibytes = Double(text.filter(\.isNumber)) else {
            throw BenchmarkError("the child that scans failed")
        }
        return kibibytes / 1024
    }

    // MARK: - Report

    private func report(_ workload: Workload) {
        for (name, unit, higher) in Self.cases {
            guard let found = values[name] else { continue }
            let medians = found.mapValues { $0.sorted()[$0.count / 2] }
            let order = ["synclog", "raw", "sqlite", "rocksdb", "lmdb"]
            let own = medians["synclog"] ?? 0
            guard json else {
                let parts = order.compactMap { key in medians[key].map { "\(key) \(Self.text($0))" } }
                print(name, unit, parts.joined(separator: "  "))
                continue
            }
            let parts = order.map { "\"\($0)\":" + (medians[$0].map(Self.text) ?? "null") }
            let ratios = order.dropFirst().compactMap { key in
                medians[key].map { "\"\(key)\":" + Self.text(own / $0) }
            }
            print(
                "{\"case\":\"\(name)\",\"unit\":\"\(unit)\",\"better\":\"\(higher ? "higher" : "lower")\","
                    + parts.joined(separator: ",") + ",\"ratio\":{" + ratios.joined(separator: ",") + "},"
                    + "\"scale\":\(scale),\"rounds\":\(rounds),\"seed\":\(seed),"
                    + "\"work\":\"\(String(workload.hash, radix: 16))\","
                    + "\"machine\":\"\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors\"}")
        }
    }

    private static func text(_ value: Double) -> String {
        value >= 100 ? String(Int(value.rounded())) : String((value * 1000).rounded() / 1000)
    }
}
