import Glibc
import SynclogJournal
import TestSupport
import Testing

/// The Nth system call fails once, or it and all later ones, with each error there is: a typed error or success, nothing
/// acknowledged is lost, no file stays open, nothing temporary stays, and the journal can be used afterwards.
///
/// Each error at each call with `SYNCLOG_EVERY_BYTE=1`; else the errors take turns.
@Suite struct FailingCallTests {
    /// What every run of a loop starts from.
    private struct Start {
        var system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 81, entriesMax: 4, valueSizeMax: 500)
        /// The number of commits that may be there though nobody acknowledged them.
        var unknown = 0

        init(commits: Int = 5) throws {
            try system.makeDirectory("/d")
            try system.syncDirectory("/")
            guard commits > 0 else { return }
            let made = try Journal.create(at: Self.path, options: Self.options(system))
            try fill(made, &model, &workload, count: commits)
            made.close()
        }

        static let path = "/d/j"

        static func options(_ system: MemoryFileSystem, seed: UInt64 = 1) -> JournalOptions {
            .test(system, segmentSize: 8 << 10, seed: seed)
        }
    }

    /// What a run got through before or despite the failures.
    private struct Outcome {
        var acknowledged: [Commit] = []
        var unknown = 0
        var errors: [JournalError] = []
        var problems: [String] = []
        /// Whether segments may have been merged, so that older versions may be gone.
        var merges = false

        @discardableResult
        mutating func attempt<Value>(_ body: () throws(JournalError) -> Value) -> Value? {
            do throws(JournalError) {
                return try body()
            } catch {
                errors.append(error)
                return nil
            }
        }

        /// What was acknowledged by a handle is what it shows, whatever failed since.
        mutating func look(at journal: Journal) {
            guard let last = acknowledged.last?.info.number, let head = try? journal.head().commit else {
                return
            }
            if head < last { problems.append("the handle shows commit \(head) as the last one, not \(last)") }
        }

        mutating func apply(_ journal: Journal, _ planned: [PlannedEntry]) {
            if let commit = attempt({ () throws(JournalError) in try journal.apply(planned) }) {
                acknowledged.append(commit)
            } else if case .durabilityUnknown = errors.last {
                unknown += 1
            }
        }
    }

    private typealias Operation = @Sendable (MemoryFileSystem, FailureLoop.Failure) -> Outcome

    private func loop(_ start: Start, _ operation: @escaping Operation) async -> FailureLoop.Report {
        let all = everyByte
        return await onOwnThread {
            FailureLoop(everything: all).run(from: start.system, operation) { outcome, machine, failure in
                check(outcome, machine, failure, start)
            }
        }
    }

    private func expect(
        _ report: FailureLoop.Report, calls: Int, _ location: SourceLocation = #_sourceLocation
    ) {
        if everyByte { print("\(report.calls) calls, \(report.runs) runs: line \(location.line)") }
        #expect(report.calls >= calls, sourceLocation: location)
        for problem in report.problems { Issue.record("\(problem)", sourceLocation: location) }
    }

    // MARK: - What is run

    @Test func `any call fails while a journal is made`() async throws {
        let start = try Start(commits: 0)
        let report = await loop(start) { files, failure in
            var outcome = Outcome()
            failure.arm()
            let journal = outcome.attempt { () throws(JournalError) in
                try Journal.create(at: Start.path, options: Start.options(files))
            }
            if let journal { outcome.apply(journal, [put("first", "1")]) }
            failure.disarm()
            if journal == nil {
                // Made now, unless it was there already when the failure came.
                var later = Outcome()
                let made = later.attempt { () throws(JournalError) in
                    try Journal.create(at: Start.path, options: Start.options(files, seed: 2))
                }
                if made == nil, later.errors != [.alreadyExists(path: Start.path)] {
                    outcome.problems.append("it cannot be made again: \(later.errors)")
                }
            }
            return outcome
        }
        expect(report, calls: 20)
    }

    @Test(arguments: [JournalMode.shared, .exclusive])
    func `any call fails while a journal is opened`(mode: JournalMode) async throws {
        let start = try Start(commits: 16)
        let report = await loop(start) { files, failure in
            var outcome = Outcome()
            failure.arm()
            outcome.attempt { () throws(JournalError) in
                try Journal.open(at: Start.path, mode: mode, options: Start.options(files, seed: 2)).close()
            }
            return outcome
        }
        expect(report, calls: 10)
    }

    @Test(arguments: 0..<3)
    func `any call fails while a torn or unsynced end is brought in order`(kind: Int) async throws {
        let start = try Self.killed(kind)
        let report = await loop(start) { files, failure in
            var outcome = Outcome()
            failure.arm()
            let journal = outcome.attempt { () throws(JournalError) in
                try Journal.open(at: Start.path, options: Start.options(files, seed: 2))
            }
            if let journal { outcome.apply(journal, [put("more", "1")]) }
            return outcome
        }
        expect(report, calls: 25)
    }

    /// A journal whose writer was killed: 0 inside a write, 1 before a sync, 2 between sealing and publishing.
    private static func killed(_ kind: Int) throws -> Start {
        var start = try Start(commits: 12)
        let ends = Monitor((isArmed: false, seals: 0))
        let files = start.system.process { call in
            ends.withLock { ends in
                guard ends.isArmed else { return .goesOn }
                switch (kind, call.kind) {
                case (0, .write) where call.path.hasSuffix(".lz4"): return .killed(bytesBefore: 900)
                case (1, .syncData): return .killed()
                case (2, .rename): return .killed()
                default: return .goesOn
                }
            }
        }
        let journal = try Journal.open(at: Start.path, options: Start.options(files, seed: 3))
        ends.withLock { $0.isArmed = true }
        while files.process?.isAlive == true {
            let planned = start.workload.next() + [put("long", String(repeating: "z", count: 2000))]
            do { start.model.commits.append(try journal.apply(planned)) } catch { break }
        }
        // The commit that was being written may be whole.
        start.unknown = 1
        return start
    }

    @Test(arguments: [JournalMode.shared, .exclusive])
    func `any call fails during commits, some of which roll`(mode: JournalMode) async throws {
        let start = try Start()
        let report = await loop(start) { files, failure in
            var workload = start.workload
            var outcome = Outcome()
            guard
                let journal = try? Journal.open(
                    at: Start.path, mode: mode, options: Start.options(files, seed: 2))
            else {
                outcome.problems.append("open")
                return outcome
            }
            failure.arm()
            for _ in 0..<8 {
                outcome.apply(journal, workload.next())
                outcome.look(at: journal)
            }
            failure.disarm()
            // The handle goes on, unless nobody knows what its last sync did.
            if outcome.unknown == 0 {
                let before = outcome.errors.count
                for _ in 0..<2 { outcome.apply(journal, workload.next()) }
                if outcome.errors.count > before {
                    outcome.problems.append("the handle does not go on: \(outcome.errors[before...])")
                }
            }
            return outcome
        }
        expect(report, calls: mode == .shared ? 60 : 40)
    }

    @Test func `any call fails while relaxed commits are made durable`() async throws {
        let start = try Start()
        let report = await loop(start) { files, failure in
            var outcome = Outcome()
            guard
                let journal = try? Journal.open(
                    at: Start.path, mode: .exclusive, options: Start.options(files, seed: 2))
            else {
                outcome.problems.append("open")
                return outcome
            }
            failure.arm()
            for number in 0..<3 {
                outcome.attempt { () throws(JournalError) in
                    _ = try journal.commitRelaxed { transaction throws(JournalError) in
                        try transaction.put(recordKey("relaxed-\(number)"), value: textValue("x"))
                    }
                }
                outcome.unknown += 1
            }
            outcome.attempt { () throws(JournalError) in try journal.sync() }
            outcome.apply(journal, [put("durable", "1")])
            journal.close()
            return outcome
        }
        expect(report, calls: 8)
    }

    @Test func `any call fails in a program that goes on after errors and opens again`() async throws {
        let start = try Start()
        let report = await loop(start) { files, failure in
            var workload = start.workload
            var outcome = Outcome()
            failure.arm()
            for session in 0..<2 as Range<UInt64> {
                let journal = outcome.attempt { () throws(JournalError) in
                    try Journal.open(at: Start.path, options: Start.options(files, seed: 80 + session))
                }
                for _ in 0..<5 {
                    let planned = workload.next()
                    if let journal { outcome.apply(journal, planned) }
                }
                journal?.close()
            }
            return outcome
        }
        expect(report, calls: 80)
    }

    @Test(arguments: [false, true], [JournalMode.shared, .exclusive])
    func `any call fails during a compaction`(forgets: Bool, mode: JournalMode) async throws {
        let start = try Start(commits: 40)
        let report = await loop(start) { files, failure in
            var outcome = Outcome()
            outcome.merges = true
            var options = Start.options(files, seed: 2)
            if forgets { options.retention.tombstones = .zero }
            guard let journal = try? Journal.open(at: Start.path, mode: mode, options: options) else {
                outcome.problems.append("open")
                return outcome
            }
            failure.arm()
            let merged = outcome.attempt { () throws(JournalError) in try journal.compact(everything: true) }
            if let merged, !merged.damages.isEmpty {
                outcome.problems.append("a failed call is called damage: \(merged.damages)")
            }
            failure.disarm()
            outcome.apply(journal, [put("afterwards", "1")])
            return outcome
        }
        expect(report, calls: 60)
    }

    @Test func `any call fails while everything is read`() async throws {
        let start = try Start(commits: 40)
        let merged = try Journal.open(at: Start.path, options: Start.options(start.system, seed: 2))
        _ = try merged.compact()
        merged.close()
        let expected = try Self.dump(start.system)
        let report = await loop(start) { files, failure in
            var outcome = Outcome()
            outcome.merges = true
            failure.arm()
            let seen = outcome.attempt { () throws(JournalError) in try Self.dump(files) }
            if let seen, seen != expected { outcome.problems.append("it read something else") }
            return outcome
        }
        expect(report, calls: 60)
    }

    private struct Dump: Equatable {
        var head: UInt64
        var forward: [Commit]
        var backward: [Commit]
        var last: StoredEntry?
        var cursor: Cursor
        var damages: [Damage] = []
        var isSound: Bool
        var storedBytes: UInt64
    }

    private static func dump(_ files: MemoryFileSystem) throws(JournalError) -> Dump {
        let journal = try Journal.open(at: Start.path, mode: .readOnly, options: Start.options(files))
        defer { journal.close() }
        var damages: [Damage] = []
        let head = try journal.head().commit
        let forward = try journal.commits { damages.append($0) }
        let report = try journal.verify()
        return Dump(
            head: head, forward: forward, backward: try journal.commitsBackward(),
            last: try journal.entry(for: recordKey("name-1")), cursor: try journal.cursor(at: .end(of: head)),
            damages: damages, isSound: report.isSound, storedBytes: try journal.statistics().storedBytes)
    }

    // MARK: - What must be so afterwards

    private func check(
        _ outcome: Outcome, _ machine: MemoryFileSystem, _ failure: FailureLoop.Failure, _ start: Start
    ) -> [String] {
        var problems = outcome.problems
        for error in outcome.errors where !failure.explains(error) {
            problems.append("an error that does not say it: \(error)")
        }
        if !machine.openFiles.isEmpty { problems.append("open files: \(machine.openFiles)") }
        for (name, left) in [("killed", machine.copy()), ("power lost", machine.afterPowerLoss())] {
            do {
                // Half of the short form compacts after a kill, half of it after a loss of power.
                let compacts = everyByte || (failure.number % 2 == 0) == (name == "killed")
                problems += try aftermath(left, outcome, start, compacts).map { "\(name): \($0)" }
            } catch {
                problems.append("\(name): \(error)")
            }
            if !left.openFiles.isEmpty { problems.append("\(name): open files \(left.openFiles)") }
        }
        return problems
    }

    private func aftermath(
        _ left: MemoryFileSystem, _ outcome: Outcome, _ start: Start, _ compacts: Bool
    ) throws -> [String] {
        var problems: [String] = []
        if start.model.commits.isEmpty, outcome.acknowledged.isEmpty, left.segments(of: Start.path).isEmpty {
            return []
        }
        let journal = try Journal.open(at: Start.path, options: Start.options(left, seed: 77))
        defer { journal.close() }
        var model = start.model
        if outcome.merges {
            model.commits += outcome.acknowledged
        } else {
            let found = try journal.commits()
            if !found.starts(with: model.commits) { problems.append("commits from before are not the same") }
            let new = Array(found.dropFirst(model.commits.count))
            // Everything acknowledged is there in order; besides only what may or may not be durable.
            let known = Set(outcome.acknowledged.map(\.info.number))
            if new.filter({ known.contains($0.info.number) }) != outcome.acknowledged {
                problems.append("an acknowledged commit is missing")
            }
            if new.count > outcome.acknowledged.count + outcome.unknown + start.unknown {
                problems.append(
                    "\(new.count - outcome.acknowledged.count) commits that were refused are there")
            }
            model.commits = found
        }
        model.commits.append(try journal.apply([put("after", "x")]))
        if compacts { _ = try journal.compact(everything: true) }
        for key in model.keys.sorted(by: { "\($0)" < "\($1)" }) {
            let (found, expected) = (try journal.entry(for: key), model.entry(for: key))
            let isGone = found == nil && expected?.entry.operation == .delete
            if found?.position != expected?.position, !isGone { problems.append("entry for \(key)") }
        }
        if try !journal.verify().isSound { problems.append("verify: \(try journal.verify())") }
        let drafts = try left.status(Start.path + "/tmp") == nil ? [] : left.list(Start.path + "/tmp")
        if !drafts.isEmpty, compacts { problems.append("in tmp: \(drafts)") }
        return problems
    }
}
