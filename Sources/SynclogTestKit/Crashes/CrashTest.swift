internal import SynclogJournal

/// Tests the journal's own recovery: scripts of operations, and a crash at every call that changes a file.
///
/// After each crash the journal is opened, compared with what was issued and acknowledged, verified and written to; some crashes
/// are followed by others while the journal recovers. The same seed gives the same run, byte for byte.
public struct CrashTest: Sendable {
    /// A crash that left what must not be.
    public struct Failure: Sendable {
        /// The seed of the run.
        public var seed: UInt64
        /// The script of the run.
        public var script: CrashScript
        /// The number of the state in the run.
        public var state: Int
        /// What was about to happen, and how it crashed.
        public var place: String
        /// What is wrong.
        public var reason: String
        /// The files as the crash left them.
        public var image: MemoryFileSystem
    }

    /// What a run did.
    public struct Report: Sendable {
        /// Calls that were made by the script's processes.
        public var calls = 0
        /// Crash states that were opened and checked.
        public var states = 0
        /// Those of them with two or three processes.
        public var sharedStates = 0
        /// The first failure, if there is one; the run ends there.
        public var failure: Failure?

        /// Makes an empty report.
        public init() {}
    }

    /// The seed of the run.
    public var seed: UInt64
    /// What the processes do.
    public var script: CrashScript
    /// A bug to plant.
    public var bug: PlantedBug?
    /// Random losses of power for each call; two of certain outcome and the kill come on top.
    public var lossesPerCall = 4

    /// Makes a test of a seed's own script.
    public init(seed: UInt64, script: CrashScript? = nil, bug: PlantedBug? = nil) {
        self.seed = seed
        self.script = script ?? .random(seed: seed)
        self.bug = bug
    }

    /// Runs the script once, with a crash at every change.
    public func run() -> Report {
        let sweep = SweepState(self)
        sweep.run()
        return sweep.report.withLock { $0 }
    }
}

/// One run of a ``CrashTest``.
final class SweepState: Sendable {
    let report = Monitor(CrashTest.Report())
    private let test: CrashTest
    private let world: CrashWorld
    private let machine = MemoryFileSystem(tracksDurability: true)
    private let oracle = Monitor(CrashOracle())
    private let generator: Monitor<SeededGenerator>
    private let scheduler: ProcessScheduler

    init(_ test: CrashTest) {
        self.test = test
        world = CrashWorld(
            bug: test.bug, exclusive: test.script.exclusive, goesOn: test.seed % 2 == 0, clock: ManualClock())
        generator = Monitor(SeededGenerator(seed: test.seed &* 31 &+ 7))
        scheduler = ProcessScheduler(count: test.script.processes, seed: test.seed &* 17 &+ 3)
    }

    func run() {
        let faults = (0..<test.script.processes).map { _ in Monitor(CallFaults()) }
        let first = runner(0, faults[0])
        first.makeJournal()
        guard oracle.withLock({ $0.isMade }) else { return }
        try? machine.setContents(CrashWorld.path + "/" + CrashWorld.strayName, CrashWorld.stray)
        first.finish()
        scheduler.run(
            faults.enumerated().map { place, faults in
                { [self] in
                    let runner = runner(place, faults)
                    for line in test.script.lines where line.process == place + 1 {
                        if report.withLock({ $0.failure != nil }) { break }
                        runner.perform(line.step)
                    }
                    runner.finish()
                }
            })
        if report.withLock({ $0.failure == nil }) { look(at: "the end") }
    }

    private func runner(_ place: Int, _ faults: Monitor<CallFaults>) -> ScriptRunner {
        ScriptRunner(
            world: world, oracle: oracle, faults: faults, seed: test.seed &* 1009 &+ UInt64(place),
            pause: { [scheduler] _ in scheduler.rest(place) },
            start: { [self] in
                machine.process { [self] call in
                    let isShared = oracle.withLock { $0.isMade }
                    if isShared { scheduler.atCall(of: place) }
                    if report.withLock({ $0.failure != nil }) { return .killed() }
                    if isShared, call.changes { look(at: "\(call.kind) \(call.path), process \(place + 1)") }
                    report.withLock { $0.calls += 1 }
                    return faults.withLock { $0.fate(call) }
                }
            })
    }

    /// Checks what crashes of all kinds would leave now.
    private func look(at place: String) {
        var generator = generator.withLock { $0 }
        defer { self.generator.withLock { [generator] in $0 = generator } }
        let crashes = machine.crashes(lossesPerCall: test.lossesPerCall, &generator)
        for crash in crashes {
            guard let failure = check(crash, place, &generator) else { continue }
            report.withLock { if $0.failure == nil { $0.failure = failure } }
            return
        }
    }

