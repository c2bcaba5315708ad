internal import CAllocations
internal import Glibc
internal import SynclogJournal
internal import TestSupport

/// Counts that are the same in every run, each with the most there may be: the check script fails above it.
///
/// Allocations are those of an optimised build, and of the whole process while the journal works.
struct Counts {
    private let options: BenchmarkOptions
    private var exceeded: [String] = []

    /// The records in the journal that is looked at.
    private static let scale = 20_000

    init(_ options: BenchmarkOptions) { self.options = options }

    mutating func run() throws {
        guard synclog_allocations_supported() != 0 else {
            throw BenchmarkError("allocations can only be counted with glibc")
        }
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let records = Workload(seed: options.seed, count: Self.scale + 400)
        try countWriting(directory.path, records)
        try countReading(directory.path, records)
        guard exceeded.isEmpty else {
            throw BenchmarkError("more than allowed: " + exceeded.joined(separator: ", "))
        }
    }

    private mutating func countWriting(_ path: String, _ workload: Workload) throws {
        let engine = try JournalEngine(path)
        defer { engine.close() }
        let records = workload.records
        try Self.commit(records[..<10_000], 250, engine)
        try tell("bulk-allocations", "per entry", limit: 0.55, of: 10_000) {
            try Self.commit(records[10_000..<20_000], 250, engine)
        }
        try Self.commit(records[20_000..<20_100], 1, engine)
        let before = engine.files.counts
        try tell("commit-allocations", "per commit of one entry", limit: 25, of: 200) {
            try Self.commit(records[20_100..<20_300], 1, engine)
        }
        let after = engine.files.counts
        tell("commit-syncs", "per commit", Double(after.dataSyncs - before.dataSyncs) / 200, limit: 1)
        tell("commit-reads", "per commit", Double(after.reads - before.reads) / 200, limit: 0)
    }

    private static func commit(
        _ records: ArraySlice<Workload.Record>, _ batch: Int, _ engine: JournalEngine
    ) throws {
        for start in stride(from: records.startIndex, to: records.endIndex, by: batch) {
            _ = try engine.commit(records[start..<min(start + batch, records.endIndex)])
        }
    }

    private mutating func countReading(_ path: String, _ workload: Workload) throws {
        let files = PosixFileSystem()
        let engine = try JournalEngine(path, mode: .readOnly, files: files)
        defer { engine.close() }
        tell("open-files", "opened by opening", Double(files.counts.opens), limit: 2)
        tell("open-bytes", "read by opening", Double(files.counts.bytesRead), limit: 24_000)
        let head = Int(try engine.journal.head().commit)
        let before = files.counts
        let found = try engine.walk(after: head - 100)
        guard found.count == 100 else { throw BenchmarkError("the delta has \(found.count) changes") }
        let after = files.counts
        tell("delta-files", "opened by a delta of 100", Double(after.opens - before.opens), limit: 0)
        tell(
            "delta-bytes", "read by a delta of 100", Double(after.bytesRead - before.bytesRead),
            limit: 50_000)

        let all = try engine.walk(after: 0)
        try tell("scan-allocations", "per entry", limit: 0.015, of: all.count) {
            _ = try engine.walk(after: 0)
        }
        let names = (0..<1000).map { workload.records[$0 * 20].name }
        for name in names { _ = try engine.get(name) }
        try tell("point-allocations", "per read", limit: 2.3, of: names.count) {
            for name in names { _ = try engine.get(name) }
        }
    }

    private mutating func tell(
        _ name: String, _ unit: String, limit: Double, of count: Int, _ body: () throws -> Void
    ) throws {
        synclog_allocations_start()
        do {
            try body()
        } catch {
            _ = synclog_allocations_stop()
            throw error
        }
        tell(name, unit, Double(synclog_allocations_stop()) / Double(count), limit: limit)
    }

    private mutating func tell(_ name: String, _ unit: String, _ value: Double, limit: Double) {
        let text = Measurements.text(value)
        let most = Measurements.text(limit)
        if options.json {
            print("{\"count\":\"\(name)\",\"unit\":\"\(unit)\",\"value\":\(text),\"most\":\(most)}")
        } else {
            print(name + String(repeating: " ", count: 20 - name.count) + "\(text) \(unit), at most \(most)")
        }
        if value > limit { exceeded.append("\(name) \(text) (\(most))") }
    }
}
