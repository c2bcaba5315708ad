internal import Glibc

/// Whose turn it is at the head of a journal: one thread at a time commits or catches up, the others queue.
///
/// The first to come leads: it makes one group of all that queue, and what comes meanwhile forms the next group.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var isClosed = false
        var requests: [CommitRequest] = []
        /// The number of requests in the last group.
        var groupSize = 0
        var threadRuns = false
        var rolled = false
        var compacts = false
        /// Nil when closed.
        var snapshot: JournalSnapshot?
    }

    /// The head itself.
    ///
    /// Sendable: touched only by the thread for which `isTaken` was set.
    private final class Owned: @unchecked Sendable {
        let live: LiveJournal
        init(_ live: LiveJournal) { self.live = live }
    }

    /// After so many looks without a new request nobody is waited for.
    private static let idleYieldsMax = 3

    private let owned: Owned
    private let state: Monitor<State>

    init(live: sending LiveJournal, snapshot: JournalSnapshot) {
        owned = Owned(live)
        state = Monitor(State(snapshot: snapshot))
    }

    /// The durable content as it was known last.
    func snapshot() throws(JournalError) -> JournalSnapshot {
        guard let snapshot = state.withLock({ $0.snapshot }) else { throw .closed }
        return snapshot
    }

    /// Whether `close` was called.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Runs a body alone with the head.
    func exclusively<Result>(_ body: (LiveJournal) throws(JournalError) -> Result) throws(JournalError)
        -> Result
    {
        let open = state.wait { state -> Bool? in
            if state.isTaken { return nil }
            if state.isClosed { return false }
            state.isTaken = true
            return true
        }
        guard open == true else { throw .closed }
        defer { giveBack() }
        return try body(owned.live)
    }

    /// The durable content after catching up with other processes.
    func refreshed() throws(JournalError) -> JournalSnapshot {
        try exclusively { live throws(JournalError) in
            try live.refresh()
            return try live.snapshot()
        }
    }

    /// Gives the turn back with the requests that have their outcome, and those that go to the front of the queue again.
    private func giveBack(done: ArraySlice<CommitRequest> = [], rest: [CommitRequest] = []) {
        let snapshot = owned.live.isHalfLoaded ? nil : try? owned.live.snapshot()
        let rolled = owned.live.rolled
        owned.live.rolled = false
        state.withLock { state in
            state.isTaken = false
            for request in done { request.isDone = true }
            if !rest.isEmpty { state.requests.insert(contentsOf: rest, at: 0) }
            if rolled { state.rolled = true }
            if let snapshot { state.snapshot = snapshot }
        }
        state.wakeAll()
    }

    /// Whether a segment was sealed since the last call and nobody compacts; then the caller does, and says when it is done.
    func beginCompaction() -> Bool {
        state.withLock { state in
            guard state.rolled, !state.compacts, !state.isClosed else { return false }
            state.rolled = false
            state.compacts = true
            return true
        }
    }

    /// Whether `beginCompaction` would say yes.
    var wantsCompaction: Bool { state.withLock { $0.rolled && !$0.compacts && !$0.isClosed } }

    /// The compaction that `beginCompaction` allowed is done.
    func endCompaction() { state.withLock { $0.compacts = false } }

    /// Queues a request whose outcome the caller waits for with `work`.
    func submit(_ request: CommitRequest) { state.withLock { $0.requests.append(request) } }

    /// Queues a request whose outcome arrives by its `notify` alone.
    func submitAsync(_ request: CommitRequest) {
        let start = state.withLock { state in
            state.requests.append(request)
            defer { state.threadRuns = true }
            return !state.threadRuns
        }
        state.wakeAll()
        if start { startThread { [self] in runThread() } }
    }

    /// Leads groups for those who do not wait themselves, until the queue is empty.
    private func runThread() {
        while true {
            let goOn = state.wait { state -> Bool? in
                if state.requests.isEmpty {
                    state.threadRuns = false
                    return false
                }
                if state.isTaken { return nil }
                state.isTaken = true
                return true
            }
            if goOn != true { return }
            leadGroup()
        }
    }

    /// Leads groups until a request's outcome is there.
    func work(until request: CommitRequest) throws(JournalError) -> CommitRequest.Facts {
        while true {
            let isDone = state.wait { state -> Bool? in
                if request.isDone { return true }
                if state.isTaken { return nil }
                state.isTaken = true
                return false
            }
            if isDone == true, let outcome = request.outcome { return try outcome.get() }
            leadGroup()
        }
    }

    /// Lets those who were in the last group come back as long as more of them do: one sync for all instead of two.
    private func gather() {
        var (count, expected) = state.withLock { ($0.requests.count, $0.groupSize) }
        var idle = 0
        while count < expected, idle < Self.idleYieldsMax {
            sched_yield()
            let now = state.withLock { $0.requests.count }
            idle = now > count ? 0 : idle + 1
            count = now
        }
    }

    private func leadGroup() {
        gather()
        let (requests, isClosed) = state.withLock { state in
            defer { state.requests = [] }
            state.groupSize = state.requests.count
            return (state.requests, state.isClosed)
        }
        var rest: [CommitRequest] = []
        if isClosed {
            for request in requests { request.finish(.failure(.closed)) }
        } else if !requests.isEmpty {
            rest = owned.live.run(requests)
        }
        giveBack(done: requests.dropLast(rest.count), rest: rest)
    }

    /// Makes relaxed commits durable, gives lock and files back and refuses further use.
    func close() {
        try? exclusively { live throws(JournalError) in
            live.close()
            // Before anybody else has the turn: a merge in the background would take the lock again, and keep it.
            state.withLock { ($0.isClosed, $0.snapshot) = (true, nil) }
        }
    }
}
