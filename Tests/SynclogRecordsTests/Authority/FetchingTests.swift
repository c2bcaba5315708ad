import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// What one fetch shows: the table of histories between token and now.
@Suite struct FetchingTests {
    struct Row: CustomTestStringConvertible {
        var history: String
        /// What happens before the token and after it: "+" saves, "-" deletes.
        var before: String
        var after: String
        /// What a fetch with the token tells: "+" a modification, "-" a deletion.
        var told: String
        /// What a fetch from the beginning tells.
        var toldFromStart: String

        var testDescription: String { history }
    }

    static let rows = [
        Row(history: "record changed n times", before: "+", after: "+++", told: "+", toldFromStart: "+"),
        Row(history: "created, then changed", before: "", after: "++", told: "+", toldFromStart: "+"),
        Row(history: "created", before: "", after: "+", told: "+", toldFromStart: "+"),
        Row(history: "existed, then deleted", before: "+", after: "-", told: "-", toldFromStart: ""),
        Row(
            history: "existed, changed, then deleted", before: "+", after: "+-", told: "-", toldFromStart: ""),
        Row(
            history: "created and deleted after the token", before: "", after: "+-", told: "",
            toldFromStart: ""),
        Row(history: "created, deleted, created", before: "", after: "+-+", told: "+", toldFromStart: "+"),
        Row(
            history: "existed, deleted, created again", before: "+", after: "-+", told: "+",
            toldFromStart: "+"),
        Row(
            history: "existed, deleted, created, deleted", before: "+", after: "-+-", told: "-",
            toldFromStart: ""),
        Row(history: "deleted before the token", before: "+-", after: "", told: "", toldFromStart: ""),
        Row(
            history: "deleted before the token, created again", before: "+-", after: "+", told: "+",
            toldFromStart: "+"),
        Row(
            history: "deleted before the token, created and deleted again", before: "+-", after: "+-",
            told: "-",
            toldFromStart: ""),
        Row(history: "nothing", before: "+", after: "", told: "", toldFromStart: "+"),
    ]

    @Test(arguments: rows) func `one fetch tells the newest state of each record`(row: Row) throws {
        let database = try Fixture().database
        try database.save(note("bystander"))
        var step: Int64 = 0
        func play(_ steps: String) throws {
            for kind in steps {
                step += 1
                if kind == "+" {
                    var record = (try? database.record(id("r"))) ?? note("r")
                    record["n"] = .int64(step)
                    try database.save(record)
                } else {
                    try database.delete(id("r"))
                }
            }
        }
        try play(row.before)
        let token = try database.changes().changeToken
        try play(row.after)
        for (page, told) in [
            (try database.changes(since: token), row.told), (try database.changes(), row.toldFromStart),
        ] {
            #expect(!page.moreComing)
            let modifications = page.modifications.filter { $0.recordID == id("r") }
            #expect(modifications == (told == "+" ? [try database.record(id("r"))] : []))
            #expect(page.deletions == (told == "-" ? [.init(recordID: id("r"), recordType: "Note")] : []))
            let next = try database.changes(since: page.changeToken)
            #expect(next.modifications == [] && next.deletions == [] && !next.moreComing)
            #expect(next.changeToken == page.changeToken, "nothing happened: the token stays good")
        }
    }

    @Test func `own writes come back and are known by their tag`() throws {
        let database = try Fixture().database
        let token = try database.changes().changeToken
        let saved = try database.save(note("r", ["a": 1]))
        #expect(try database.changes(since: token).modifications == [saved])
    }

    @Test func `desired keys`() throws {
        let database = try Fixture().database
        let whole = try database.save(note("r", ["a": 1, "b": 2]))
        for (keys, expected) in [(nil, ["a", "b"]), ([], []), (["b", "zz"], ["b"])] as [([String]?, [String])]
        {
            let record = try #require(try database.changes(desiredKeys: keys).modifications.first)
            #expect(record.allKeys() == expected)
            #expect(record.fetchedKeys == keys)
            #expect(record.recordChangeTag == whole.recordChangeTag)
            #expect(try database.record(id("r"), desiredKeys: keys) == record)
        }
    }

    @Test func `a page ends after the commit that reaches the limit`() throws {
        let database = try Fixture().database
        try database.save(note("a"))
        _ = try database.send([note("b"), note("c"), note("d")])
        try database.save(note("e"))
        var names: [[String]] = []
        var token: ChangeToken?
        var more = true
        while more {
            let page = try database.changes(since: token, limit: 2)
            names.append(page.modifications.map(\.recordID.recordName))
            token = page.changeToken
            more = page.moreComing
        }
        #expect(names == [["a", "b", "c", "d"], ["e"]])
        #expect(try database.changes(limit: 1).modifications.count == 1)
        #expect(code { _ = try database.changes(limit: -1) } == .invalidArguments)
    }

    @Test func `a page ends after the commit that reaches the bytes`() throws {
        var limits = DatabaseLimits()
        limits.pageSizeMax = 1000
        let database = try Fixture(limits: limits).database
        for name in ["a", "b", "c", "d", "e"] {
            try database.save(note(name, ["text": .string(String(repeating: "x", count: 450))]))
        }
        let first = try database.changes()
        #expect(first.modifications.count == 2 && first.moreComing)
        #expect(try database.changes(desiredKeys: []).modifications.count == 5, "only what is sent counts")
        let second = try database.changes(since: first.changeToken)
        #expect(second.modifications.count == 2 && second.moreComing)
        #expect(try database.changes(since: second.changeToken).modifications.count == 1)
    }

    /// With small pages the token has passed the place where "c" was first seen before its deletion is reached; then it
    /// is told, which a client must tolerate. "gone" died before the walk began.
    @Test(arguments: [(1, ["a", "c"]), (100, ["a"])])
    func `a walk from the beginning leaves out tombstones up to its start and tells later ones`(
        limit: Int, told: [String]
    ) throws {
        let database = try Fixture().database
        for name in ["a", "b", "c", "gone"] { try database.save(note(name)) }
        try database.delete(id("gone"))
        let first = try database.changes(limit: 2)
        #expect(first.modifications.map(\.recordID.recordName) == ["a", "b"])
        try database.delete(id("a"))
        try database.delete(id("c"))
        try database.save(note("new"))
        var token = first.changeToken
        var modified: [String] = []
        var deleted: [String] = []
        var more = true
        while more {
            let page = try database.changes(since: token, limit: limit)
            modified += page.modifications.map(\.recordID.recordName)
            deleted += page.deletions.map(\.recordID.recordName)
            token = page.changeToken
            more = page.moreComing
        }
        #expect(modified == ["new"])
        #expect(deleted == told)
        try database.delete(id("b"))
        #expect(try database.changes(since: token).deletions.map(\.recordID.recordName) == ["b"])
    }

    @Test func `a reader sees what another process has written`() throws {
        let fixture = try Fixture()
        let reader = try fixture.another(mode: .readOnly)
        let token = try reader.changes().changeToken
        let saved = try fixture.database.save(note("r"))
        #expect(try reader.changes(since: token).modifications == [saved])
        #expect(try reader.record(id("r")) == saved)
        #expect(code { try reader.save(note("s")) } == .permissionFailure)
    }
}
