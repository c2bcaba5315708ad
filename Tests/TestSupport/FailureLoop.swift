import Glibc
public import SynclogJournal
public import SynclogTestKit

/// The Nth call of an operation fails, for N = 0, 1, … until no call is left to fail.
///
/// Every call counts, reads and looks at names too.
public struct FailureLoop: Sendable {
    /// The ways a call can fail that every loop goes through.
    public static let codes: [Int32] = [EIO, ENOSPC, EDQUOT, EINTR, EMFILE, EACCES]

    /// Which calls of a process fail, counted from when they are armed.
    public final class Failure: Sendable, CustomStringConvertible {
        /// The number of the first call that fails.
        public let number: Int
        /// The error number.
        public let code: Int32
        /// Whether every call after it fails as well.
        public let lasts: Bool
        private let state = Monitor(State())

        private struct State {
            var isArmed = false
            var seen = 0
            var first: SimulatedProcess.Call?
        }

        init(number: Int, code: Int32, lasts: Bool) {
            self.number = number
            self.code = code
            self.lasts = lasts
        }

        /// Counts calls from now on.
        public func arm() { state.withLock { $0.isArmed = true } }

        /// No call fails from now on.
        public func disarm() { state.withLock { $0.isArmed = false } }

        /// The call that failed first, or nil if none did.
        public var first: SimulatedProcess.Call? { state.withLock { $0.first } }

        func fate(_ call: SimulatedProcess.Call) -> SimulatedProcess.Fate {
            state.withLock { state in
                guard state.isArmed else { return .goesOn }
                state.seen += 1
                let turn = state.seen - 1
                guard turn == number || lasts && turn > number else { return .goesOn }
                if state.first == nil { state.first = call }
                return .fails(code: code, bytesBefore: 33)
            }
        }

        /// Whether an error is one that says what happened: the failed call, or what its number means.
        public func explains(_ error: JournalError) -> Bool {
            switch error {
            case .file(let failed), .durabilityUnknown(let failed): failed.code == code
            case .readOnly: code == EACCES
            default: false
            }
        }

        /// The failure in words.
        public var description: String {
            let call = first.map { "\($0.kind) of \($0.path)" } ?? "no call"
            return "call \(number) (\(call)) fails with \(code)\(lasts ? " and all later ones" : "")"
        }
    }

    /// What a loop ran and found.
    public struct Report: Sendable {
        /// The number of calls that the operation makes when nothing fails.
        public var calls = 0
        /// The number of runs in which something failed.
        public var runs = 0
        /// What was wrong, with the failure it came from.
        public var problems: [String] = []
    }

    private let everything: Bool

    /// Makes a loop; without `everything` the error numbers take turns, and so do one failure and lasting ones: one run a call.
    public init(everything: Bool) { self.everything = everything }

    /// Runs an operation on copies of a machine, and checks what each run leaves.
    ///
    /// - Parameters:
    ///   - start: What every run begins with.
    ///   - operation: Arms the failure and does what is tested, through the files of a process.
    ///   - check: Looks at the machine afterwards, in which nothing fails any more, and tells what is wrong.
    public func run<Outcome>(
        from start: MemoryFileSystem, _ operation: (MemoryFileSystem, Failure) -> Outcome,
        check: (Outcome, MemoryFileSystem, Failure) -> [String]
    ) -> Report {
        var report = Report()
        while true {
            var hits = 0
            let kinds = Self.codes.count * 2
            for kind in 0..<kinds where everything || report.calls % kinds == kind {
                let failure = Failure(
                    number: report.calls, code: Self.codes[kind / 2], lasts: kind % 2 == 1)
                let machine = start.copy()
                let outcome = operation(machine.process { failure.fate($0) }, failure)
                hits += failure.first == nil ? 0 : 1
                report.problems += check(outcome, machine, failure).map { "\(failure): \($0)" }
                if report.problems.count > 20 { return report }
            }
            if hits == 0 { return report }
            report.runs += hits
            report.calls += 1
        }
    }
}
