import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

private let otherID = JournalID(high: 9, low: 9)
private let cut = ReplicationError.unreachable(source: "the source", reason: "the connection ended")

private func local(
    _ head: UInt64, id: JournalID = someID, zones: ZoneNames? = nil
) -> ReplicationSession.Local {
    ReplicationSession.Local(
        journal: id, zones: zones, head: head,
        cursor: head == 0 ? nil : Cursor(kind: .journal, journal: id, session: 1, position: .end(of: head)))
}

private func greeting(_ head: UInt64, id: JournalID = someID, zones: ZoneNames? = nil) -> SourceGreeting {
    SourceGreeting(
        journal: id, head: JournalHead(commit: head, session: 1, recoveryPending: false), zones: zones)
}

private func caughtUp(_ head: UInt64, pending: Bool = false) -> ReplicationSession.Input {
    .event(.caughtUp(JournalHead(commit: head, session: 1, recoveryPending: pending)))
}

/// What a machine does, in words that fit in a table.
private func word(_ action: ReplicationSession.Action) -> String {
    switch action {
    case .connect: "connect"
    case .create: "create"
    case .refresh: "refresh"
    case .openShadow(_, _, let fresh): fresh ? "fresh shadow" : "shadow"
    case .follow(let request): "follow \(request.cursor.map { String($0.position.commit) } ?? "start")"
    case .read: "read"
    case .append(let blocks): "append \(blocks.map { String($0.lastCommit) }.joined(separator: ","))"
    case .swap(let keepsOld): keepsOld ? "swap, keep" : "swap"
    case .wait: "wait"
    case .finish: "finish"
    case .fail(let error):
        switch error {
        case .stopped(.rolledBack(let common, _)): "rolled back \(common.map { String($0) } ?? "?")"
        case .stopped(.foreign): "foreign"
        case .stopped(.ahead): "ahead"
        case .stopped(.expired): "expired"
        case .stopped(.otherZones): "other zones"
        case .stopped(.filteredSource): "filtered source"
        case .stopped(.unknownZone): "unknown zone"
        case .protocolViolation: "protocol"
        case .unreachable: "unreachable"
        case .journal: "journal"
        case .sourceFailed: "source failed"
        default: "other"
        }
    }
}

private struct Script: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var settings = ReplicationSession.Settings()
    var inputs: [ReplicationSession.Input]
    var actions: [String]
}

private let once = ReplicationSession.Settings()
private let live = ReplicationSession.Settings(live: true, reconnects: true)
private let liveDirectory = ReplicationSession.Settings(live: true)
private let rebuild = ReplicationSession.Settings(rebuild: true)
private let oneZone = ReplicationSession.Settings(zones: ZoneNames(["a"]))

