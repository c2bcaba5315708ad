import SynclogJournal
public import Testing

/// Threads that run the tasks which prefer them.
///
/// Tests that compute for seconds, and servers that tests wait for, must not share the cooperative pool: it has as many threads as the
/// machine has processors, and whoever waits with a deadline would wait for all tests before it.
public final class Lane: TaskExecutor {
    /// For tests that compute for long.
    public static let long = Lane()
    /// For servers in the process of the test.
    public static let servers = Lane()

    private let jobs = Monitor<[UnownedJob]>([])

    private init() {
        for _ in 0..<2 {
            startThread {
                while let job = self.jobs.wait(for: { $0.isEmpty ? nil : $0.removeFirst() }) {
                    job.runSynchronously(on: self.asUnownedTaskExecutor())
                }
            }
        }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        jobs.wakeAll()
    }
}

/// Runs tests on the lane for long ones.
public struct LongTrait: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true

    @concurrent public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(Lane.long) { try await function() }
    }
}

extension Trait where Self == LongTrait {
    /// The tests compute for long, without waiting for anybody.
    public static var long: LongTrait { LongTrait() }
}
