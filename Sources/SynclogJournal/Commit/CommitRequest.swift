/// One call of `commit` on its way through the queue.
///
/// Sendable: `decide` and `finish` are called by the one thread that holds the journal's turn; `finish` hands the outcome over
/// under the queue's lock or through a continuation.
final class CommitRequest: @unchecked Sendable {
    /// The facts a caller is given besides its own result.
    struct Outcome: Sendable {
        var commit: CommitInfo?
        var head: JournalHead
    }

    let device: UInt32
    let relaxed: Bool
    /// Runs the caller's closure and keeps its result.
    let decide: (inout CommitTransaction) throws(JournalError) -> Void
    /// Called once, with the outcome.
    let finish: (Swift.Result<Outcome, JournalError>) -> Void

    init(
        device: UInt32, relaxed: Bool,
        decide: @escaping (inout CommitTransaction) throws(JournalError) -> Void,
        finish: @escaping (Swift.Result<Outcome, JournalError>) -> Void
    ) {
        self.device = device
        self.relaxed = relaxed
        self.decide = decide
        self.finish = finish
    }
}