private let scripts: [Script] = [
    Script(
        testDescription: "a new copy",
        inputs: [
            .found(nil), .connected(greeting(3)), .opened(local(0)),
            .event(.blocks([block(1), block(2, 3)])),
            .appended(head: 3), caughtUp(3),
        ], actions: ["connect", "create", "follow start", "append 1,3", "read", "finish"]),
    Script(
        testDescription: "nothing new",
        inputs: [.found(local(3)), .connected(greeting(3)), caughtUp(3)],
        actions: ["connect", "follow 3", "finish"]),
    Script(
        testDescription: "an empty source",
        inputs: [.found(nil), .connected(greeting(0)), .opened(local(0)), caughtUp(0)],
        actions: ["connect", "create", "follow start", "finish"]),
    Script(
        testDescription: "a commit in pieces is stored when it is whole",
        inputs: [
            .found(local(1)), .connected(greeting(3)),
            .event(.blocks([block(2), block(3, ends: false)])), .appended(head: 2),
            .event(.blocks([block(3, ends: false)])), .event(.blocks([block(3)])), .appended(head: 3),
            caughtUp(3),
        ], actions: ["connect", "follow 1", "append 2", "read", "read", "append 3,3,3", "read", "finish"]),
    Script(
        testDescription: "an end inside a commit",
        inputs: [
            .found(local(1)), .connected(greeting(3)), .event(.blocks([block(2, ends: false)])), caughtUp(2),
        ],
        actions: ["connect", "follow 1", "read", "protocol"]),
    Script(
        testDescription: "live goes on", settings: live,
        inputs: [
            .found(local(1)), .connected(greeting(1)), caughtUp(1), .event(.blocks([block(2)])),
            .appended(head: 2),
            caughtUp(2), .stopAsked,
        ], actions: ["connect", "follow 1", "read", "append 2", "read", "read", "finish"]),
    Script(
        testDescription: "live comes back after a cut and asks from its head", settings: live,
        inputs: [
            .found(local(1)), .connected(greeting(5)), .event(.blocks([block(2), block(3, ends: false)])),
            .appended(head: 2), .failed(cut), .waited, .failed(cut), .waited, .connected(greeting(5)),
            .opened(local(2)), .event(.blocks([block(3)])), .appended(head: 3),
        ],
        actions: [
            "connect", "follow 1", "append 2", "read", "wait", "connect", "wait", "connect", "refresh",
            "follow 2",
            "append 3", "read",
        ]),
    Script(
        testDescription: "once ends with a cut",
        inputs: [.found(local(1)), .connected(greeting(5)), .failed(cut)],
        actions: ["connect", "follow 1", "unreachable"]),
    Script(
        testDescription: "live that never reached its source ends", settings: live,
        inputs: [.found(local(1)), .failed(cut)], actions: ["connect", "unreachable"]),
    Script(
        testDescription: "a directory is not reached again", settings: liveDirectory,
        inputs: [.found(local(1)), .connected(greeting(1)), .failed(cut)],
        actions: ["connect", "follow 1", "unreachable"]),
    Script(
        testDescription: "a full disk is not tried again", settings: live,
        inputs: [
            .found(local(1)), .connected(greeting(2)), .event(.blocks([block(2)])),
            .failed(.journal(.file(FileError(call: "pwrite", path: "x", code: 28)))),
        ], actions: ["connect", "follow 1", "append 2", "journal"]),
    Script(
        testDescription: "another journal", inputs: [.found(local(1)), .connected(greeting(1, id: otherID))],
        actions: ["connect", "foreign"]),
    Script(
        testDescription: "another journal after a reconnect", settings: live,
        inputs: [
            .found(local(1)), .connected(greeting(1)), .failed(cut), .waited,
            .connected(greeting(1, id: otherID)),
        ], actions: ["connect", "follow 1", "wait", "connect", "foreign"]),
    Script(
        testDescription: "rolled back",
        inputs: [.found(local(9)), .connected(greeting(20)), .event(.refused(.rolledBack(common: 4)))],
        actions: ["connect", "follow 9", "rolled back 4"]),
    Script(
        testDescription: "ahead",
        inputs: [.found(local(9)), .connected(greeting(5)), .event(.refused(.ahead(head: 5)))],
        actions: ["connect", "follow 9", "ahead"]),
    Script(
        testDescription: "a source that ends before its own word",
        inputs: [.found(local(9)), .connected(greeting(9)), caughtUp(5)],
        actions: ["connect", "follow 9", "protocol"]),
    Script(
        testDescription: "a source that says too soon that it is done",
        inputs: [.found(local(9)), .connected(greeting(12)), caughtUp(12)],
        actions: ["connect", "follow 9", "protocol"]),
    Script(
        testDescription: "a source that must recover first",
        inputs: [.found(local(9)), .connected(greeting(5)), caughtUp(5, pending: true)],
        actions: ["connect", "follow 9", "finish"]),
    Script(
        testDescription: "expired: made anew beside, then changed for the old one",
        inputs: [
            .found(local(9)), .connected(greeting(30)), .event(.refused(.expired(floor: 20))),
            .opened(local(0)),
            .event(.blocks([block(20, 30)])), .appended(head: 30), caughtUp(30), .swapped,
        ],
        actions: ["connect", "follow 9", "shadow", "follow start", "append 30", "read", "swap", "finish"]),
    Script(
        testDescription: "expired: an earlier attempt goes on", settings: live,
        inputs: [
            .found(local(9)), .connected(greeting(30)), .event(.refused(.expired(floor: 20))),
            .opened(local(25)),
            .failed(cut), .waited, .connected(greeting(30)), .opened(local(25)), .event(.blocks([block(30)])),
            .appended(head: 30), caughtUp(30), .swapped, .stopAsked,
        ],
        actions: [
            "connect", "follow 9", "shadow", "follow 25", "wait", "connect", "shadow", "follow 25",
            "append 30",
            "read", "swap", "read", "finish",
        ]),
    Script(
        testDescription: "expired: an earlier attempt that expired too is dropped once",
        inputs: [
            .found(local(9)), .connected(greeting(30)), .event(.refused(.expired(floor: 20))),
            .opened(local(15)),
            .event(.refused(.expired(floor: 20))), .opened(local(0)), .event(.refused(.expired(floor: 21))),
        ],
        actions: [
            "connect", "follow 9", "shadow", "follow 15", "fresh shadow", "follow start", "expired",
        ]),
    Script(
        testDescription: "a rebuild that was asked for keeps the old copy", settings: rebuild,
        inputs: [
            .found(local(9)), .connected(greeting(2, id: otherID)), .opened(local(0, id: otherID)),
            .event(.blocks([block(1, 2)])), .appended(head: 2), caughtUp(2), .swapped,
        ],
        actions: ["connect", "shadow", "follow start", "append 2", "read", "swap, keep", "finish"]),
    Script(
        testDescription: "a rebuild of nothing is a new copy", settings: rebuild,
        inputs: [.found(nil), .connected(greeting(0)), .opened(local(0)), caughtUp(0)],
        actions: ["connect", "create", "follow start", "finish"]),
    Script(
        testDescription: "a rebuild whose source is changed for another meanwhile",
        settings: ReplicationSession.Settings(live: true, rebuild: true, reconnects: true),
        inputs: [
            .found(local(9)), .connected(greeting(2)), .opened(local(0)), .failed(cut), .waited,
            .connected(greeting(2, id: otherID)),
        ], actions: ["connect", "shadow", "follow start", "wait", "connect", "foreign"]),
    Script(
        testDescription: "a damaged follower", inputs: [.foundDamaged(.journal(.notAJournal(path: "x")))],
        actions: ["journal"]),
    Script(
        testDescription: "a damaged follower, rebuild asked", settings: rebuild,
        inputs: [
            .foundDamaged(.journal(.notAJournal(path: "x"))), .connected(greeting(0)), .opened(local(0)),
        ],
        actions: ["connect", "shadow", "follow start"]),
    Script(
        testDescription: "a filtered follower asked for all zones",
        inputs: [.found(local(1, zones: ZoneNames(["a"]))), .connected(greeting(1))],
        actions: ["connect", "other zones"]),
    Script(
        testDescription: "a filtered follower and the same zones", settings: oneZone,
        inputs: [.found(local(1, zones: ZoneNames(["a"]))), .connected(greeting(1))],
        actions: ["connect", "follow 1"]),
    Script(
        testDescription: "a filtered source asked for all zones",
        inputs: [.found(nil), .connected(greeting(1, zones: ZoneNames(["a"])))],
        actions: ["connect", "filtered source"]),
    Script(
        testDescription: "a filtered source and the same zones", settings: oneZone,
        inputs: [.found(nil), .connected(greeting(1, zones: ZoneNames(["a"])))],
        actions: ["connect", "create"]),
    Script(
        testDescription: "a zone that never was", settings: oneZone,
        inputs: [
            .found(nil), .connected(greeting(1)), .opened(local(0)), .event(.refused(.unknownZone("a"))),
        ],
        actions: ["connect", "create", "follow start", "unknown zone"]),
    Script(
        testDescription: "blocks that bring nothing new",
        inputs: [
            .found(local(9)), .connected(greeting(12)), .event(.blocks([block(3)])),
        ],
        actions: ["connect", "follow 9", "protocol"]),
    Script(
        testDescription: "another run on the same copy is further",
        inputs: [
            .found(local(9)), .connected(greeting(12)), .event(.blocks([block(10)])), .appended(head: 12),
            .event(.blocks([block(11)])), .appended(head: 12), .event(.blocks([block(12)])),
            .appended(head: 13),
            caughtUp(12),
        ],
        actions: [
            "connect", "follow 9", "append 10", "read", "append 11", "read", "append 12", "read", "finish",
        ]),
    Script(
        testDescription: "no blocks at all",
        inputs: [.found(local(9)), .connected(greeting(12)), .event(.blocks([]))],
        actions: ["connect", "follow 9", "protocol"]),
    Script(
        testDescription: "blocks before anything was asked for",
        inputs: [.found(local(9)), .event(.blocks([block(10)]))], actions: ["connect", "protocol"]),
    Script(
        testDescription: "a greeting in between",
        inputs: [.found(local(9)), .connected(greeting(12)), .connected(greeting(12))],
        actions: ["connect", "follow 9", "protocol"]),
    Script(
        testDescription: "stopped while connecting", settings: live,
        inputs: [.found(local(9)), .stopAsked, .waited],
        actions: ["connect", "finish", "finish"]),
]

