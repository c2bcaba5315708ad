internal import CLZ4
internal import Glibc
internal import Synchronization

/// The real file system.
public final class PosixFileSystem: FileSystem {
    /// The one that everybody shares.
    public static let shared = PosixFileSystem()

    let counters = FileCounters()

    /// Makes a file system with counts of its own.
    public init() {}

    /// What was done so far.
    public var counts: FileCounts { counters.counts }

    /// Opens a file; with `.createNew` it must not exist (open(2)).
    public func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
        let flags: Int32 =
            switch mode {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .create: O_RDWR | O_CREAT
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            }
        let descriptor = try call("open", path) { unsafe Glibc.open(path, flags | O_CLOEXEC, 0o644) }
        counters.opens.add(1, ordering: .relaxed)
        return PosixFile(path: path, descriptor: descriptor, counters: counters)
    }

    /// The names in a directory, in no order, without `.` and `..` (readdir(3)).
    public func list(_ path: String) throws(FileError) -> [String] {
        var opened = unsafe opendir(path)
        while unsafe opened == nil, errno == EINTR { unsafe opened = opendir(path) }
        guard let directory = unsafe opened else {
            throw FileError(call: "opendir", path: path, code: errno)
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(directory) else {
                if errno != 0 { throw FileError(call: "readdir", path: path, code: errno) }
                return names
            }
            let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    /// The facts of a path, or nil if nothing is there (stat(2)).
    public func status(_ path: String) throws(FileError) -> FileStatus? {
        var info = stat()
        if unsafe stat(path, &info) == 0 { return FileStatus(info) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw FileError(call: "stat", path: path, code: errno)
    }

    /// Makes a directory; its parent exists (mkdir(2)).
    public func makeDirectory(_ path: String) throws(FileError) {
        _ = try call("mkdir", path) { unsafe mkdir(path, 0o755) }
    }

    /// Renames; without `replacing` an existing target is an error (rename(2), renameat2(2)).
    public func rename(_ path: String, to target: String, replacing: Bool) throws(FileError) {
        _ = try call("rename", path) {
            unsafe replacing ? Glibc.rename(path, target) : synclog_rename_new(path, target)
        }
    }

    /// Gives a file a second name, which must not exist (link(2)).
    public func link(_ path: String, to target: String) throws(FileError) {
        _ = try call("link", path) { unsafe Glibc.link(path, target) }
    }

    /// Removes a file (unlink(2)).
    public func remove(_ path: String) throws(FileError) {
        _ = try call("unlink", path) { unsafe unlink(path) }
    }

    /// Removes an empty directory (rmdir(2)).
    public func removeDirectory(_ path: String) throws(FileError) {
        _ = try call("rmdir", path) { unsafe rmdir(path) }
    }

    /// Makes the names in a directory durable (fsync(2) on the directory).
    public func syncDirectory(_ path: String) throws(FileError) {
        let descriptor = try call("open", path) {
            unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { Glibc.close(descriptor) }
        counters.syncs.add(1, ordering: .relaxed)
        guard fsync(descriptor) == 0 else { throw FileError(call: "fsync", path: path, code: errno) }
    }

    /// The name of the network file system the path lies on, or nil if it is local (statfs(2)).
    public func networkKind(_ path: String) throws(FileError) -> String? {
        let kind = unsafe synclog_file_system_kind(path)
        if kind < 0 { throw FileError(call: "statfs", path: path, code: errno) }
        return Self.networkKinds[UInt32(truncatingIfNeeded: kind)]
    }

    private static let networkKinds: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0xC3_6400: "Ceph",
        0x5346_414F: "AFS", 0x102_1997: "9P", 0x6573_5546: "FUSE",
    ]

    /// A value that changes with each start of the machine (random(4), boot_id).
    public func bootID() -> UInt64 { Self.boot }

    private static let boot: UInt64 = {
        let descriptor = unsafe Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, 36) }
        guard count == 36 else { return 0 }
        return UInt64(String(decoding: bytes.filter { $0 != 0x2D }.prefix(16), as: UTF8.self), radix: 16) ?? 0
    }()

    /// Watches a directory for changes of its files (inotify(7)).
    public func watch(_ path: String) throws(FileError) -> any FileWatch { try PosixFileWatch(path) }
}

/// Counts that many threads add to.
final class FileCounters: Sendable {
    let opens = Atomic<Int>(0)
    let reads = Atomic<Int>(0)
    let bytesRead = Atomic<Int>(0)
    let writes = Atomic<Int>(0)
    let bytesWritten = Atomic<Int>(0)
    let dataSyncs = Atomic<Int>(0)
    let syncs = Atomic<Int>(0)

