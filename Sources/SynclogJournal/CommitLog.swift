/// A log of commits that decides apart from appending.
///
/// A request is a pure function of the state at a position; the log calls it and appends what it returns only if
/// nothing else was appended in between. A file log calls it under its lock. A log that cannot lock calls
/// it again after a conflict.
public protocol CommitLog: Sendable {
    /// The identity of the log.
    var id: JournalID { get }

    /// The last durable commit.
    func head() async throws(JournalError) -> JournalHead

    /// Calls `decide` on the newest state and makes its entries one durable commit.
    ///
    /// `decide` may be called more than once and must not have effects. When it adds no entry nothing is written; the
    /// result is then based on durable state all the same.
    /// - Returns: What `decide` returned, with the position of the commit; it is durable.
    func commit<Result: Sendable>(
        device: UInt32, _ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Result
    ) async throws(JournalError) -> Committed<Result>

    /// Returns when there is a commit after `commit`, or after the timeout.
    /// - Returns: Whether there is a later commit.
    func waitForChange(after commit: UInt64, timeout: Duration) async throws(JournalError) -> Bool
}

/// What a durable commit returns.
public struct Committed<Result: Sendable>: Sendable {
    /// What the deciding closure returned.
    public var result: Result
    /// The facts of the commit, or nil when no entry was added.
    public var commit: CommitInfo?
    /// The head after the commit.
    public var head: JournalHead
}
