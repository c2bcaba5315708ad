public import SynclogJournal

public import protocol SynclogJournal.FileSystem

/// Crashes a program of yours at every call that changes a file, and asks you whether what is left is right.
///
/// The program runs once, on a simulated machine. Before each of its calls that changes a file, and at its end, the machine is
/// copied as crashes of several kinds would leave it, and each copy is given to your check.
public struct CrashSweep: Sendable {
    /// A kind of crash.
    public enum Crash: Hashable, Sendable, CustomStringConvertible {
        /// All processes are killed; the page cache stays.
        case killed
        /// The power goes.
        case powerLoss(PowerLoss)

        /// The kind in words.
        public var description: String {
            switch self {
            case .killed: "all processes killed"
            case .powerLoss(let loss): "power lost, kept \(loss)"
            }
        }
    }

    /// A crash that left what the check refused.
    public struct Failure: Sendable {
        /// The call that the crash came before; nil at the program's end.
        public var call: SimulatedProcess.Call?
        /// How it crashed.
        public var crash: Crash
        /// What the check threw.
        public var reason: String
        /// The files as the crash left them.
        public var image: MemoryFileSystem
    }

    /// What a sweep did.
    public struct Report: Sendable {
        /// The calls that the program made.
        public var calls = 0
        /// The crash states that were checked.
        public var states = 0
        /// The first failure; the sweep ends there.
        public var failure: Failure?
        /// What the program itself threw, if it did.
        public var programError: String?
    }

    /// What all chance comes from.
    public var seed: UInt64
    /// Random losses of power for each call; two of certain outcome and the kill come on top.
    public var lossesPerCall = 4

    /// Makes a sweep.
    public init(seed: UInt64 = 1) { self.seed = seed }

    /// Runs the program on a machine's files, and the check on what each crash leaves of them.
    ///
    /// `check` is called while the program waits inside a call. It throws to say that something is wrong, and may use the
    /// copy in any way: open it, recover, write to it, crash it again.
    /// - Parameters:
    ///   - machine: The files as they are before; they must track durability.
    ///   - program: Uses the files it is given, and nothing else.
    ///   - check: Gets a copy of the files after each crash.
    public func run(
        on machine: MemoryFileSystem = MemoryFileSystem(tracksDurability: true),
        program: (any FileSystem) throws -> Void, check: @escaping @Sendable (MemoryFileSystem) throws -> Void
    ) -> Report {
        let report = Monitor(Report())
        let generator = Monitor(SeededGenerator(seed: seed))
        let losses = lossesPerCall
        @Sendable func look(before call: SimulatedProcess.Call?) {
            let crashes = generator.withLock { machine.crashes(lossesPerCall: losses, &$0) }
            for crash in crashes where report.withLock({ $0.failure == nil }) {
                report.withLock { $0.states += 1 }
                let image = machine.after(crash)
                let kept = image.copy()
                do { try check(image) } catch {
                    let failure = Failure(call: call, crash: crash, reason: "\(error)", image: kept)
                    report.withLock { $0.failure = failure }
                }
            }
        }
        let files = machine.process { call in
            if call.changes { look(before: call) }
            report.withLock { $0.calls += 1 }
            return report.withLock { $0.failure == nil } ? .goesOn : .killed()
        }
        do { try program(files) } catch {
            report.withLock { if $0.failure == nil { $0.programError = "\(error)" } }
        }
        look(before: nil)
        return report.withLock { $0 }
    }
}

extension MemoryFileSystem {
    /// The kinds of crash worth trying now; only one of each where nothing is unsynced.
    func crashes(lossesPerCall: Int, _ generator: inout SeededGenerator) -> [CrashSweep.Crash] {
        var crashes: [CrashSweep.Crash] = [.killed, .powerLoss(.nothingUnsynced)]
        guard hasUnsynced else { return crashes }
        crashes.append(.powerLoss(.everything))
        for turn in 0..<lossesPerCall {
            let seed = generator.next()
            crashes.append(.powerLoss(turn % 4 == 0 ? .anyCalls(seed: seed) : .anySectors(seed: seed)))
        }
        return crashes
    }

    /// A copy of the files as a crash leaves them.
    public func after(_ crash: CrashSweep.Crash) -> MemoryFileSystem {
        switch crash {
        case .killed: copy()
        case .powerLoss(let loss): afterPowerLoss(loss)
        }
    }
}
