import Glibc
import SynclogJournal

/// Runs this executable again and again, and ends what still runs when the demo is interrupted.
final class DemoProcesses: Sendable {
    /// How a process ended.
    struct Ended {
        /// The exit status, or 128 and the signal.
        var status: Int32
        /// The words it was called with, for messages.
        var words: [String]
        var output: [UInt8]
        var error: String
    }

    /// A process that may still run.
    struct Running {
        var pid: pid_t
        var words: [String]
        fileprivate var outputPath: String
        fileprivate var errorPath: String
    }

    private struct State {
        var pids: Set<pid_t> = []
        var count = 0
    }

    /// The path of this executable.
    let executable: String
    /// The directory in which output is kept until it is read.
    let directory: String
    private let state = Monitor(State())

    init(directory: String) throws(CommandFailure) {
        var buffer = [CChar](repeating: 0, count: 4096)
        let size = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard size > 0 else {
            throw CommandFailure(
                .storage, "/proc/self/exe: \(systemText(errno))", next: "run the demo on Linux")
        }
        executable = String(decoding: buffer[..<size].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.directory = directory
    }

    /// Starts `synclog` with words.
    func start(_ words: [String]) throws(CommandFailure) -> Running {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let running = { (pid: pid_t) in
            Running(
                pid: pid, words: words, outputPath: "\(self.directory)/output-\(number)",
                errorPath: "\(self.directory)/error-\(number)")
        }
        let paths = running(0)
        let output = try Self.create(paths.outputPath)
        defer { close(output) }
        let error = try Self.create(paths.errorPath)
        defer { close(error) }
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        let pid = state.withLock { state -> pid_t? in
            let pid = ChildProcess.spawn([executable] + words, input: nothing, output: output, error: error)
            if let pid { state.pids.insert(pid) }
            return pid
        }
        guard let pid else {
            throw CommandFailure(.storage, "\(executable) could not be started", next: "run the demo again")
        }
        return running(pid)
    }

    private static func create(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .storage, "'\(shown(path))': \(systemText(errno))",
                next: "set TMPDIR to a directory with room")
        }
        return descriptor
    }

    /// Whether a process has ended; if so what it said.
    func ended(_ running: Running) throws(CommandFailure) -> Ended? {
        guard let status = ChildProcess.poll(running.pid) else { return nil }
        return try collect(running, status)
    }

    /// Waits for a process to end.
    func wait(_ running: Running) throws(CommandFailure) -> Ended {
        try collect(running, ChildProcess.wait(running.pid))
    }

    private func collect(_ running: Running, _ status: Int32) throws(CommandFailure) -> Ended {
        state.withLock { state in _ = state.pids.remove(running.pid) }
        let output = try InputReader(running.outputPath).rest()
        let error = String(decoding: try InputReader(running.errorPath).rest(), as: UTF8.self)
        unsafe unlink(running.outputPath)
        unsafe unlink(running.errorPath)
        return Ended(status: status, words: running.words, output: output, error: error)
    }

    /// Runs `synclog` to its end, which must be a good one.
    func run(_ words: [String]) throws(CommandFailure) -> [UInt8] {
        let ended = try wait(try start(words))
        guard ended.status == 0 else { throw Self.failure(ended) }
        return ended.output
    }

    /// The failure of a process that should not have failed.
    static func failure(_ ended: Ended) -> CommandFailure {
        let said = ended.error.split(separator: "\n").last.map { ": \($0)" } ?? ""
        let words = ended.words.map { $0.utf8.count > 60 ? "..." : $0 }.joined(separator: " ")
        return CommandFailure(
            ExitCode(rawValue: ended.status) ?? .damage,
            "'synclog \(words)' ended with status \(ended.status)\(said)",
            next: "the directory was kept")
    }

    /// Ends everything that still runs.
    func killAll() {
        let pids = state.withLock { $0.pids }
        for pid in pids { kill(pid, SIGKILL) }
    }

    /// Ends the children and then this process when it is interrupted; call it before any thread is started.
    func handleSignals() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&set, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        startThread { [self] in
            var set = sigset_t()
            unsafe sigemptyset(&set)
            for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&set, signal) }
            var signal: Int32 = 0
            guard unsafe sigwait(&set, &signal) == 0 else { return }
            killAll()
            if let remover = ChildProcess.spawn(["/bin/rm", "-rf", directory]) {
                _ = ChildProcess.wait(remover)
            }
            die(bySignal: signal)
        }
    }
}

/// Waits for so many milliseconds.
func pause(milliseconds: Int) {
    var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    var rest = timespec()
    while unsafe nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
}
