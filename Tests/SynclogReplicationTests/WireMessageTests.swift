import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

let someID = JournalID(high: 0x0123_4567_89AB_CDEF, low: .max)
let someCursor = Cursor(
    kind: .journal, journal: someID, session: .max, position: .end(of: 77), scope: 5, bound: 9)

/// One message of each kind and more, with the extremes of each field.
let someMessages: [WireMessage] = [
    .hello(WireHello()),
    .hello(
        WireHello(
            journal: someID, head: JournalHead(commit: .max, session: 1, recoveryPending: true),
            zones: ZoneNames(["é", "e\u{301}", ""]), container: "local", owner: "me")),
    .follow(id: 1, FollowRequest(cursor: nil, zones: nil, live: false, sessions: [])),
    .follow(
        id: .max,
        FollowRequest(
            cursor: someCursor, zones: ZoneNames(["b", "a"]), live: true,
            sessions: [
                SessionInfo(label: 3, commit: 70, clock: .min), SessionInfo(label: 2, commit: 1, clock: .max),
            ], holder: [UInt8](1...16))),
    .blocks(
        id: 2,
        [
            block(1), block(2, 9, ends: false, payload: []),
            block(9, payload: [UInt8](repeating: 7, count: 70_000)),
        ]),
    .caughtUp(id: 3, JournalHead(commit: 9, session: 8, recoveryPending: false)),
    .refused(id: 4, .expired(floor: 12)),
    .refused(id: 4, .rolledBack(common: nil)),
    .refused(id: 4, .rolledBack(common: 100)),
    .refused(id: 4, .foreign(found: someID)),
    .refused(id: 4, .ahead(head: 3)),
    .refused(id: 4, .filtered(zones: ZoneNames(["z"]))),
    .refused(id: 4, .unknownZone("z")),
    .refused(id: 4, .malformed),
    .refused(id: 4, .failed(reason: "the disk is gone")),
    .request(id: 5, [0x80]),
    .answer(id: 5, []),
    .failure(id: 5, [UInt8](repeating: 0, count: 300)),
    .subscribe(id: 6),
    .changed(id: 6, JournalHead(commit: 10, session: 8, recoveryPending: false)),
    .error(code: .protocolViolation, reason: "why"),
    .error(code: WireErrorCode(rawValue: 999), reason: ""),
    .bye,
]

@Suite struct WireMessageTests {
    @Test(arguments: someMessages)
    func `a message reads back as it was written`(message: WireMessage) throws {
        #expect(try messages(in: message.frame) == [message])
    }

    @Test(arguments: someMessages)
    func `a message cut anywhere is an error`(message: WireMessage) throws {
        let item = Array(message.frame.dropFirst(4))
        let ends = item.count < 1000 ? Array(0..<item.count) : Array(stride(from: 0, to: item.count, by: 997))
        for end in ends {
            #expect(throws: WireError.self) { try WireMessage(item: Array(item[..<end])) }
        }
    }

    @Test(arguments: someMessages)
    func `items that a newer version adds are skipped`(message: WireMessage) throws {
        var item = Array(message.frame.dropFirst(4))
        try #require(item[0] >> 5 == 4 && item[0] & 31 < 22)
        item[0] += 2
        item += [0xF6, 0x82, 0x01, 0x61, 0x78]
        #expect(try WireMessage(item: item) == message)
    }

    @Test func `bytes behind the item are an error`() {
        #expect(throws: WireError.self) {
            try WireMessage(item: Array(WireMessage.bye.frame.dropFirst(4)) + [0])
        }
    }

    @Test func `an unknown message is ignored or refused by its number`() throws {
        func item(_ kind: UInt64) -> [UInt8] {
            var writer = CBORWriter()
            writer.array(2)
            writer.unsigned(kind)
            writer.text("something new")
            return writer.bytes
        }
        #expect(try WireMessage(item: item(64)) == .ignorable(kind: 64))
        #expect(try WireMessage(item: item(.max)) == .ignorable(kind: .max))
        #expect(throws: WireError(what: "a message of unknown kind 12")) { try WireMessage(item: item(12)) }
        #expect(throws: WireError(what: "a message of unknown kind 63")) { try WireMessage(item: item(63)) }
    }

    @Test func `a refusal for a reason of a newer version is a refusal`() throws {
        var writer = CBORWriter()
        writer.array(3)
        writer.unsigned(4)
        writer.unsigned(1)
        writer.array(2)
        writer.unsigned(77)
        writer.text("something new")
        guard case .refused(1, .failed(let reason)) = try WireMessage(item: writer.bytes) else {
            Issue.record("no refusal")
            return
        }
        #expect(reason.contains("77"))
    }

    @Test func `a hello of another major version says so whatever follows`() throws {
        var writer = CBORWriter()
        writer.array(5)
        writer.unsigned(0)
        writer.text("synclog")
        writer.unsigned(2)
        writer.unsigned(0)
        writer.text("unheard of")
        guard case .hello(let hello) = try WireMessage(item: writer.bytes) else {
            Issue.record("no hello")
            return
        }
        #expect(hello.major == 2)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `changed and random bytes never trap`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var understood = 0
        for round in 0..<4000 {
            var item: [UInt8]
            if round % 2 == 0 {
                item = Array(someMessages[round / 2 % someMessages.count].frame.dropFirst(4).prefix(400))
                for _ in 0...Int.random(in: 0...3, using: &generator) where !item.isEmpty {
                    item[Int.random(in: 0..<item.count, using: &generator)] = UInt8.random(
                        in: .min ... .max, using: &generator)
                }
            } else {
                item = generator.bytes(Int.random(in: 0...64, using: &generator))
            }
            if (try? WireMessage(item: item)) != nil { understood += 1 }
        }
        // Most changes hit numbers and texts, which stay numbers and texts.
        #expect(understood > 0 && understood < 4000, "seed \(seed)")
    }
}
