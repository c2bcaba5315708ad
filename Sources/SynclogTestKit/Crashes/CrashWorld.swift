internal import SynclogJournal
internal import SynclogReplication

/// What the processes of one crash test have in common: their paths, settings and clock.
struct CrashWorld: Sendable {
    static let path = "/j"
    static let followerPath = "/f"
    /// A file in the journal's directory that is not the journal's.
    static let strayName = "notes.txt"
    static let stray = Array("not the journal's".utf8)
    static let holder = Array("follower".utf8)
    /// Zones that no commit makes, so that none deletes them.
    static let zones: [UInt64] = [1_000_001, 1_000_002]
    static let day: Int64 = 86_400_000_000

    var bug: PlantedBug?
    var exclusive: Bool
    /// Whether programs go on with their journal after an error; the others open it again.
    var goesOn: Bool
    var clock: ManualClock

    /// The options of one opening.
    func options(
        _ files: any FileSystem, seed: UInt64, pause: @escaping @Sendable (UInt32) -> Void = { _ in }
    ) -> JournalOptions {
        let generator = SharedGenerator(seed: seed)
        let clock = clock
        var options = JournalOptions()
        options.segmentSize = 6656
        options.blockSize = 1024
        options.checkpointInterval = 1024
        options.zeroFillSize = 1024
        options.ballastFrom = 4096
        options.fileSystem = files
        options.wallClock = { clock.read() }
        options.random = { generator.next() }
        options.pause = pause
        options.compacts = !exclusive
        bug?.plant(in: &options)
        return options
    }

    var mode: JournalMode { exclusive ? .exclusive : .shared }
}

/// Does the steps of one process, and tells the oracle what came of them.
final class ScriptRunner {
    private let world: CrashWorld
    private let oracle: Monitor<CrashOracle>
    private let start: () -> MemoryFileSystem
    private let pause: @Sendable (UInt32) -> Void
    private let faults: Monitor<CallFaults>
    private var generator: SeededGenerator
    private(set) var files: MemoryFileSystem
    private var journal: Journal?

    /// `start` makes the process's view of the machine, again after it was killed.
    init(
        world: CrashWorld, oracle: Monitor<CrashOracle>, faults: Monitor<CallFaults>, seed: UInt64,
        pause: @escaping @Sendable (UInt32) -> Void = { _ in }, start: @escaping () -> MemoryFileSystem
    ) {
        self.world = world
        self.oracle = oracle
        self.faults = faults
        self.pause = pause
        self.start = start
        generator = SeededGenerator(seed: seed)
        files = start()
    }

    private var isAlive: Bool { files.process?.isAlive ?? true }

    private func options() -> JournalOptions { world.options(files, seed: generator.next(), pause: pause) }

    /// Makes the journal, or opens it where it is there already.
    func makeJournal() {
        do throws(JournalError) {
            journal = try Journal.create(at: CrashWorld.path, mode: world.mode, options: options())
            if isAlive { oracle.withLock { $0.isMade = true } }
        } catch {
            journal = nil
        }
    }

    /// Does one step; what fails is left undone, as a program would.
    func perform(_ step: CrashScript.Step) {
        if !isAlive { restart() }
        do {
            try act(step)
        } catch {
            // After a sync that failed everybody has to open anew.
            let isUnknown = if case .durabilityUnknown? = error as? JournalError { true } else { false }
            if isUnknown || !world.goesOn { close() }
        }
        if !isAlive { restart() }
    }

    private func close() {
        journal?.close()
        journal = nil
    }

    private func restart() {
        journal = nil
        if world.exclusive { oracle.withLock { $0.relaxedIsOpen() } }
        faults.withLock { $0 = CallFaults() }
        files = start()
    }

    /// Closes what is open.
    func finish() {
        journal?.close()
        if isAlive, journal != nil, world.exclusive { oracle.withLock { $0.relaxedIsOpen() } }
        journal = nil
    }

