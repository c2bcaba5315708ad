internal import Glibc
internal import SynclogJournal

/// A process of a simulated machine: its view of the files, and its end.
///
/// Processes share the page cache. One that is killed makes no further change, gives its locks back, and sees every
/// later call fail; its memory, which is that of the test, has to be thrown away by whoever ran it.
public final class SimulatedProcess: Sendable {
    /// A call that a process is about to make.
    public struct Call: Hashable, Sendable {
        /// Which call.
        public var kind: MemoryFileSystem.Call
        /// On which path.
        public var path: String
        /// The number of calls this process made before.
        public var number: Int
        /// The process's number on its machine.
        public var process: Int
        /// Whether the call can change what a crash leaves.
        public var changes: Bool { kind.changes }
    }

    /// What becomes of a call.
    public enum Fate: Hashable, Sendable {
        /// It does what it does.
        case goesOn
        /// The process is killed before it; a write puts so many of its bytes into the page cache before.
        case killed(bytesBefore: Int = 0)
        /// It fails with an error number; a write writes so many of its bytes all the same.
        case fails(code: Int32, bytesBefore: Int = 0)
    }

    /// The process's number on its machine.
    public let number: Int
    private let decide: @Sendable (Call) -> Fate
    private let state = Monitor(State())

    private struct State {
        var calls = 0
        var isAlive = true
    }

    init(number: Int, decide: @escaping @Sendable (Call) -> Fate) {
        self.number = number
        self.decide = decide
    }

    /// Whether the process was not killed.
    public var isAlive: Bool { state.withLock { $0.isAlive } }

    /// The number of calls made so far.
    public var calls: Int { state.withLock { $0.calls } }

    func die() { state.withLock { $0.isAlive = false } }

    /// What becomes of the next call; a dead process makes none.
    func fate(_ kind: MemoryFileSystem.Call, _ path: String) -> Fate {
        let number = state.withLock { state -> Int? in
            guard state.isAlive else { return nil }
            state.calls += 1
            return state.calls - 1
        }
        guard let number else { return .killed() }
        return decide(Call(kind: kind, path: path, number: number, process: self.number))
    }
}

extension MemoryFileSystem.Call {
    /// Whether the call can change what a crash leaves.
    public var changes: Bool {
        switch self {
        case .read, .status, .list, .lock: false
        default: true
        }
    }
}

extension MemoryFileSystem {
    /// Starts a process: a view of the same files whose calls are each decided on before they are made.
    ///
    /// `decide` is called on the thread that makes the call, without any lock held: it may look at the machine, copy
    /// it, check the copy, and wait.
    public func process(
        decidingBy decide: @escaping @Sendable (SimulatedProcess.Call) -> SimulatedProcess.Fate = { _ in
            .goesOn
        }
    ) -> MemoryFileSystem {
        let number = state.withLock { state in
            state.nextProcess += 1
            return state.nextProcess
        }
        return MemoryFileSystem(state, process: SimulatedProcess(number: number, decide: decide))
    }

    /// Kills the process whose view this is: its locks are free, its calls fail from now on.
    public func kill() {
        guard let process else { return }
        process.die()
        state.withLock { state in
            var seen: Set<UInt64> = []
            func release(_ node: Node) {
                guard seen.insert(node.inode).inserted else { return }
                if node.lockOwner?.process == process.number { node.lockOwner = nil }
                for entry in node.entries.values { release(entry) }
                for entry in node.durableEntries.values { release(entry) }
            }
            release(state.root)
            state.openFiles = state.openFiles.filter { $0.value.process != process.number }
        }
    }

    /// A call that does less than it should.
    struct Interruption {
        /// How many bytes of a write go in.
        var bytes: Int
        var error: FileError
        /// Whether the process ends with it.
        var kills: Bool
    }

    /// Asks what becomes of a call, before the machine's lock is taken.
    /// - Returns: For a write that is cut short, how.
    @discardableResult
    func enter(_ call: Call, _ path: String, failing node: MemoryNode? = nil) throws(FileError)
        -> Interruption?
    {
        guard let process else { return nil }
        switch process.fate(call, path) {
        case .goesOn: return nil
        case .killed(let bytes):
            let error = FileError(call: "\(call)", path: path, code: EIO)
            if process.isAlive {
                if call == .write, bytes > 0 { return Interruption(bytes: bytes, error: error, kills: true) }
                kill()
            }
            throw error
        case .fails(let code, let bytes):
            let error = FileError(call: "\(call)", path: path, code: code)
            if call == .write { return Interruption(bytes: bytes, error: error, kills: false) }
            if let node { state.withLock { _ in node.loseUnsynced() } }
            throw error
        }
    }
}
