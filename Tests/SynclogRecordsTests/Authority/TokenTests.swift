import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// Tokens: opaque, bound to their database and scope, and never silently ignored.
@Suite struct TokenTests {
    static let other = RecordZone.ID(zoneName: "other")

    @Test func `a token is 80 characters and read back`() throws {
        let database = try Fixture().database
        try database.save(note("a"))
        try database.save(note("b"))
        for token in [
            try database.changes().changeToken, try database.changes(limit: 1).changeToken,
            try database.databaseChanges().changeToken,
        ] {
            #expect(token.text.utf8.count == 80)
            #expect(
                token.text.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                        || (0x61...0x7A).contains(byte)
                        || byte == 0x2D || byte == 0x5F
                })
            #expect(try ChangeToken(token.text) == token)
            #expect(!"\(token)".contains(token.text), "a token does not slip into a log")
        }
    }

    @Test(arguments: ["", "x", String(repeating: "A", count: 80), String(repeating: "é", count: 40)])
    func `what is no token is refused`(text: String) {
        #expect(code { _ = try ChangeToken(text) } == .invalidArguments)
    }

    @Test func `a token of another scope is refused`() throws {
        let database = try Fixture(zones: [notes, Self.other]).database
        try database.save(note("r"))
        try database.save(note("r", in: Self.other))
        let databaseToken = try database.databaseChanges().changeToken
        let zoneToken = try database.changes().changeToken
        let journalToken = ChangeToken(try database.journal.cursor(at: .end(of: 2)))
        #expect(code { _ = try database.changes(in: Self.other, since: zoneToken) } == .wrongScope)
        #expect(code { _ = try database.changes(since: databaseToken) } == .wrongScope)
        #expect(code { _ = try database.changes(since: journalToken) } == .wrongScope)
        #expect(code { _ = try database.databaseChanges(since: zoneToken) } == .wrongScope)
        #expect(code { _ = try database.databaseChanges(since: journalToken) } == .wrongScope)
    }

    @Test func `a token of another database is foreign`() throws {
        let first = try Fixture(seed: 1).database
        let second = try Fixture(seed: 2).database
        let token = try first.changes().changeToken
        let databaseToken = try first.databaseChanges().changeToken
        #expect(code { _ = try second.changes(since: token) } == .foreign)
        #expect(code { _ = try second.databaseChanges(since: databaseToken) } == .foreign)
    }

    @Test func `a token from before a restored copy is rolled back`() throws {
        let fixture = try Fixture()
        try fixture.database.save(note("a"))
        let early = try fixture.database.changes().changeToken
        fixture.database.close()
        try fixture.system.copyDirectory("/db", to: "/copy")
        let original = try fixture.another(seed: 5)
        try original.save(note("b"))
        let late = try original.changes().changeToken
        let lateDatabase = try original.databaseChanges().changeToken
        original.close()

        try fixture.system.copyDirectory("/copy", to: "/db")
        let database = try fixture.another(seed: 6)
        try database.save(note("c"))
        try database.save(note("d"))
        #expect(code { _ = try database.changes(since: late) } == .rolledBack)
        #expect(code { _ = try database.databaseChanges(since: lateDatabase) } == .rolledBack)
        #expect(
            try database.changes(since: early).modifications.map(\.recordID.recordName) == ["c", "d"],
            "a token from before the copy stays good")
    }

    @Test func `a token of a zone's earlier life is expired, in either walk`() throws {
        let database = try Fixture().database
        for name in ["a", "b", "c"] { try database.save(note(name)) }
        let middle = try database.changes(limit: 1).changeToken
        let end = try database.changes().changeToken
        try database.delete(zone: notes)
        try database.save(zone: notes)
        try database.save(note("a"))
        for token in [middle, end] {
            #expect(code { _ = try database.changes(since: token) } == .changeTokenExpired)
        }
    }

    /// Tombstones go after 30 days; what stays of them is a floor.
    @Test func `a token from before a forgotten deletion is expired, also in the middle of a walk`() throws {
        let fixture = try Fixture(zones: [notes, Self.other])
        let database = fixture.database
        for name in ["a", "b", "gone"] { try database.save(note(name)) }
        let before = try database.changes().changeToken
        let otherToken = try database.changes(in: Self.other).changeToken
        let fresh = try database.changes(limit: 1)
        try database.save(note("c"))
        try database.save(note("d"))
        try database.delete(id("gone"))
        try database.save(note("e"))
        let delta = try database.changes(since: before, limit: 1)
        #expect(delta.modifications.map(\.recordID.recordName) == ["c"] && delta.moreComing)
        let after = try database.changes().changeToken
        fixture.clock.set(fixture.clock.read() + 31 * 86_400_000_000)
        try database.save(note("f"))
        // The tombstone goes when the put before it is gone.
        for _ in 0..<2 { _ = try database.journal.compact(everything: true) }
        let zone = try #require(try database.zoneNumber(notes))
        #expect(try database.journal.entry(for: id("gone").key(inZone: zone)) == nil)

        #expect(code { _ = try database.changes(since: before) } == .changeTokenExpired)
        #expect(code { _ = try database.changes(since: delta.changeToken) } == .changeTokenExpired)
        #expect(
            code { _ = try database.changes(since: fresh.changeToken) } == .changeTokenExpired,
            "\"gone\" was deleted after that walk began")
        #expect(try database.changes(since: after).modifications.map(\.recordID.recordName) == ["f"])
        #expect(
            code { _ = try database.changes(in: Self.other, since: otherToken) } == nil,
            "another zone lost nothing")
        let again = try database.changes(limit: 1)
        #expect(again.moreComing)
        #expect(code { _ = try database.changes(since: again.changeToken) } == nil, "a new walk goes on")
        #expect(
            try database.changes().modifications.map(\.recordID.recordName) == ["a", "b", "c", "d", "e", "f"])
    }
}