    private func opened() throws -> Journal {
        if let journal { return journal }
        if world.exclusive { oracle.withLock { $0.relaxedIsOpen() } }
        let made = try Journal.open(at: CrashWorld.path, mode: world.mode, options: options())
        journal = made
        return made
    }

    private func act(_ step: CrashScript.Step) throws {
        switch step {
        case .put(let count): try commit(puts(count))
        case .delete(let count):
            try commit(keys(count).map { Plan(operation: .delete, key: $0, value: [0x80]) })
        case .group(let count): try group(count)
        case .relaxed(let count): try relaxed(count)
        case .sync:
            try opened().sync()
            if isAlive { oracle.withLock { $0.relaxedIsDurable() } }
        case .compact: _ = try opened().compact()
        case .compactAll: _ = try opened().compact(everything: true)
        case .makeZone: try makeZone()
        case .dropZone:
            let name = below(3)
            try commit([Plan(operation: .delete, key: Self.zone(name), value: [0x80])])
        case .age(let days): world.clock.set(world.clock.read() + Int64(days) * CrashWorld.day)
        case .lease(let days): try lease(days)
        case .follow: try follow()
        case .promote: try promote()
        case .reopen:
            finish()
            _ = try opened()
        case .read:
            let reading = try Journal.open(at: CrashWorld.path, mode: .readOnly, options: options())
            var reader = try reading.read()
            while try reader.next() != nil {}
            reading.close()
        case .fail(let call, let code, let after):
            faults.withLock { $0.failing.append(CallFaults.Failing(call: call, code: code, after: after)) }
        case .kill(let after): faults.withLock { $0.killAfter = after }
        }
    }

    // MARK: - Commits

    private struct Plan: Sendable {
        var operation: Entry.Operation
        var key: EntryKey
        var value: [UInt8]
    }

    private func below(_ bound: Int) -> Int { Int(generator.next() % UInt64(bound)) }

    private func keys(_ count: Int) -> [EntryKey] {
        var names: [Int] = []
        while names.count < min(count, 12) {
            let name = below(12)
            if !names.contains(name) { names.append(name) }
        }
        return names.map {
            EntryKey(space: .record, zone: CrashWorld.zones[$0 % 4 / 3], name: Array("k\($0)".utf8))
        }
    }

    private static func zone(_ number: Int) -> EntryKey {
        EntryKey(space: .zone, name: Array("z\(number)".utf8))
    }

    /// A value of random bytes, which do not compress.
    private func value() -> [UInt8] {
        let size = below(8) == 0 ? 1200 + below(1200) : 20 + below(300)
        return [0x59, UInt8(size >> 8), UInt8(size & 0xFF)] + generator.bytes(size)
    }

    private func puts(_ count: Int) -> [Plan] {
        keys(count).map { Plan(operation: .put, key: $0, value: value()) }
    }

    private typealias Decision = @Sendable (inout CommitTransaction) throws(JournalError) -> Int

    private func decision(_ plans: [Plan]) -> Decision {
        let oracle = oracle
        return { transaction throws(JournalError) in
            var entries: [Entry] = []
            for plan in plans {
                let first = try transaction.entry(for: plan.key)?.entry.firstSeen ?? transaction.number
                let index =
                    plan.operation == .put
                    ? try transaction.put(plan.key, value: plan.value, firstSeen: first)
                    : try transaction.delete(plan.key, value: plan.value, firstSeen: first)
                entries.append(
                    Entry(
                        operation: plan.operation, index: index, key: plan.key, firstSeen: first,
                        value: plan.value))
            }
            let commit = CrashOracle.Issued(
                number: transaction.number, previous: transaction.previous, entries: entries)
            return oracle.withLock { $0.issue(commit) }
        }
    }

