extension Journal {
    /// Queues several commits before the first is made, so that they form one group; the outcome of each, in order.
    @available(*, noasync)
    package func commitTogether<Result: Sendable>(
        _ decisions: [@Sendable (inout CommitTransaction) throws(JournalError) -> Result]
    ) -> [Swift.Result<Committed<Result>, JournalError>] {
        let calls = decisions.map { CommitCall($0) }
        for call in calls { turn.submit(call.request(device: 0, relaxed: false)) }
        let outcomes = calls.map { call -> Swift.Result<Committed<Result>, JournalError> in
            do throws(JournalError) { return .success(try call.wait(turn)) } catch { return .failure(error) }
        }
        compactAfterRoll()
        return outcomes
    }
}
