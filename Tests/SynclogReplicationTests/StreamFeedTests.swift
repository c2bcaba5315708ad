import SynclogJournal
import Testing

@testable import SynclogReplication

/// What is received ahead, and when it is handed over.
@Suite struct StreamFeedTests {
    private let head = JournalHead(commit: 9, session: 1, recoveryPending: false)

    /// A feed that asked for everything, and its other side.
    private func feed(timeout: Duration) throws -> (StreamFeed, WireConnection) {
        let (ours, theirs) = try streamPair()
        let feed = StreamFeed(
            WireConnection(ours), greeting: SourceGreeting(journal: JournalID(high: 1, low: 2), head: head),
            timeout: timeout)
        try feed.follow(FollowRequest(cursor: nil, zones: nil, live: true, sessions: []))
        return (feed, WireConnection(theirs))
    }

    @Test func `blocks on the way to the head go together, and later ones at once`() async throws {
        // Who waits already when the first one comes would take it alone, if not each time.
        for _ in 0..<50 {
            let (feed, source) = try feed(timeout: .seconds(60))
            defer { feed.close() }
            async let first = outcome { () throws(ReplicationError) in try feed.next() }
            for number in 1...3 as ClosedRange<UInt64> { try source.send(.blocks(id: 1, [block(number)])) }
            try source.send(.caughtUp(id: 1, head))
            #expect(try await first.get() == .blocks([block(1), block(2), block(3)]))
            #expect(try feed.next() == .caughtUp(head))
            for number in 4...5 as ClosedRange<UInt64> {
                try source.send(.blocks(id: 1, [block(number)]))
                #expect(try feed.next() == .blocks([block(number)]))
            }
        }
    }

    @Test func `blocks that fill half of the room do not wait for more`() throws {
        let (feed, source) = try feed(timeout: .seconds(60))
        defer { feed.close() }
        let large = block(1, payload: [UInt8](repeating: 7, count: 100_000))
        try source.send(.blocks(id: 1, [large]))
        #expect(try feed.next() == .blocks([large]))
    }

    @Test func `what came before a source falls silent is stored all the same`() throws {
        let (feed, source) = try feed(timeout: .milliseconds(300))
        defer { feed.close() }
        try source.send(.blocks(id: 1, [block(1)]))
        #expect(try feed.next() == .blocks([block(1)]))
        #expect(throws: ReplicationError.timeout(source: "one", waitedFor: "blocks")) { try feed.next() }
        source.close()
    }

    @Test func `what came before a connection breaks is stored all the same`() throws {
        let (feed, source) = try feed(timeout: .seconds(60))
        defer { feed.close() }
        try source.send(.blocks(id: 1, [block(1)]))
        source.close()
        #expect(try feed.next() == .blocks([block(1)]))
        #expect(throws: ReplicationError.self) { try feed.next() }
    }
}
