/// How a journal is opened.
public enum JournalMode: Sendable {
    /// Takes no lock and needs no write permission.
    case readOnly
    /// Many processes may write; the lock is held for each group of commits.
    case shared
    /// This process alone writes until the journal is closed.
    case exclusive
}

/// Every setting of a journal, each with unit, range and default.
public struct JournalOptions: Sendable {
    /// The stored size in bytes at which a segment is sealed: 16 KiB to 1 GiB.
    ///
    /// The default, nil, is 1 MiB in shared mode and 64 MiB in exclusive mode.
    public var segmentSize: Int?
    /// The raw size in bytes at which a block is closed: 1 KiB to 4 MiB.
    ///
    /// The default is 8 KiB: a read by name decodes one block, and takes a quarter less time than with 16 KiB for a twentieth more
    /// disk. Merges write blocks of 16 KiB whatever this says.
    public var blockSize = 8 * 1024
    /// The stored size in bytes of a live segment after which an index checkpoint goes out: 16 KiB to 1 MiB.
    ///
    /// The default is 128 KiB. In large segments it is at least a 64th of their size, which is 1 MiB in exclusive mode; there
    /// ``Journal/close()`` indexes what is left from this size on.
    public var checkpointInterval = 128 * 1024
    /// How long to wait for the lock of another process.
    ///
    /// The default is 10 s.
    public var lockTimeout: Duration = .seconds(10)
    /// Pads each group to 4 KiB, for disks whose torn writes reach beyond 512-byte sectors.
    ///
    /// The default is false.
    public var padsGroups = false
    /// For reading only: open a journal whose acknowledged end is lost, at the end that is left.
    ///
    /// The default is false.
    public var acceptsLostEnd = false
    /// Whether to write on a network file system, where locks and syncs cannot be relied on and acknowledged commits may be lost.
    ///
    /// The default is false: opening for writing throws ``JournalError/networkFileSystem(path:kind:)`` there. To follow a directory
    /// on one is refused in any case.
    public var allowsNetworkFileSystem = false
    /// Whether sealed segments are merged when there are enough of them.
    ///
    /// The default is true; otherwise only ``Journal/compact(everything:dryRun:inputMax:progress:)`` does it.
    public var compacts = true
    /// Told after each merge in the background what was done so far; called on the thread that merges.
    ///
    /// The default is nil. Only an exclusive journal merges in the background; it rests after each megabyte as long as
    /// that took, at most 50 ms, so that commits have half of the disk at least.
    public var compactionProgress: (@Sendable (CompactionReport) -> Void)?
    /// How long what nobody needs any more is kept.
    public var retention = JournalRetention()
    /// The files.
    ///
    /// The default is the real file system.
    public var fileSystem: any FileSystem = PosixFileSystem.shared
    /// Tells the wall time in microseconds since 1970.
    public var wallClock: @Sendable () -> Int64 = { systemWallClock() }
    /// Gives 64 random bits.
    public var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

    /// How a thread rests before it looks again, in microseconds.
    package var pause: @Sendable (UInt32) -> Void = JournalOptions.defaultPause
    /// The bytes of zeros that are written ahead at once.
    package var zeroFillSize: UInt64 = 256 * 1024
    /// The bytes of segments from which on a journal keeps ballast for a full disk.
    package var ballastFrom: UInt64 = 64 * 1024
    /// The most segments whose files are open at once besides the live one.
    package var openFilesMax = OpenFiles.usualMax
    /// What the test kit leaves out.
    package var rules = JournalRules()

    /// Makes the default options.
    public init() {}
}
