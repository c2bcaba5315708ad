import Glibc
import SynclogJournal

/// A follower process that is killed at random moments and started again.
struct DemoFollower {
    private let processes: DemoProcesses
    private let source: String
    private let path: String
    private var random: SplitMix
    private var running: DemoProcesses.Running?
    private var killAt = 0
    /// The heads of the copy after each kill.
    private(set) var headsAfterKills: [UInt64] = []

    /// How many milliseconds a follower lives, at random; on a slow machine later ones live longer.
    private static let life = 15...130

    init(_ processes: DemoProcesses, source: String, path: String, seed: UInt64) {
        self.processes = processes
        self.source = source
        self.path = path
        random = SplitMix(state: seed)
    }

    /// Starts the process if it does not run.
    mutating func start() throws(CommandFailure) {
        guard running == nil else { return }
        running = try processes.start(["-D", path, "replicate", source, "--follow"])
        let life = Int.random(in: Self.life, using: &random) * (1 + headsAfterKills.count / 8)
        killAt = monotonicMilliseconds() + life
    }

    /// Kills the process if its time has come, and starts it again.
    mutating func tick() throws(CommandFailure) {
        try start()
        guard let process = running else { return }
        if let ended = try processes.ended(process) { throw DemoProcesses.failure(ended) }
        guard monotonicMilliseconds() >= killAt else { return }
        try stop(by: SIGKILL)
        headsAfterKills.append(head() ?? 0)
        try start()
    }

    /// Ends the process by a signal; any other end is a failure.
    mutating func stop(by signal: Int32) throws(CommandFailure) {
        guard let process = running else { return }
        running = nil
        kill(process.pid, signal)
        let ended = try processes.wait(process)
        guard ended.status == 128 + signal else { throw DemoProcesses.failure(ended) }
    }

    /// The last commit of the copy, or nil before there is one.
    func head() -> UInt64? {
        guard let journal = try? Journal.open(at: path, mode: .readOnly) else { return nil }
        defer { journal.close() }
        return (try? journal.head())?.commit
    }

    /// Waits until the running process has copied everything up to a commit.
    func waitUntil(head wanted: UInt64, milliseconds: Int) throws(CommandFailure) {
        let end = monotonicMilliseconds() + milliseconds
        while true {
            if let process = running, let ended = try processes.ended(process) {
                throw DemoProcesses.failure(ended)
            }
            if let head = head(), head >= wanted { return }
            guard monotonicMilliseconds() < end else {
                throw CommandFailure(
                    .remote, "the follower did not reach commit \(wanted) in \(milliseconds / 1000) s",
                    next: "the directory was kept")
            }
            pause(milliseconds: 5)
        }
    }
}

/// A small generator of random numbers that a seed repeats.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
