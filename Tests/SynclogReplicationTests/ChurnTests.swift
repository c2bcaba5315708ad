import Glibc
import SynclogJournal
import TestLanes
import TestSupport
import Testing

@testable import SynclogReplication

/// Puts and deletes over few names, compactions that are killed, and three copies: one that stays, one away with a lease, one
/// away without.
@Suite(.long) struct ChurnTests {
    private static let day: Int64 = 86_400_000_000

    private final class Churn {
        /// The source's files; a kill leaves a copy of them, with all locks gone.
        var files = MemoryFileSystem()
        let copies = MemoryFileSystem()
        let clock = ManualClock()
        var generator: SeededGenerator
        let names: Int
        var newest: [String: String?] = [:]
        var operations = 0

        init(seed: UInt64, names: Int) throws {
            generator = SeededGenerator(seed: seed)
            self.names = names
            try Journal.create(at: "/a", options: options()).close()
        }

        func options() -> JournalOptions { .test(files, seed: generator.next(), clock: clock) }

        func write(_ commits: Int) throws {
            let journal = try Journal.open(at: "/a", options: options())
            defer { journal.close() }
            for _ in 0..<commits {
                var planned: [PlannedEntry] = []
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let name = "name-\(Int.random(in: 0..<names, using: &generator))"
                    guard !planned.contains(where: { $0.key == recordKey(name) }) else { continue }
                    operations += 1
                    if Int.random(in: 0..<5, using: &generator) < 2 {
                        planned.append(PlannedEntry(.delete, recordKey(name), value: textValue("")))
                        newest[name] = .some(nil)
                    } else {
                        let text = String(generator.next(), radix: 36) + String(repeating: "x", count: 60)
                        planned.append(put(name, text))
                        newest[name] = text
                    }
                }
                try journal.apply(planned)
            }
        }

        private func put(_ name: String, _ text: String) -> PlannedEntry {
            PlannedEntry(.put, recordKey(name), value: textValue(text))
        }

        /// Compacts; from some call on nothing reaches the files any more, as if the process was killed there.
        /// - Returns: Whether it was killed before it was done.
        func compactUntilKilled() throws -> Bool {
            let journal = try Journal.open(at: "/a", options: options())
            let everything = Bool.random(using: &generator)
            files.setFailures(
                FailurePlan([
                    FailurePlan.Rule(
                        [], skipping: Int.random(in: 0..<40, using: &generator), code: EIO,
                        bytesBefore: Int.random(in: 0..<5000, using: &generator))
                ]))
            let done = (try? journal.compact(everything: everything)) != nil
            let left = files.copy()
            journal.close()
            files = left
            return !done
        }

        func follow(_ path: String, leased: Bool = true) throws -> Follower.Report {
            var options = Follower.Options()
            options.journal = .test(copies, seed: UInt64(path.utf8.last ?? 0), clock: clock)
            let source = try DirectorySource(path: "/a", options: self.options())
            return try Follower(at: path, source: leased ? source : Leaseless(source), options: options).run()
        }

        /// The names whose newest state in a journal is not the model's; what came back from the dead is among them.
        func differences(_ path: String, in files: MemoryFileSystem) throws -> [String] {
            let journal = try Journal.open(at: path, mode: .readOnly, options: .test(files))
            defer { journal.close() }
            return try newest.keys.sorted().filter { name in
                let stored = try journal.entry(for: recordKey(name))
                let found = stored.flatMap { $0.entry.operation == .put ? $0.entry.value : nil }
                return found != (newest[name] ?? nil).map { textValue($0) }
            }
        }

        var size: Int { files.segments(of: "/a").reduce(0) { $0 + (files.contents($1)?.count ?? 0) } }
    }

    @Test func `no name comes back, whoever was away and whenever a compaction was killed`() throws {
        let long = getenv("SYNCLOG_EVERY_BYTE") != nil
        let (rounds, names) = long ? (600, 10_000) : (40, 300)
        let seed: UInt64 = 31
        let churn = try Churn(seed: seed, names: names)
        try churn.write(100)
        for (path, leased) in [("/stays", true), ("/leased", true), ("/forgotten", false)] {
            _ = try churn.follow(path, leased: leased)
        }
        // An old cursor's view of the source through all the compactions: what it must be told is what changed since.
        var kills = 0
        var largest = 0
        for round in 0..<rounds {
            try churn.write(long ? 500 : 30)
            // The leased one is away for 160 days, the other longer than deletions are kept.
            churn.clock.set(churn.clock.read() + 160 * Self.day / Int64(rounds))
            kills += try churn.compactUntilKilled() ? 1 : 0
            let report = try churn.follow("/stays")
            #expect(!report.wasRebuilt, "seed \(seed), round \(round)")
            if round % 10 == 9 {
                let journal = try Journal.open(at: "/a", options: churn.options())
                _ = try journal.compact()
                #expect(try journal.verify().isSound, "seed \(seed), round \(round)")
                journal.close()
                largest = max(largest, churn.size)
                #expect(try churn.differences("/a", in: churn.files).isEmpty, "seed \(seed), round \(round)")
                #expect(
                    try churn.differences("/stays", in: churn.copies).isEmpty, "seed \(seed), round \(round)")
            }
        }
        let leased = try churn.follow("/leased")
        #expect(!leased.wasRebuilt, "seed \(seed)")
        #expect(try churn.differences("/leased", in: churn.copies).isEmpty, "seed \(seed)")
        // Now nobody holds anything back; the rest of the tombstones goes, and the third copy is too old.
        for path in ["/stays", "/leased"] { _ = try churn.follow(path) }
        churn.clock.set(churn.clock.read() + 31 * Self.day)
        try churn.write(30)
        let journal = try Journal.open(at: "/a", options: churn.options())
        let report = try journal.compact(everything: true)
        #expect(report.tombstones > 0, "seed \(seed)")
        #expect(try journal.verify().isSound, "seed \(seed)")
        journal.close()
        let forgotten = try churn.follow("/forgotten", leased: false)
        #expect(forgotten.wasRebuilt, "seed \(seed)")
        for path in ["/stays", "/leased"] { #expect(try !churn.follow(path).wasRebuilt, "seed \(seed)") }
        for path in ["/stays", "/leased", "/forgotten"] {
            #expect(try churn.differences(path, in: churn.copies).isEmpty, "seed \(seed), \(path)")
        }
        print(
            "\(churn.operations) puts and deletes over \(names) names, \(kills) compactions killed: at most \(largest) bytes, "
                + "compacted \(churn.size)")
        #expect(kills > rounds / 3)
        // The bound: what is live, the tombstones that a lease holds, and the segments of each tier that wait for a merge.
        #expect(largest < 8 * churn.size + 20 * 16 * 1024)
    }
}
