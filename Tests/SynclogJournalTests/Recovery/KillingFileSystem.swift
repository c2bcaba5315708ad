import Glibc
import Synchronization
import SynclogJournal

/// The real file system, in which one call is the process's last.
final class KillingFileSystem: FileSystem {
    /// When in its last call the process is killed.
    enum Moment: CaseIterable {
        case before, halfWritten, after
    }

    /// Counts calls down.
    final class Countdown: Sendable {
        private let left: Atomic<Int>
        private let moment: Moment

        init(calls: Int, _ moment: Moment) {
            left = Atomic(calls)
            self.moment = moment
        }

        func call<Result>(
            half: () throws(FileError) -> Void = {}, _ body: () throws(FileError) -> Result
        ) throws(FileError) -> Result {
            let isLast = left.subtract(1, ordering: .relaxed).newValue == 0
            if isLast, moment != .after {
                if moment == .halfWritten { try half() }
                killThisProcess()
            }
            let result = try body()
            if isLast { killThisProcess() }
            return result
        }
    }

    private let base = PosixFileSystem.shared
    private let countdown: Countdown

    init(calls: Int, _ moment: Moment) { countdown = Countdown(calls: calls, moment) }

    var counts: FileCounts { base.counts }
    func bootID() -> UInt64 { base.bootID() }
    func networkKind(_ path: String) throws(FileError) -> String? { try base.networkKind(path) }
    func watch(_ path: String) throws(FileError) -> any FileWatch { try base.watch(path) }

    func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
        let file = try countdown.call { () throws(FileError) in try base.open(path, mode) }
        return KillingFile(file, countdown)
    }

    func list(_ path: String) throws(FileError) -> [String] {
        try countdown.call { () throws(FileError) in try base.list(path) }
    }

    func status(_ path: String) throws(FileError) -> FileStatus? {
        try countdown.call { () throws(FileError) in try base.status(path) }
    }

    func makeDirectory(_ path: String) throws(FileError) {
        try countdown.call { () throws(FileError) in try base.makeDirectory(path) }
    }

    func rename(_ path: String, to target: String, replacing: Bool) throws(FileError) {
        try countdown.call { () throws(FileError) in
            try base.rename(path, to: target, replacing: replacing)
        }
    }

    func link(_ path: String, to target: String) throws(FileError) {
        try countdown.call { () throws(FileError) in try base.link(path, to: target) }
    }

    func remove(_ path: String) throws(FileError) {
        try countdown.call { () throws(FileError) in try base.remove(path) }
    }

    func removeDirectory(_ path: String) throws(FileError) {
        try countdown.call { () throws(FileError) in try base.removeDirectory(path) }
    }

    func syncDirectory(_ path: String) throws(FileError) {
        try countdown.call { () throws(FileError) in try base.syncDirectory(path) }
    }
}

/// An open file of a ``KillingFileSystem``.
private final class KillingFile: File {
    private let base: any File
    private let countdown: KillingFileSystem.Countdown

    init(_ base: any File, _ countdown: KillingFileSystem.Countdown) {
        self.base = base
        self.countdown = countdown
    }

    var path: String { base.path }
    func unlock() { base.unlock() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try countdown.call { () throws(FileError) in try base.read(into: buffer, at: offset) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        try countdown.call(
            half: { () throws(FileError) in
                try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
            },
            { () throws(FileError) in try base.write(bytes, at: offset) })
    }

    func truncate(to size: UInt64) throws(FileError) {
        try countdown.call { () throws(FileError) in try base.truncate(to: size) }
    }

    func syncData() throws(FileError) {
        try countdown.call { () throws(FileError) in try base.syncData() }
    }

    func sync() throws(FileError) {
        try countdown.call { () throws(FileError) in try base.sync() }
    }

    func status() throws(FileError) -> FileStatus {
        try countdown.call { () throws(FileError) in try base.status() }
    }

    func tryLock() throws(FileError) -> Bool {
        try countdown.call { () throws(FileError) in try base.tryLock() }
    }
}

/// Ends the process as `kill -9` does.
func killThisProcess() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
}
