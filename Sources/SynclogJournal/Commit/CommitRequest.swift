/// One call of `commit` on its way through the queue.
///
/// Sendable: `decide` and `finish` are called by the one thread that holds the journal's turn; another one reads the outcome
/// only after it found `isDone` set under the queue's lock, or is handed it by `notify`.
final class CommitRequest: @unchecked Sendable {
    /// The facts a caller is given besides its own result.
    struct Facts: Sendable {
        var commit: CommitInfo?
        var head: JournalHead
    }

    typealias Outcome = Result<Facts, JournalError>

    let device: UInt32
    let relaxed: Bool
    /// Runs the caller's closure and keeps its result.
    let decide: (inout CommitTransaction) throws(JournalError) -> Void
    private let notify: (@Sendable (Outcome) -> Void)?
    private(set) var outcome: Outcome?
    /// Whether the turn was given back after the outcome was there; set and read under the queue's lock.
    var isDone = false

    init(
        device: UInt32 = 0, relaxed: Bool = false, notify: (@Sendable (Outcome) -> Void)? = nil,
        decide: @escaping (inout CommitTransaction) throws(JournalError) -> Void
    ) {
        self.device = device
        self.relaxed = relaxed
        self.notify = notify
        self.decide = decide
    }

    /// Called once.
    func finish(_ outcome: Outcome) {
        self.outcome = outcome
        notify?(outcome)
    }
}

/// A caller's closure and its result.
///
/// Sendable: `value` is set by the thread that runs the request and read by the caller once the outcome is there.
final class CommitCall<Value: Sendable>: @unchecked Sendable {
    private let closure: @Sendable (inout CommitTransaction) throws(JournalError) -> Value
    private var value: Value?

    init(_ decide: @escaping @Sendable (inout CommitTransaction) throws(JournalError) -> Value) {
        closure = decide
    }

    /// The request to queue; `notify` is called with the outcome.
    func request(
        device: UInt32 = 0, relaxed: Bool = false,
        notify: (@Sendable (CommitRequest.Outcome) -> Void)? = nil
    ) -> CommitRequest {
        CommitRequest(device: device, relaxed: relaxed, notify: notify) { transaction throws(JournalError) in
            self.value = try self.closure(&transaction)
        }
    }

    /// What the caller is given once its request succeeded.
    func committed(_ facts: CommitRequest.Facts) -> Committed<Value> {
        guard let value else { preconditionFailure("a commit succeeded whose closure never ran") }
        return Committed(result: value, commit: facts.commit, head: facts.head)
    }
}
