import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// What becomes of a save: the tables of save policies and of outcomes under the default policy.
@Suite struct SavingTests {
    /// What the authority has when the save arrives.
    enum Server {
        case nothing, sameVersion, otherVersion, deleted, madeAgain
    }

    /// What the client's record carries.
    enum Client {
        case noTag, tag
    }

    struct Row: CustomTestStringConvertible {
        var policy: SavePolicy
        var server: Server
        var client: Client
        var code: SyncError.Code?
        /// The fields afterwards.
        var fields: [String: RecordValue]

        init(
            _ policy: SavePolicy, _ server: Server, _ client: Client, _ code: SyncError.Code?,
            _ fields: [String: RecordValue]
        ) {
            self.policy = policy
            self.server = server
            self.client = client
            self.code = code
            self.fields = fields
        }

        var testDescription: String { "\(policy), server: \(server), client: \(client)" }
    }

    /// The client sets "mine" and has read "old" where it has a tag. The server's versions: the same has "old", the
    /// other has "old" and "theirs", the one made again has "theirs".
    static let rows: [Row] = [
        Row(.ifServerRecordUnchanged, .nothing, .noTag, nil, ["mine": 1]),
        Row(.ifServerRecordUnchanged, .sameVersion, .noTag, .serverRecordChanged, ["old": 0]),
        Row(.ifServerRecordUnchanged, .sameVersion, .tag, nil, ["mine": 1, "old": 0]),
        Row(.ifServerRecordUnchanged, .otherVersion, .noTag, .serverRecordChanged, ["old": 0, "theirs": 2]),
        Row(.ifServerRecordUnchanged, .otherVersion, .tag, .serverRecordChanged, ["old": 0, "theirs": 2]),
        Row(.ifServerRecordUnchanged, .deleted, .noTag, nil, ["mine": 1]),
        Row(.ifServerRecordUnchanged, .deleted, .tag, .unknownItem, [:]),
        Row(.ifServerRecordUnchanged, .madeAgain, .tag, .serverRecordChanged, ["theirs": 2]),
        Row(.changedKeys, .nothing, .noTag, nil, ["mine": 1]),
        Row(.changedKeys, .sameVersion, .noTag, nil, ["mine": 1, "old": 0]),
        Row(.changedKeys, .sameVersion, .tag, nil, ["mine": 1, "old": 0]),
        Row(.changedKeys, .otherVersion, .tag, nil, ["mine": 1, "old": 0, "theirs": 2]),
        Row(.changedKeys, .deleted, .tag, nil, ["mine": 1]),
        Row(.changedKeys, .madeAgain, .tag, nil, ["mine": 1, "theirs": 2]),
        Row(.allKeys, .nothing, .noTag, nil, ["mine": 1]),
        Row(.allKeys, .sameVersion, .tag, nil, ["mine": 1, "old": 0]),
        Row(.allKeys, .otherVersion, .tag, nil, ["mine": 1, "old": 0, "theirs": 2]),
        Row(.allKeys, .deleted, .tag, nil, ["mine": 1, "old": 0]),
        Row(.allKeys, .madeAgain, .tag, nil, ["mine": 1, "old": 0, "theirs": 2]),
    ]