@Suite struct ReplicationSessionTests {
    @Test(arguments: scripts)
    fileprivate func `the machine does what the script says`(script: Script) {
        var session = ReplicationSession(script.settings)
        #expect(script.inputs.map { word(session.handle($0)) } == script.actions)
    }

    @Test(
        arguments: [
            ([block(2), block(2)], "commit 2 after commit 2"),
            ([block(3), block(2)], "commit 2 after commit 3"),
            ([block(2, 4), block(3)], "commit 3 after commit 4"),
            ([block(2, 4, ends: false), block(3)], "commit 3 after commit 4"),
            ([block(0)], "from commit 0"),
            ([block(5, 4)], "from commit 5 to 4"),
        ] as [([JournalBlock], String)])
    func `blocks out of order are refused`(blocks: [JournalBlock], what: String) {
        var sequence = BlockSequence()
        let faults = blocks.compactMap { sequence.fault(in: $0) }
        #expect(faults.count == 1 && faults[0].contains(what))
    }

    @Test func `a block with changed bytes or an impossible size is refused`() {
        var sequence = BlockSequence()
        var changed = block(1)
        changed.payload[0] ^= 1
        #expect(sequence.fault(in: changed)?.contains("checksum") == true)
        changed = block(1)
        changed.rawSize = UInt32(FormatLimits.blockRawSizeMax) + 1
        #expect(sequence.fault(in: changed)?.contains("bytes") == true)
        #expect(sequence.fault(in: block(1)) == nil)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `no order of events stores part of a commit or goes back`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let settings = ReplicationSession.Settings(
                live: .random(using: &generator), rebuild: .random(using: &generator),
                reconnects: .random(using: &generator))
            var session = ReplicationSession(settings)
            var head: UInt64 = 0
            var action = session.handle(.found(Bool.random(using: &generator) ? nil : local(5)))
            if case .connect = action, session.head == 5 { head = 5 }
            for _ in 0..<40 {
                if case .append(let blocks) = action {
                    #expect(blocks.last?.endsCommit == true, "seed \(seed)")
                }
                // Mostly what fits, sometimes anything.
                let fits = Int.random(in: 0..<8, using: &generator) > 0
                let input: ReplicationSession.Input
                switch (fits, action) {
                case (true, .connect): input = .connected(greeting(head + 3))
                case (true, .refresh): input = .opened(local(session.head))
                case (true, .create), (true, .openShadow):
                    head = 0
                    input = .opened(local(0))
                case (true, .follow), (true, .read):
                    let next = session.head + UInt64.random(in: 1...3, using: &generator)
                    input =
                        Bool.random(using: &generator)
                        ? .event(.blocks([block(next, ends: .random(using: &generator))]))
                        : caughtUp(session.head)
                case (true, .append(let blocks)):
                    head = blocks.last?.lastCommit ?? head
                    input = .appended(head: head)
                case (true, .swap): input = .swapped
                case (true, .wait): input = .waited
                default:
                    input = [
                        .failed(cut), .waited, .swapped, caughtUp(1), .event(.blocks([block(1)])), .stopAsked,
                    ]
                    .randomElement(using: &generator)!
                }
                let before = session.head
                action = session.handle(input)
                switch action {
                case .finish, .fail: break
                case .follow: head = session.head
                default: #expect(session.head >= before, "seed \(seed)")
                }
            }
        }
    }
}
