public import SynclogJournal

/// A hint that a database has changed; it may be lost, doubled or late.
public struct ChangeHint: Hashable, Sendable {
    /// The database.
    public var database: DatabaseID

    /// Makes a hint.
    public init(database: DatabaseID) { self.database = database }
}

extension JournalDatabase {
    /// Hints that the database has changed, until the reader stops or the database is closed.
    ///
    /// The first hint comes at once: what is fetched after it and what is hinted at later leaves no gap. Hints that nobody has read yet are joined into one. Everything works without them.
    public func changeHints() -> AsyncStream<ChangeHint> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ChangeHint.self, bufferingPolicy: .bufferingNewest(1))
        let stopped = Monitor(false)
        continuation.onTermination = { _ in stopped.withLock { state in state = true } }
        let journal = journal
        startThread {
            do throws(JournalError) {
                var last = try journal.head().commit
                continuation.yield(ChangeHint(database: journal.id))
                while !stopped.withLock({ state in state }) {
                    guard try journal.waitForChange(after: last, timeout: .seconds(2)) else { continue }
                    last = try journal.head().commit
                    continuation.yield(ChangeHint(database: journal.id))
                }
            } catch {
                // The reader sees the end of the hints; the next request tells what is wrong.
            }
            continuation.finish()
        }
        return stream
    }
}