    @Test(arguments: rows) func `a save does what the tables say`(row: Row) throws {
        let database = try Fixture().database
        var mine = note("r")
        if row.server != .nothing {
            let first = try database.save(note("r", ["old": 0]))
            if row.client == .tag { mine = try database.record(id("r")) }
            if row.server == .otherVersion {
                var theirs = first
                theirs["theirs"] = 2
                try database.save(theirs)
            }
            if row.server == .deleted || row.server == .madeAgain { try database.delete(id("r")) }
            if row.server == .madeAgain { try database.save(note("r", ["theirs": 2])) }
        }
        let before = try? database.record(id("r"))
        let head = try database.headCommit()
        let baseTag = mine.recordChangeTag
        mine["mine"] = 1
        let result = try database.send([mine], policy: row.policy).saves[0]
        #expect(result.code == row.code)
        let after = try? database.record(id("r"))
        let fields = Dictionary(uniqueKeysWithValues: (after?.fields.fields ?? []).map { ($0.key, $0.value) })
        #expect(fields == row.fields)
        switch result {
        case .success(let saved):
            #expect(saved.changeTag == after?.recordChangeTag)
            #expect(saved.changeTag != before?.recordChangeTag)
            #expect(saved.creationDate == after?.creationDate)
            #expect(saved.modificationDate == after?.modificationDate)
            if let before { #expect(saved.creationDate == before.creationDate) }
            #expect(try database.headCommit() == head + 1)
            #expect(saved.mergedWithOther == (before != nil && before?.recordChangeTag != baseTag))
            mine.completeSave(saved)
            #expect(mine.changedKeys() == [])
            if !saved.mergedWithOther, row.policy != .changedKeys || before != nil { #expect(mine == after) }
        case .failure(let error):
            #expect(error.recordID == id("r"))
            if error.code == .serverRecordChanged { #expect(error.serverRecord == before) }
            #expect(try database.headCommit() == head, "a refusal writes nothing")
            #expect(after == before)
        }
    }

    @Test func `a conflict carries ancestor, server and client`() async throws {
        let database = try Fixture().database
        let read = try await saved(database, note("r", ["text": "old", "kept": 1]))
        var theirs = read
        theirs["text"] = "theirs"
        let server = try await saved(database, theirs)
        var mine = read
        mine["text"] = "ours"
        let result = try await database.modifyRecords(saving: [mine], deleting: []).saveResults[mine.recordID]
        guard case .failure(let error)? = result else {
            Issue.record("the stale save went through")
            return
        }
        #expect(error.code == .serverRecordChanged)
        #expect(error.ancestorRecord == read)
        #expect(error.clientRecord == mine)
        #expect(error.serverRecord == server)
        #expect(
            !error.description.contains("theirs") && !error.description.contains("ours"), "no field values")

        var merged = try #require(error.serverRecord)
        merged["text"] = "both"
        _ = try await saved(database, merged)
        let again = try await database.modifyRecords(saving: [mine], deleting: []).saveResults
        #expect(again[mine.recordID]?.code == .serverRecordChanged, "the old tag conflicts again")
    }

    private func saved(_ database: JournalDatabase, _ record: Record) async throws -> Record {
        let results = try await database.modifyRecords(saving: [record], deleting: []).saveResults
        return try #require(results[record.recordID]).get()
    }

    @Test func `a partial record erases nothing that was not fetched`() throws {
        let database = try Fixture().database
        try database.save(note("r", ["a": 1, "b": 2, "c": 3]))
        for policy in SavePolicy.allCases {
            var partial = try database.record(id("r"), desiredKeys: ["b"])
            #expect(partial.allKeys() == ["b"])
            #expect(partial.fetchedKeys == ["b"])
            let value = RecordValue.int64(Int64(policy.rawValue) + 20)
            partial["b"] = value
            try database.save(partial, policy: policy)
            let whole = try database.record(id("r"))
            #expect(whole["a"] == 1 && whole["c"] == 3 && whole["b"] == value)
        }
        var bare = try Record(systemFields: database.record(id("r")).systemFields)
        bare["d"] = 4
        try database.save(bare)
        #expect(try database.record(id("r")).allKeys() == ["a", "b", "c", "d"])
    }

    @Test func `a cleared field is gone, and a save that changes nothing is a new version`() throws {
        let database = try Fixture().database
        var record = try database.save(note("r", ["a": 1, "b": 2]))
        record["a"] = nil
        record = try database.save(record)
        #expect(try database.record(id("r")).allKeys() == ["b"])
        let again = try database.save(record)
        #expect(again.recordChangeTag != record.recordChangeTag)
        #expect(try database.record(id("r")).recordChangeTag == again.recordChangeTag)
    }

    @Test func `what a newer version stored behind a record and in a field survives an edit`() throws {
        let database = try Fixture().database
        let zone = try #require(try database.zoneNumber(notes))
        let value = try #require(unhexed("856154a261610161628218630a05f58101"))
        _ = try database.journal.commit { tx throws(JournalError) in
            try tx.put(EntryKey(space: .record, zone: zone, name: Array("r".utf8)), value: value)
        }
        var record = try database.record(id("r"))
        #expect(record["b"] == .unknown(UnknownValue(cbor: [0x82, 0x18, 0x63, 0x0A])))
        record["a"] = 2
        let saved = try database.save(record)
        let stored = try #require(try database.journal.entry(for: id("r").key(inZone: zone)))
        #expect(hexadecimal(stored.entry.value) == "856154a261610261628218630a05f58101")
        #expect(saved.recordChangeTag == ChangeTag(stored))
    }

    @Test func `two processes that save with the same tag: one wins, the other gets the winner`() throws {
        let fixture = try Fixture()
        let first = fixture.database
        let second = try fixture.another()
        var mine = try first.save(note("r", ["n": 0]))
        var theirs = try second.record(id("r"))
        mine["n"] = 1
        theirs["n"] = 2
        let winner = try first.save(mine)
        let result = try second.send([theirs]).saves[0]
        guard case .failure(let error) = result else {
            Issue.record("both won")
            return
        }
        #expect(error.code == .serverRecordChanged)
        #expect(error.serverRecord == winner)
    }
}
