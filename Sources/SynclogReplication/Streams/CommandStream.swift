internal import Glibc
internal import SynclogJournal

/// A program and its arguments.
struct CommandLine: Hashable, Sendable {
    var program: String
    var arguments: [String]
}

/// Whether a process of ours still runs.
private enum Child {
    case running
    case ended(status: Int32)
}

/// The standard streams of a command in a process of its own; its standard error is ours.
final class CommandStream: ByteStream {
    /// How long a command may take to end after its streams were closed, before it is told to.
    private static let grace: Duration = .seconds(5)

    let name: String
    private let pipes: DescriptorStream
    private let process: pid_t
    private let child: Monitor<Child>

    init(name: String, command: CommandLine) throws(ReplicationError) {
        self.name = name
        let toChild = try makePipe(for: name)
        let fromChild: [Int32]
        do throws(ReplicationError) {
            fromChild = try makePipe(for: name)
        } catch {
            for descriptor in toChild { Glibc.close(descriptor) }
            throw error
        }
        let (process, code) = spawn(command, input: toChild[0], output: fromChild[1])
        Glibc.close(toChild[0])
        Glibc.close(fromChild[1])
        guard code == 0 else {
            Glibc.close(toChild[1])
            Glibc.close(fromChild[0])
            throw .unreachable(source: name, reason: systemReason("cannot run \(command.program)", code))
        }
        self.process = process
        let child = Monitor<Child>(.running)
        self.child = child
        startThread { reap(process, into: child) }
        pipes = try DescriptorStream(
            name: name, input: fromChild[0], output: toChild[1], ownsDescriptors: true)
    }

    func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8] {
        let bytes = try pipes.read(max: max, timeout: timeout)
        // A command that failed tells more than the end of its output.
        if bytes.isEmpty, let reason = failure() { throw .unreachable(source: name, reason: reason) }
        return bytes
    }

    func write(_ bytes: [UInt8]) throws(ReplicationError) {
        do throws(ReplicationError) {
            try pipes.write(bytes)
        } catch {
            if case .unreachable = error, let reason = failure() {
                throw .unreachable(source: name, reason: reason)
            }
            throw error
        }
    }

    func close() {
        pipes.close()
        if ended(within: Self.grace) != nil { return }
        for signal in [SIGTERM, SIGKILL] {
            child.withLock { if case .running = $0 { kill(process, signal) } }
            if ended(within: .seconds(1)) != nil { return }
        }
    }

    private func ended(within timeout: Duration) -> Int32? {
        child.wait(timeout: timeout) { state in
            if case .ended(let status) = state { status } else { nil }
        }
    }

    /// Why the command ended, if it ended badly.
    private func failure() -> String? {
        guard let status = ended(within: .seconds(1)), status != 0 else { return nil }
        if status & 0x7F == 0 {
            let code = (status >> 8) & 0xFF
            return code == 127
                ? "the command was not found (exit status 127)" : "the command ended with exit status \(code)"
        }
        return "the command was ended by signal \(status & 0x7F)"
    }
}

/// Waits for the end without taking it, so that the number stays ours until the state says it is not.
private func reap(_ process: pid_t, into child: Monitor<Child>) {
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
    child.withLock { state in
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
        state = .ended(status: status)
    }
    child.wakeAll()
}

/// Starts a program with two descriptors as its standard input and output; returns its number and an error number.
private func spawn(_ command: CommandLine, input: Int32, output: Int32) -> (pid_t, Int32) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The command gets the usual meaning of a broken pipe, and no blocked signals.
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    unsafe sigaddset(&defaults, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe ([command.program] + command.arguments).map {
        unsafe strdup($0)
    }
    unsafe arguments.append(nil)
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawnp(&process, command.program, &actions, &attributes, arguments, environ)
    return (process, code)
}