    var counts: FileCounts {
        var counts = FileCounts()
        counts.opens = opens.load(ordering: .relaxed)
        counts.reads = reads.load(ordering: .relaxed)
        counts.bytesRead = bytesRead.load(ordering: .relaxed)
        counts.writes = writes.load(ordering: .relaxed)
        counts.bytesWritten = bytesWritten.load(ordering: .relaxed)
        counts.dataSyncs = dataSyncs.load(ordering: .relaxed)
        counts.syncs = syncs.load(ordering: .relaxed)
        return counts
    }
}

/// Makes a call again while it is interrupted, and turns -1 into an error.
private func call(_ name: String, _ path: String, _ body: () -> Int32) throws(FileError) -> Int32 {
    while true {
        let result = body()
        if result >= 0 { return result }
        if errno != EINTR { throw FileError(call: name, path: path, code: errno) }
    }
}

extension FileStatus {
    fileprivate init(_ info: stat) {
        self.init(
            inode: UInt64(info.st_ino), device: UInt64(info.st_dev), size: UInt64(max(0, info.st_size)),
            isDirectory: info.st_mode & S_IFMT == S_IFDIR)
    }
}

/// An open file of the real file system; owns its descriptor.
final class PosixFile: File {
    let path: String
    private let descriptor: Int32
    private let counters: FileCounters

    init(path: String, descriptor: Int32, counters: FileCounters) {
        self.path = path
        self.descriptor = descriptor
        self.counters = counters
    }

    deinit { Glibc.close(descriptor) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = unsafe pread(
                descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done,
                off_t(clamping: offset) + off_t(done))
            if count < 0 {
                if errno == EINTR { continue }
                throw FileError(call: "pread", path: path, code: errno)
            }
            if count == 0 { break }
            done += count
        }
        counters.reads.add(1, ordering: .relaxed)
        counters.bytesRead.add(done, ordering: .relaxed)
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(
                descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
                off_t(clamping: offset) + off_t(done))
            if count < 0 {
                if errno == EINTR { continue }
                throw FileError(call: "pwrite", path: path, code: errno)
            }
            if count == 0 { throw FileError(call: "pwrite", path: path, code: EIO) }
            done += count
        }
        counters.writes.add(1, ordering: .relaxed)
        counters.bytesWritten.add(done, ordering: .relaxed)
    }

    func truncate(to size: UInt64) throws(FileError) {
        _ = try call("ftruncate", path) { ftruncate(descriptor, off_t(clamping: size)) }
    }

    func syncData() throws(FileError) {
        counters.dataSyncs.add(1, ordering: .relaxed)
        // Not repeated when interrupted: after a failed sync nothing is known.
        guard fdatasync(descriptor) == 0 else { throw FileError(call: "fdatasync", path: path, code: errno) }
    }

    func sync() throws(FileError) {
        counters.syncs.add(1, ordering: .relaxed)
        guard fsync(descriptor) == 0 else { throw FileError(call: "fsync", path: path, code: errno) }
    }

    func status() throws(FileError) -> FileStatus {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else {
            throw FileError(call: "fstat", path: path, code: errno)
        }
        return FileStatus(info)
    }

    func tryLock() throws(FileError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw FileError(call: "flock", path: path, code: errno) }
        }
        return true
    }

    func unlock() { flock(descriptor, LOCK_UN) }
}

/// Watches a directory by inotify, with a pipe to be woken by.
final class PosixFileWatch: FileWatch {
    private let notifications: Int32
    private let wakeEnd: Int32
    private let waker: Int32

    init(_ path: String) throws(FileError) {
        notifications = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard notifications >= 0 else { throw FileError(call: "inotify_init1", path: path, code: errno) }
        var pipe: [Int32] = [-1, -1]
        guard unsafe pipe2(&pipe, O_CLOEXEC | O_NONBLOCK) == 0 else {
            let code = errno
            Glibc.close(notifications)
            throw FileError(call: "pipe2", path: path, code: code)
        }
        (wakeEnd, waker) = (pipe[0], pipe[1])
        let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
        guard unsafe inotify_add_watch(notifications, path, events) >= 0 else {
            let code = errno
            Glibc.close(notifications)
            Glibc.close(wakeEnd)
            Glibc.close(waker)
            throw FileError(call: "inotify_add_watch", path: path, code: code)
        }
    }

    deinit {
        Glibc.close(notifications)
        Glibc.close(wakeEnd)
        Glibc.close(waker)
    }

    func wait(timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        let milliseconds = min(seconds, 86_400) * 1000 + attoseconds / 1_000_000_000_000_000
        var polled = [
            pollfd(fd: notifications, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeEnd, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&polled, 2, Int32(clamping: max(0, milliseconds))) > 0 else { return }
        var scratch = [UInt8](repeating: 0, count: 4096)
        for descriptor in [notifications, wakeEnd] {
            while unsafe Glibc.read(descriptor, &scratch, scratch.count) == scratch.count {}
        }
    }

    func wake() {
        var one: UInt8 = 1
        _ = unsafe Glibc.write(waker, &one, 1)
    }
}
