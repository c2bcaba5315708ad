import Glibc
import Synchronization
import SynclogJournal
import TestSupport
import Testing

/// How often the handler of the test ran.
private let interruptions = Atomic<Int>(0)

/// Calls of the real file system that a signal interrupts.
///
/// Opening a named pipe blocks until somebody opens its other end, so it can be interrupted for certain. Reads, writes and locks
/// of files wait for nothing that a signal could end.
@Suite struct InterruptedCallTests {
    private final class Opening: Sendable {
        /// The thread, and its directory below /proc.
        let thread = Monitor<(id: pthread_t, path: String)?>(nil)
        let outcome = Monitor<Swift.Result<any File, FileError>?>(nil)
    }

    @Test func `an open that a signal interrupts three times is made again each time`() throws {
        var action = sigaction()
        var before = sigaction()
        // Without SA_RESTART the kernel does not make the call again by itself.
        action.__sigaction_handler.sa_handler = { _ in interruptions.add(1, ordering: .sequentiallyConsistent)
        }
        try #require(sigaction(SIGUSR2, &action, &before) == 0)
        defer { sigaction(SIGUSR2, &before, nil) }
        let directory = TemporaryDirectory()
        let path = directory("pipe")
        try #require(mkfifo(path, 0o600) == 0)

        let opening = Opening()
        startThread {
            // Threads of the pool block all signals, and those that they start too.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGUSR2)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            var link = [UInt8](repeating: 0, count: 64)
            let count = max(0, readlink("/proc/thread-self", &link, link.count))
            let thread = (pthread_self(), "/proc/" + String(decoding: link[..<count], as: UTF8.self))
            opening.thread.withLock { $0 = thread }
            opening.thread.wakeAll()
            let outcome: Swift.Result<any File, FileError>
            do throws(FileError) { outcome = .success(try PosixFileSystem.shared.open(path, .read)) } catch {
                outcome = .failure(error)
            }
            opening.outcome.withLock { $0 = outcome }
            opening.outcome.wakeAll()
        }
        let thread = try #require(opening.thread.wait(for: { $0 }))
        let start = interruptions.load(ordering: .sequentiallyConsistent)
        for count in 1...3 {
            waitUntilAsleep(thread.path, opening)
            #expect(opening.outcome.withLock { $0 == nil }, "before signal \(count)")
            pthread_kill(thread.id, SIGUSR2)
            while interruptions.load(ordering: .sequentiallyConsistent) < start + count { sched_yield() }
        }
        waitUntilAsleep(thread.path, opening)
        let writer = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        #expect(writer >= 0, "nobody waits at the other end any more")
        let outcome = try #require(opening.outcome.wait(for: { $0 }))
        close(writer)
        #expect(throws: Never.self) { try outcome.get() }
    }

    /// Waits until the thread sleeps in the kernel, or is done.
    private func waitUntilAsleep(_ thread: String, _ opening: Opening) {
        while opening.outcome.withLock({ $0 == nil }) {
            let descriptor = Glibc.open(thread + "/stat", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = max(0, read(descriptor, &bytes, bytes.count))
            close(descriptor)
            // "12 (name) S …"
            let state = bytes[..<count].lastIndex(of: UInt8(ascii: ")")).map { bytes[$0 + 2] }
            if state == UInt8(ascii: "S") { return }
            sched_yield()
        }
    }
}
