internal import Glibc
internal import SynclogJournal
internal import SynclogReplication

/// A running program.
struct ChildProcess {
    private let process: pid_t
    private let name: String

    /// This program's own file.
    static let own = "/proc/\(getpid())/exe"

    /// Starts a program, found as the shell would; without `output` and `errors` these go nowhere.
    init(_ words: [String], output: Int32? = nil, errors: Int32? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, wanted) in [(Int32(1), output), (2, errors)] {
            if let wanted {
                posix_spawn_file_actions_adddup2(&actions, wanted, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
            }
        }
        var arguments = words.map { strdup($0) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, nil, arguments, environ)
        guard code == 0 else {
            throw BenchmarkError("\(words[0]) cannot be run: " + String(cString: strerror(code)))
        }
        self.process = process
        name = words[0]
    }

    /// The reading and the writing end of a pipe that children do not inherit.
    static func makePipe() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchmarkError("no pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    /// Waits for its end, which must be good.
    func wait() throws {
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        guard status == 0 else { throw BenchmarkError("\(name) failed with wait status \(status)") }
    }

    /// Runs a program to its end.
    static func run(_ words: [String], output: Int32? = nil) throws {
        try ChildProcess(words, output: output).wait()
    }

    /// Runs a program to its end.
    /// - Returns: What it printed.
    static func output(of words: [String]) throws -> [UInt8] {
        let pipe = try makePipe()
        let child = try ChildProcess(words, output: pipe[1])
        close(pipe[1])
        defer { close(pipe[0]) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(pipe[0], &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        try child.wait()
        return bytes
    }

    /// The path of a program on PATH, or nil.
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}

/// What this program does when it started itself.
enum ChildRole {
    static func run(_ words: ArraySlice<String>) throws {
        let words = Array(words)
        guard words.count == 3, ["scan", "serve"].contains(words[0]) else {
            throw BenchmarkError("--child is for this program itself")
        }
        if words[0] == "serve" { return try serve(words[2]) }
        if let contestant = Contestant.all.first(where: { $0.label == words[1] }) {
            let engine = try contestant.open(words[2])
            _ = try engine.walk(after: 0)
            engine.close()
        }
        print(try peakMemory())
    }

    /// Serves a journal on the standard streams.
    private static func serve(_ path: String) throws {
        let server = try JournalServer(path: path)
        let ended = Monitor(false)
        Task {
            try? await server.serve(input: 0, output: 1)
            ended.withLock { $0 = true }
            ended.wakeAll()
        }
        _ = ended.wait { $0 ? true : nil }
    }

    /// The most memory this process had, in KiB. Unlike getrusage's, this figure begins at zero with the program: the other
    /// one begins with what the parent had when it started the child.
    private static func peakMemory() throws -> Int {
        guard let file = fopen("/proc/self/status", "r") else { throw BenchmarkError("no /proc/self/status") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
            if text.hasPrefix("VmHWM:"), let value = Int(text.filter { ("0"..."9").contains($0) }) {
                return value
            }
        }
        throw BenchmarkError("no VmHWM in /proc/self/status")
    }
}
