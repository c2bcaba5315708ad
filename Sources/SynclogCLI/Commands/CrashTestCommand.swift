import SynclogJournal
import SynclogTestKit

extension Command {
    /// The command `synclog crashtest`.
    static let crashtest = Command(
        name: "crashtest",
        summary: "crash the journal at every call on a simulated machine",
        details: [
            "Runs scripts of commits, merges, followers and failing calls on a machine in memory. At every call that "
                + "changes a file it kills all processes or takes the power, with any part of what was not synced "
                + "lost, opens what is left, and compares it with what was acknowledged. Nothing outside memory is "
                + "touched. The same seed gives the same run; each run has a seed one higher than the one before.",
            "A script has a step on each line: put N, delete N, group N, relaxed N, sync, compact, compact-all, "
                + "make-zone, drop-zone, age DAYS, lease DAYS, follow, promote, reopen, read, fail CALL ERRNO AFTER, "
                + "kill AFTER. 'processes N' and 'exclusive' stand at its top; '@2 put 1' is a step of process 2.",
            "The status is 4 if a crash left what must not be, or if --self-test missed a bug.",
        ],
        options: [
            Option("seed", nil, .required("N"), help: "the first seed (1)"),
            Option(
                "runs", nil, .required("N"), help: "how many runs (12); with --self-test for each bug (2000)"),
            Option("minutes", nil, .required("N"), help: "go on for so long instead"),
            Option("script", nil, .required("FILE"), help: "run this script instead of the seeds' own"),
            Option("json", help: "one JSON object"),
            Option(
                "keep", nil, .required("DIR"), help: "write the files that a failure left to a new directory"),
            Option("self-test", help: "plant known bugs and find every one"),
            Option("bug", nil, .required("NAME"), help: "plant one known bug"),
        ],
        examples: [
            "synclog crashtest --runs 100", "synclog crashtest --seed 42 --json",
            "synclog crashtest --self-test",
        ],
        run: { invocation throws(CommandFailure) in
            try CrashTestRun(invocation).run()
        })
}

/// One use of `synclog crashtest`.
private struct CrashTestRun {
    private let invocation: Invocation
    private let seed: UInt64
    private let runs: UInt64?
    private let minutes: Double?
    private let script: CrashScript?
    private let bug: PlantedBug?

    init(_ invocation: Invocation) throws(CommandFailure) {
        self.invocation = invocation
        _ = try invocation.operands(0...0)
        seed = try Self.number(invocation, "seed", 0...(.max / 2)) ?? 1
        runs = try Self.number(invocation, "runs", 1...1_000_000_000)
        minutes = try invocation.arguments.value("minutes").map { text throws(CommandFailure) in
            guard let number = DoubleText.value(text), number > 0, number <= 100_000 else {
                throw CommandFailure.usage("--minutes: not a number of minutes", next: invocation.usageStep)
            }
            return number
        }
        script = try invocation.arguments.value("script").map { path throws(CommandFailure) in
            let bytes = try InputReader(path).rest()
            do throws(CrashScript.SyntaxError) {
                return try CrashScript(name: path, text: String(decoding: bytes, as: UTF8.self))
            } catch {
                throw CommandFailure.usage(
                    "'\(shown(path))': line \(error.line) is no step, or not one that can stand there",
                    next: invocation.usageStep)
            }
        }
        bug = try invocation.arguments.value("bug").map { name throws(CommandFailure) in
            guard let bug = PlantedBug.allCases.first(where: { sameBytes($0.rawValue, name) }) else {
                let names = PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure.usage("--bug: no bug '\(shown(name))'", next: "one of \(names)")
            }
            return bug
        }
    }

    private static func number(
        _ invocation: Invocation, _ option: String, _ range: ClosedRange<UInt64>
    ) throws(CommandFailure) -> UInt64? {
        guard let text = invocation.arguments.value(option) else { return nil }
        guard let number = UInt64(text), range.contains(number) else {
            throw .usage(
                "--\(option): not a number from \(range.lowerBound) to \(range.upperBound)",
                next: invocation.usageStep)
        }
        return number
    }

    private var console: Console { invocation.console }
    private var isJSON: Bool { invocation.arguments.has("json") }

    func run() throws(CommandFailure) {
        if invocation.arguments.has("self-test") { try selfTest() } else { try test() }
    }

