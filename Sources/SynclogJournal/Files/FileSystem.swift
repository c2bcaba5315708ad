/// All that a journal asks of files; the real one, a simulated one and a counting one fit behind it.
///
/// Every failure is a ``FileError``. Interrupted calls are repeated inside; short reads and writes too.
public protocol FileSystem: Sendable {
    /// Opens a file; with `.createNew` it must not exist.
    func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File
    /// The names in a directory, in no order, without `.` and `..`.
    func list(_ path: String) throws(FileError) -> [String]
    /// The facts of a path, or nil if nothing is there.
    func status(_ path: String) throws(FileError) -> FileStatus?
    /// Makes a directory; its parent exists.
    func makeDirectory(_ path: String) throws(FileError)
    /// Renames; without `replacing` an existing target is an error (EEXIST).
    func rename(_ path: String, to target: String, replacing: Bool) throws(FileError)
    /// Gives a file a second name, which must not exist; file systems without such names fail (EPERM, EOPNOTSUPP).
    func link(_ path: String, to target: String) throws(FileError)
    /// Removes a file.
    func remove(_ path: String) throws(FileError)
    /// Removes an empty directory.
    func removeDirectory(_ path: String) throws(FileError)
    /// Makes the names in a directory durable.
    func syncDirectory(_ path: String) throws(FileError)
    /// The name of the network file system the path lies on, or nil if it is local.
    func networkKind(_ path: String) throws(FileError) -> String?
    /// A value that changes with each start of the machine.
    func bootID() -> UInt64
    /// Watches a directory for changes of its files.
    func watch(_ path: String) throws(FileError) -> any FileWatch
    /// What was done so far.
    var counts: FileCounts { get }
}

/// How to open a file.
public enum FileMode: Sendable {
    /// An existing file, for reading.
    case read
    /// An existing file, for reading and writing.
    case readWrite
    /// A file for reading and writing, made if it is not there.
    case create
    /// A new file for reading and writing.
    case createNew
}

/// The facts of a file.
public struct FileStatus: Hashable, Sendable {
    /// The file's number in its file system.
    public var inode: UInt64
    /// The file system's number.
    public var device: UInt64
    /// The size in bytes.
    public var size: UInt64
    /// Whether it is a directory.
    public var isDirectory: Bool

    /// Makes the facts of a file.
    public init(inode: UInt64, device: UInt64, size: UInt64, isDirectory: Bool) {
        self.inode = inode
        self.device = device
        self.size = size
        self.isDirectory = isDirectory
    }
}

/// An open file; closed when the last reference goes.
///
/// A call that a signal interrupts is made again, but for syncs: after one that failed nothing is known.
public protocol File: AnyObject, Sendable {
    /// The path it was opened by.
    var path: String { get }
    /// Reads into the buffer from an offset until it is full or the file ends.
    /// - Returns: The number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int
    /// Writes all bytes at an offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError)
    /// Sets the size in bytes.
    func truncate(to size: UInt64) throws(FileError)
    /// Makes the content and size durable (fdatasync; F_FULLFSYNC on macOS).
    func syncData() throws(FileError)
    /// Makes content and all metadata durable (fsync).
    func sync() throws(FileError)
    /// The facts of the open file.
    func status() throws(FileError) -> FileStatus
    /// Tries to take the lock of this file for this open file (flock).
    /// - Returns: Whether it was free.
    func tryLock() throws(FileError) -> Bool
    /// Gives the lock back.
    func unlock()
}

/// Tells that files of a directory changed.
public protocol FileWatch: AnyObject, Sendable {
    /// Returns after a change, after `wake`, or after the timeout.
    func wait(timeout: Duration)
    /// Makes a running or the next `wait` return at once; any thread.
    func wake()
}

/// How often files were used.
public struct FileCounts: Hashable, Sendable {
    /// Files opened.
    public var opens = 0
    /// Calls that read.
    public var reads = 0
    /// Bytes read.
    public var bytesRead = 0
    /// Calls that wrote.
    public var writes = 0
    /// Bytes written.
    public var bytesWritten = 0
    /// Syncs of files' content.
    public var dataSyncs = 0
    /// Full syncs, of files and directories.
    public var syncs = 0

    /// Makes zero counts.
    public init() {}
}