    private func acknowledge(_ committed: Committed<Int>) {
        guard isAlive, let info = committed.commit else { return }
        oracle.withLock { oracle in
            oracle.acknowledge(info.number, committed.result)
            if world.exclusive { oracle.relaxedIsDurable() }
        }
    }

    private func commit(_ plans: [Plan]) throws {
        acknowledge(try opened().commit(decision(plans)))
    }

    private func group(_ count: Int) throws {
        let outcomes = try opened().commitTogether((0..<count).map { _ in decision(puts(1 + below(3))) })
        for outcome in outcomes { if case .success(let committed) = outcome { acknowledge(committed) } }
        for outcome in outcomes { _ = try outcome.get() }
    }

    private func relaxed(_ count: Int) throws {
        for _ in 0..<count {
            let made = try opened().commitRelaxed(decision(puts(1 + below(2))))
            guard isAlive, let number = made.commit?.number else { continue }
            oracle.withLock { $0.acknowledgeRelaxed(number, made.result) }
        }
    }

    private func makeZone() throws {
        let key = Self.zone(below(3))
        try commit([Plan(operation: .put, key: key, value: value())])
        guard let made = try opened().entry(for: key), made.entry.operation == .put else { return }
        let record = EntryKey(space: .record, zone: made.commit.number, name: Array("in-zone".utf8))
        try commit([Plan(operation: .put, key: record, value: value())])
    }

    // MARK: - Followers

    private func lease(_ days: Int) throws {
        let source = try opened()
        guard let files = options().fileSystem as (any FileSystem)?,
            try files.status(CrashWorld.followerPath) != nil
        else { return }
        let copy = try Journal.open(at: CrashWorld.followerPath, mode: .readOnly, options: options())
        let commit = try copy.head().commit
        copy.close()
        let committed = try source.commit { transaction throws(JournalError) -> Int64 in
            let until = transaction.clock + Int64(days) * CrashWorld.day
            try transaction.put(
                Lease.key(CrashWorld.holder), value: Lease(kind: .replica, commit: commit, until: until).value
            )
            return until
        }
        guard isAlive, let number = committed.commit?.number else { return }
        let promise = CrashOracle.Promise(made: number, commit: commit, until: committed.result)
        oracle.withLock { $0.promise(promise) }
    }

    private func follow() throws {
        if oracle.withLock({ $0.promoting }) { return }
        try Self.runFollower(options(), reading: options())
        if isAlive { oracle.withLock { $0.hasFollowed = true } }
    }

    /// Runs the follower to the source's head.
    static func runFollower(_ options: JournalOptions, reading: JournalOptions) throws {
        var following = Follower.Options()
        following.journal = options
        let source = try DirectorySource(path: CrashWorld.path, options: reading)
        _ = try Follower(at: CrashWorld.followerPath, source: source, options: following).run()
    }

    private func promote() throws {
        guard oracle.withLock({ $0.hasFollowed }) else { return }
        oracle.withLock { $0.promoting = true }
        try Journal.promote(at: CrashWorld.followerPath, options: options())
        if isAlive { oracle.withLock { $0.promoted = true } }
    }
}

/// Which calls of a process fail, and when it dies.
struct CallFaults: Sendable {
    struct Failing: Sendable {
        var call: MemoryFileSystem.Call
        var code: Int32
        var after: Int
    }

    var failing: [Failing] = []
    var killAfter: Int?

    /// What becomes of a call.
    mutating func fate(_ call: SimulatedProcess.Call) -> SimulatedProcess.Fate {
        if let left = killAfter {
            if left == 0 {
                killAfter = nil
                return .killed(bytesBefore: call.number * 7 % 900)
            }
            killAfter = left - 1
        }
        guard let place = failing.firstIndex(where: { $0.call == call.kind }) else { return .goesOn }
        if failing[place].after > 0 {
            failing[place].after -= 1
            return .goesOn
        }
        let code = failing.remove(at: place).code
        return .fails(code: code, bytesBefore: call.number * 13 % 900)
    }
}