    private func test() throws(CommandFailure) {
        let clock = ContinuousClock()
        let deadline = minutes.map { clock.now + .milliseconds(Int64($0 * 60_000)) }
        var total = CrashTest.Report()
        var done: UInt64 = 0
        while deadline.map({ clock.now < $0 }) ?? (done < runs ?? 12) {
            let report = CrashTest(seed: seed &+ done, script: script, bug: bug).run()
            done += 1
            total.calls += report.calls
            total.states += report.states
            total.sharedStates += report.sharedStates
            total.failure = report.failure
            if report.failure != nil { break }
            console.progress("crashtest: \(done) runs, \(total.states) crash states")
        }
        console.clearProgress()
        if isJSON {
            try console.line(JSONWriter.text(json(total, runs: done)))
        } else {
            let state = total.failure == nil ? "clean" : "FAILED"
            try console.line(
                "\(state): \(done) runs from seed \(seed), \(total.calls) calls, \(total.states) crash states, "
                    + "\(total.sharedStates) with several processes")
        }
        guard let failure = total.failure else { return }
        try keep(failure)
        if !isJSON {
            try console.line("seed \(failure.seed), state \(failure.state): \(failure.place)")
            try console.line("  \(failure.reason)")
            for line in failure.script.description.split(separator: "\n") { try console.line("    \(line)") }
            try console.line("replay: \(replay(failure))")
        }
        throw CommandFailure(
            .damage, "seed \(failure.seed): \(failure.reason)", next: "replay it by '\(replay(failure))'")
    }

    private func replay(_ failure: CrashTest.Failure, bug: PlantedBug? = nil) -> String {
        var line = "synclog crashtest --seed \(failure.seed) --runs 1"
        if let path = invocation.arguments.value("script") { line += " --script \(path)" }
        if let bug = bug ?? self.bug { line += " --bug \(bug.rawValue)" }
        return line
    }

    private func keep(_ failure: CrashTest.Failure) throws(CommandFailure) {
        guard let directory = invocation.arguments.value("keep") else { return }
        do throws(FileError) {
            try failure.image.write("/", to: directory)
        } catch {
            throw CommandFailure(JournalError.file(error))
        }
        console.notice("synclog: wrote the files to '\(shown(directory))', the journal is 'j' in it")
    }

    private func json(_ report: CrashTest.Report, runs: UInt64) -> JSONValue {
        .members([
            ("seed", .number(String(seed))), ("runs", .number(String(runs))),
            ("calls", .number(String(report.calls))), ("states", .number(String(report.states))),
            ("sharedStates", .number(String(report.sharedStates))),
            ("failure", report.failure.map { json($0) } ?? .null),
        ])
    }

    private func json(_ failure: CrashTest.Failure, bug: PlantedBug? = nil) -> JSONValue {
        .members([
            ("seed", .number(String(failure.seed))), ("script", .string(failure.script.description)),
            ("state", .number(String(failure.state))), ("place", .string(failure.place)),
            ("reason", .string(failure.reason)), ("replay", .string(replay(failure, bug: bug))),
        ])
    }

    /// Plants every bug and looks for it, seed by seed.
    private func selfTest() throws(CommandFailure) {
        let limit = runs ?? 2000
        var rows: [JSONValue] = []
        var missed: [String] = []
        for bug in bug.map({ [$0] }) ?? PlantedBug.allCases {
            var found: CrashTest.Report?
            var tried: UInt64 = 0
            while found == nil, tried < limit {
                console.progress("crashtest: \(bug.rawValue), seed \(seed &+ tried)")
                found = bug.search(seed: seed &+ tried)
                tried += 1
            }
            console.clearProgress()
            let failure = found?.failure
            if failure == nil { missed.append(bug.rawValue) }
            rows.append(
                .members([
                    ("bug", .string(bug.rawValue)), ("seeds", .number(String(tried))),
                    ("failure", failure.map { json($0, bug: bug) } ?? .null),
                ]))
            guard !isJSON else { continue }
            try console.line(
                "\(failure == nil ? "MISSED" : "found "): \(bug.rawValue) (\(bug.summary)), \(tried) seeds")
            if let failure {
                try console.line("        \(failure.reason)\n        \(replay(failure, bug: bug))")
            }
            try console.flush()
        }
        if isJSON { try console.line(JSONWriter.text(.members([("bugs", .array(rows))]))) }
        if !missed.isEmpty {
            throw CommandFailure(
                .damage, "not found: \(missed.joined(separator: ", "))", next: "give it more --runs")
        }
    }
}
