internal import TestSupport

/// All cases, all contestants in turn, round by round, so that what else the machine does meets all of them.
struct BenchmarkRun {
    let options: BenchmarkOptions
    let workload: Workload
    /// What a walk over the workload must find.
    let walk: Walk
    var measurements = Measurements()
    var generator: SeededGenerator
    var tools: ToolStores?

    init(_ options: BenchmarkOptions) {
        self.options = options
        workload = Workload(seed: options.seed, count: options.scale)
        walk = workload.walk
        generator = SeededGenerator(seed: options.seed &+ 1)
    }

    /// A contestant with its data.
    final class Store {
        let contestant: Contestant
        private let directory = TemporaryDirectory()
        private(set) var engine: any Engine
        /// The records in it.
        var count = 0
        var lastCommit = 0

        init(_ contestant: Contestant) throws {
            self.contestant = contestant
            engine = try contestant.open(directory.path)
        }

        var name: String { contestant.label }
        var path: String { directory.path }

        func reopen() throws { engine = try contestant.open(path) }

        func commit(_ records: ArraySlice<Workload.Record>) throws {
            lastCommit = try engine.commit(records)
            count += records.count
        }

        /// Commits records in batches.
        func load(_ records: [Workload.Record], batch: Int = 250) throws {
            for start in stride(from: 0, to: records.count, by: batch) {
                try commit(records[start..<min(start + batch, records.count)])
            }
        }
    }

    /// How long a body takes, in seconds.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let duration = try ContinuousClock().measure(body)
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    mutating func run() throws {
        if !Contestant.peersAreThere || options.alone {
            for kind in options.cases {
                measurements.skip(
                    kind.name, "peers", options.alone ? "--alone" : "built without --traits PeerBenchmarks")
            }
        }
        for round in 0..<options.rounds { try run(round) }
        measurements.report(options, work: workload.hash)
    }

    private mutating func run(_ round: Int) throws {
        let usesStores = options.cases.contains { !["put-cold", "dump-json"].contains($0.name) }
        if usesStores {
            // Each is the first in its turn.
            var stores: [Store] = []
            let contestants = options.alone ? Array(Contestant.all.prefix(1)) : Contestant.all
            for place in contestants.indices {
                stores.append(try Store(contestants[(place + round) % contestants.count]))
            }
            try measureBulk(stores)
            if options.wants("memory") { try measureMemory(stores) }
            try measureOpenAndScan(stores)
            try measurePoints(stores)
            if options.wants("delta") { try measureDelta(stores) }
            if options.wants("open", "delta") { try measureSmall() }
            if options.wants("follow") { try measureFollow(stores) }
            if options.wants("disk") { try measureDisk(stores) }
            try measureCommits(stores)
            for store in stores { store.engine.close() }
        }
        if options.wants("put-cold", "dump-json") { try measureTools() }
    }

    /// Runs a body for each contestant in turn, several times, each time beginning with another one.
    static func alternate<Element>(_ all: [Element], times: Int, _ body: (Element) throws -> Void) rethrows {
        for time in 0..<times {
            for place in all.indices { try body(all[(place + time) % all.count]) }
        }
    }
}
