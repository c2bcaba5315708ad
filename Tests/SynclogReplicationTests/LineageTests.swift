import SynclogJournal
import Testing

@testable import SynclogReplication

@Suite struct LineageTests {
    private static func sessions(_ list: [(UInt64, UInt64)]) -> [SessionInfo] {
        list.map { SessionInfo(label: $0.0, commit: $0.1, clock: 0) }
    }

    @Test(
        arguments: [
            // The copy was made at 100, both went on.
            ([(1, 1)], 150, [(2, 101), (1, 1)], 300, 100),
            ([(3, 101), (1, 1)], 150, [(2, 101), (1, 1)], 300, 100),
            // The copy went on later than the original's next session.
            ([(3, 81), (1, 1)], 150, [(1, 1)], 300, 80),
            // The source lost its end.
            ([(1, 1)], 150, [(1, 1)], 90, 90),
            ([(2, 95), (1, 1)], 150, [(1, 1)], 90, 90),
            // Several sessions back.
            ([(4, 40), (3, 30), (2, 20), (1, 1)], 50, [(9, 35), (8, 25), (2, 20), (1, 1)], 60, 24),
            // Nothing in common.
            ([(1, 1)], 10, [(2, 1)], 20, nil),
            ([], 10, [(2, 1)], 20, nil),
            // The same label at another place is another session.
            ([(1, 5)], 10, [(1, 6)], 20, nil),
        ] as [([(UInt64, UInt64)], UInt64, [(UInt64, UInt64)], UInt64, UInt64?)])
    func `the last common commit is where two histories part`(
        own: [(UInt64, UInt64)], ownHead: UInt64, other: [(UInt64, UInt64)], otherHead: UInt64,
        common: UInt64?
    ) {
        let found = Lineage.lastCommon(
            Self.sessions(own), through: ownHead, Self.sessions(other), through: otherHead)
        #expect(found == common)
    }
}

@Suite struct BackoffTests {
    @Test func `waits double up to a minute and start again after progress`() {
        var backoff = Backoff()
        let most = (0..<12).map { _ in backoff.next(random: .max) }
        for (earlier, later) in zip(most, most.dropFirst()) { #expect(later >= earlier) }
        #expect(most[0] <= .milliseconds(500) && most[1] > .milliseconds(990) && most[11] <= .seconds(60))
        backoff.reset()
        #expect(backoff.next(random: 0) == .milliseconds(250))
    }
}

@Suite struct FollowerStateTests {
    static let dropped: FollowerState = {
        var state = FollowerState(source: someID, zones: nil, holder: [1], replacedBy: "copy")
        state.isDropped = true
        return state
    }()

    @Test(arguments: [
        dropped,
        FollowerState(source: someID, zones: nil, holder: [UInt8](0..<16)),
        FollowerState(source: someID, zones: ZoneNames([]), holder: []),
        FollowerState(source: someID, zones: ZoneNames(["é", "e\u{301}"]), holder: [1], replacedBy: "copy"),
    ])
    func `it reads back as it was written, and with items of a newer version`(state: FollowerState) {
        #expect(FollowerState(state.bytes) == state)
        var longer = state.bytes
        longer[0] += 1
        #expect(FollowerState(longer + [0x05]) == state)
        for end in 0..<state.bytes.count { #expect(FollowerState(Array(state.bytes[..<end])) == nil) }
    }

    @Test func `two names that look alike are two zones`() {
        #expect(ZoneNames(["é", "e\u{301}", "é"]).names.count == 2)
        #expect(ZoneNames(["b", "a"]) == ZoneNames(["a", "b", "a"]))
    }
}
