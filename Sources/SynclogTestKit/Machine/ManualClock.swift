public import SynclogJournal

/// A wall clock that moves only when told, and by a fixed step at each look.
public final class ManualClock: Sendable {
    private let time: Monitor<Int64>
    private let step: Int64

    /// Starts at a time in microseconds since 1970; each look moves it on by `step`.
    public init(at start: Int64 = 1_700_000_000_000_000, step: Int64 = 1000) {
        time = Monitor(start)
        self.step = step
    }

    /// The time in microseconds since 1970.
    public func read() -> Int64 {
        time.withLock { now in
            now += step
            return now
        }
    }

    /// The time in microseconds since 1970, without moving on.
    public var now: Int64 { time.withLock { $0 } }

    /// Sets the time, backwards too.
    public func set(_ time: Int64) { self.time.withLock { $0 = time } }
}

/// Random numbers from a seed, for many threads.
public final class SharedGenerator: Sendable {
    private let generator: Monitor<SeededGenerator>

    /// Starts from a seed.
    public init(seed: UInt64) { generator = Monitor(SeededGenerator(seed: seed)) }

    /// The next 64 bits.
    public func next() -> UInt64 { generator.withLock { $0.next() } }
}

extension JournalOptions {
    /// Options for tests: small segments and blocks, a clock and random numbers that repeat.
    public static func test(
        _ fileSystem: any FileSystem, segmentSize: Int = 16 * 1024, blockSize: Int = 1024, seed: UInt64 = 1,
        clock: ManualClock = ManualClock()
    ) -> JournalOptions {
        let generator = SharedGenerator(seed: seed)
        var options = JournalOptions()
        options.segmentSize = segmentSize
        options.blockSize = blockSize
        options.checkpointInterval = 16 * 1024
        options.lockTimeout = .seconds(10)
        options.fileSystem = fileSystem
        options.wallClock = { clock.read() }
        options.random = { generator.next() }
        options.compacts = false
        return options
    }
}
