internal import SynclogJournal

/// A file system in between that does one thing wrong.
final class FaultyFileSystem: FileSystem {
    private let base: any FileSystem
    private let bug: PlantedBug

    init(_ base: any FileSystem, bug: PlantedBug) {
        self.base = base
        self.bug = bug
    }

    var counts: FileCounts { base.counts }

    func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
        FaultyFile(try base.open(path, mode), bug: bug)
    }

    func rename(_ path: String, to target: String, replacing: Bool) throws(FileError) {
        try base.rename(path, to: target, replacing: replacing)
        if bug == .renameBeforeSync { try base.open(target, .readWrite).sync() }
    }

    func syncDirectory(_ path: String) throws(FileError) {
        if bug != .noDirectorySync { try base.syncDirectory(path) }
    }

    func list(_ path: String) throws(FileError) -> [String] { try base.list(path) }
    func status(_ path: String) throws(FileError) -> FileStatus? { try base.status(path) }
    func makeDirectory(_ path: String) throws(FileError) { try base.makeDirectory(path) }
    func link(_ path: String, to target: String) throws(FileError) { try base.link(path, to: target) }
    func remove(_ path: String) throws(FileError) { try base.remove(path) }
    func removeDirectory(_ path: String) throws(FileError) { try base.removeDirectory(path) }
    func networkKind(_ path: String) throws(FileError) -> String? { try base.networkKind(path) }
    func bootID() -> UInt64 { base.bootID() }
    func watch(_ path: String) throws(FileError) -> any FileWatch { try base.watch(path) }
}

/// An open file of a ``FaultyFileSystem``.
private final class FaultyFile: File {
    private let base: any File
    private let bug: PlantedBug

    init(_ base: any File, bug: PlantedBug) {
        self.base = base
        self.bug = bug
    }

    var path: String { base.path }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try unsafe base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        try unsafe base.write(bytes, at: offset)
    }

    func truncate(to size: UInt64) throws(FileError) { try base.truncate(to: size) }

    func syncData() throws(FileError) {
        if bug == .acknowledgeBeforeSync { return }
        do throws(FileError) {
            try base.syncData()
        } catch {
            guard bug == .retriedSync else { throw error }
            try base.syncData()
        }
    }

    func sync() throws(FileError) {
        if bug == .renameBeforeSync, base.path.contains("/tmp/") { return }
        do throws(FileError) {
            try base.sync()
        } catch {
            guard bug == .retriedSync else { throw error }
            try base.sync()
        }
    }

    func status() throws(FileError) -> FileStatus { try base.status() }
    func tryLock() throws(FileError) -> Bool {
        let free = try base.tryLock()
        return free || bug == .ignoredLock
    }
    func unlock() { base.unlock() }
}
