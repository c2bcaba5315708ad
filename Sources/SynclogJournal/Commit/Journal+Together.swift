extension Journal {
    /// Queues several commits before the first is made, so that they form one group; the outcome of each, in order.
    @available(*, noasync)
    package func commitTogether<Result: Sendable>(
        _ decisions: [@Sendable (inout CommitTransaction) throws(JournalError) -> Result]
    ) -> [Swift.Result<Committed<Result>, JournalError>] {
        let calls = decisions.map { CommitCall($0) }
        let requests = calls.map { $0.request() }
        for request in requests { turn.submit(request) }
        let outcomes = zip(calls, requests).map {
            call, request -> Swift.Result<Committed<Result>, JournalError> in
            do throws(JournalError) {
                return .success(call.committed(try turn.work(until: request)))
            } catch {
                return .failure(error)
            }
        }
        compactAfterRoll()
        return outcomes
    }
}
