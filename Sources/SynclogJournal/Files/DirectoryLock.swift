internal import Glibc

/// The lock of a journal's directory: flock on the file LOCK, which is never deleted.
///
/// Its text, process id and mode, only serves error messages and quick refusals.
final class DirectoryLock {
    private let path: String
    private let fileSystem: any FileSystem
    private let pause: @Sendable (UInt32) -> Void
    private var file: any File
    private(set) var isHeld = false

    /// Opens LOCK, making it if it is not there.
    init(directory: String, options: JournalOptions) throws(JournalError) {
        let fileSystem = options.fileSystem
        pause = options.pause
        path = directory + "/LOCK"
        self.fileSystem = fileSystem
        file = try Self.openFile(path, fileSystem)
    }

    private static func openFile(_ path: String, _ fileSystem: any FileSystem) throws(JournalError)
        -> any File
    {
        do {
            return try fileSystem.open(path, .create)
        } catch {
            switch error.code {
            case EACCES, EROFS, EPERM: throw .readOnly(path: String(path.dropLast("/LOCK".count)))
            default: throw .file(error)
            }
        }
    }

    /// Takes the lock, waiting at most `timeout`; not at all for a holder that keeps it.
    /// - Returns: Whether the file is still the one that was opened first.
    func take(exclusive: Bool, timeout: Duration) throws(JournalError) -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var rest: UInt32 = 50
        var same = true
        while true {
            let free = try journalErrors { () throws(FileError) in try file.tryLock() }
            if free {
                let mine = try journalErrors { () throws(FileError) in try file.status() }
                let there = try journalErrors { () throws(FileError) in try fileSystem.status(path) }
                if there?.inode == mine.inode, there?.device == mine.device { break }
                // Somebody replaced LOCK: its new file is the one that counts.
                file.unlock()
                file = try Self.openFile(path, fileSystem)
                same = false
                continue
            }
            let holder = holder()
            if holder?.exclusive == true || clock.now >= deadline { throw .busy(pid: holder?.pid) }
            pause(rest)
            rest = min(rest * 2, 2000)
        }
        isHeld = true
        let text = "\(getpid()) \(exclusive ? "exclusive" : "shared")\n"
        let padded = Array(text.utf8) + [UInt8](repeating: 0x20, count: max(0, 31 - text.utf8.count)) + [0x0A]
        // Only a help for others' error messages: the lock is held whether or not this succeeds.
        try? file.write(padded, at: 0)
        return same
    }

    /// Gives the lock back.
    func release() {
        guard isHeld else { return }
        isHeld = false
        file.unlock()
    }

    /// Gives an exclusive lock back, so that the text no longer says that it is kept.
    func releaseExclusive() {
        guard isHeld else { return }
        try? file.truncate(to: 0)
        release()
    }

    /// What LOCK says about its holder.
    private func holder() -> (pid: Int32, exclusive: Bool)? {
        guard let bytes = try? file.bytes(at: 0, count: 64) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let pid = Int32(words[0]), pid > 0 else { return nil }
        return (pid, words[1] == "exclusive")
    }
}