    private func check(_ crash: CrashSweep.Crash, _ place: String, _ generator: inout SeededGenerator)
        -> CrashTest
        .Failure?
    {
        let state = report.withLock { report in
            report.states += 1
            if test.script.processes > 1 { report.sharedStates += 1 }
            return report.states
        }
        var image = machine.after(crash)
        var oracle = oracle.withLock { $0 }
        oracle.relaxedIsOpen()
        var text = "before \(place): \(crash)"
        let clock = world.clock.now
        defer { world.clock.set(clock) }
        // Crashes while the journal recovers and goes on.
        while generator.next() % 3 == 0 {
            let (next, after) = crashAgain(image, oracle, &generator)
            (image, oracle) = next
            text += "; \(after)"
        }
        let left = image.copy()
        do {
            try checkImage(image, oracle, seed: generator.next())
            return nil
        } catch {
            let reason = (error as? CrashFinding)?.reason ?? "after the crash: \(error)"
            return CrashTest.Failure(
                seed: test.seed, script: test.script, state: state, place: text, reason: reason, image: left)
        }
    }

    /// Opens and writes until a crash at some call.
    private func crashAgain(
        _ image: MemoryFileSystem, _ oracle: CrashOracle, _ generator: inout SeededGenerator
    ) -> ((MemoryFileSystem, CrashOracle), String) {
        let last = Int(generator.next() % 70)
        let bytes = Int(generator.next() % 600)
        let shared = Monitor(oracle)
        let runner = ScriptRunner(
            world: world, oracle: shared, faults: Monitor(CallFaults()), seed: generator.next(),
            start: { image.process { call in call.number >= last ? .killed(bytesBefore: bytes) : .goesOn } })
        let first = runner.files
        for step in [.put(1), .group(2), .reopen, .put(2)] as [CrashScript.Step]
        where first.process?.isAlive == true {
            runner.perform(step)
        }
        let seed = generator.next()
        let crash: CrashSweep.Crash =
            switch generator.next() % 4 {
            case 0: .killed
            case 1: .powerLoss(.nothingUnsynced)
            case 2: .powerLoss(.anyCalls(seed: seed))
            default: .powerLoss(.anySectors(seed: seed))
            }
        var after = shared.withLock { $0 }
        after.relaxedIsOpen()
        return ((image.after(crash), after), "again \(last) calls later: \(crash)")
    }

    /// Opens what a crash left, compares it, writes to it, and compares that after another loss of power.
    private func checkImage(_ image: MemoryFileSystem, _ oracle: CrashOracle, seed: UInt64) throws {
        let seen = max(
            oracle.highestTold, HeaderSearch.highestCommit(in: image.image(of: CrashWorld.path)))
        let options = world.options(image, seed: seed)
        let journal = try Journal.open(at: CrashWorld.path, mode: world.mode, options: options)
        try oracle.check(journal)
        guard image.contents(CrashWorld.path + "/" + CrashWorld.strayName) == CrashWorld.stray else {
            throw CrashFinding(reason: "a foreign file in the directory is gone or changed")
        }
        let key = EntryKey(space: .record, zone: CrashWorld.zones[0], name: Array("after".utf8))
        var later = oracle
        for turn in 0..<2 {
            let value: [UInt8] = [0x18, UInt8(turn)]
            let made = try journal.commit { transaction throws(JournalError) -> CrashOracle.Issued in
                let first = try transaction.entry(for: key)?.entry.firstSeen ?? transaction.number
                let index = try transaction.put(key, value: value, firstSeen: first)
                return CrashOracle.Issued(
                    number: transaction.number, previous: transaction.previous,
                    entries: [Entry(operation: .put, index: index, key: key, firstSeen: first, value: value)])
            }
            if made.result.number <= seen {
                throw CrashFinding(reason: "number \(made.result.number) is given again; \(seen) was seen")
            }
            later.acknowledge(made.result.number, later.issue(made.result))
        }
        if oracle.promoted { try checkPromoted(image, seed: seed) }
        if oracle.hasFollowed, !oracle.promoting {
            try ScriptRunner.runFollower(world.options(image, seed: seed &+ 1), reading: options)
            let copy = try Journal.open(at: CrashWorld.followerPath, mode: .readOnly, options: options)
            try oracle.checkCopy(copy, of: journal)
            copy.close()
        }
        journal.close()
        let again = try Journal.open(
            at: CrashWorld.path, mode: world.mode,
            options: world.options(image.afterPowerLoss(), seed: seed &+ 2))
        try later.check(again)
        again.close()
    }

    private func checkPromoted(_ image: MemoryFileSystem, seed: UInt64) throws {
        let promoted = try Journal.open(
            at: CrashWorld.followerPath, mode: .shared, options: world.options(image, seed: seed &+ 3))
        defer { promoted.close() }
        guard !promoted.isFollower else { throw CrashFinding(reason: "a promoted follower follows again") }
        _ = try promoted.commit { transaction throws(JournalError) in
            try transaction.put(EntryKey(space: .state, name: [1]), value: [0x01])
        }
        guard try promoted.verify().isSound else {
            throw CrashFinding(reason: "a promoted follower is damaged")
        }
    }
}
