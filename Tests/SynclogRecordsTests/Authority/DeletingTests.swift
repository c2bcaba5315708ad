import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// Deletions with and without a tag, and what they leave.
@Suite struct DeletingTests {
    /// What the deletion carries.
    enum Tag: CaseIterable {
        case none, current, stale
    }

    @Test(arguments: Tag.allCases) func `a deletion of a record that is there`(tag: Tag) throws {
        let database = try Fixture().database
        let first = try database.save(note("r", ["a": 1]))
        var second = first
        second["a"] = 2
        second = try database.save(second)
        let given: ChangeTag? =
            switch tag {
            case .none: nil
            case .current: second.recordChangeTag
            case .stale: first.recordChangeTag
            }
        let error = try database.send(deleting: [RecordDeletion(recordID: id("r"), changeTag: given)])
            .deletions[0]
        if tag == .stale {
            #expect(error?.code == .serverRecordChanged)
            #expect(error?.serverRecord == second)
            #expect(try database.record(id("r")) == second)
        } else {
            #expect(error == nil)
            #expect(code { _ = try database.record(id("r")) } == .unknownItem)
            let zone = try #require(try database.zoneNumber(notes))
            let stored = try #require(try database.journal.entry(for: id("r").key(inZone: zone)))
            #expect(stored.entry.operation == .delete)
            #expect(
                try StoredTombstone(value: stored.entry.value)
                    == StoredTombstone(type: "Note", baseTag: given))
            #expect(stored.entry.firstSeen == first.recordChangeTag?.commit)
        }
    }

    @Test(arguments: [false, true])
    func `a deletion of a record that is not there succeeds and writes nothing`(
        wasThere: Bool
    ) throws {
        let database = try Fixture().database
        var tag: ChangeTag?
        if wasThere {
            tag = try database.save(note("r")).recordChangeTag
            try database.delete(id("r"))
        }
        let head = try database.headCommit()
        try database.delete(id("r"))
        try database.delete(id("r"), tag: tag ?? ChangeTag(commit: 1, index: 0, checksum: 0))
        #expect(try database.headCommit() == head)
    }

    @Test func `in a missing zone everything is zoneNotFound`() throws {
        let database = try Fixture().database
        let gone = id("r", in: RecordZone.ID(zoneName: "gone"))
        #expect(code { try database.delete(gone) } == .zoneNotFound)
        #expect(code { _ = try database.record(gone) } == .zoneNotFound)
        #expect(code { try database.save(Record(recordType: "T", recordID: gone)) } == .zoneNotFound)
    }

    @Test func `a record made again is new, but was seen first where it was first`() throws {
        let database = try Fixture().database
        let first = try database.save(note("r", ["a": 1]))
        try database.delete(id("r"))
        let second = try database.save(note("r", ["b": 2]))
        #expect(second.recordChangeTag != first.recordChangeTag)
        #expect(try #require(second.creationDate) > #require(first.creationDate))
        #expect(try database.record(id("r")).allKeys() == ["b"])
        let zone = try #require(try database.zoneNumber(notes))
        let stored = try #require(try database.journal.entry(for: id("r").key(inZone: zone)))
        #expect(stored.entry.firstSeen == first.recordChangeTag?.commit)
        #expect(code { try database.delete(id("r"), tag: first.recordChangeTag) } == .serverRecordChanged)
    }

    @Test func `the overload with bare names deletes whatever is there`() async throws {
        let database = try Fixture().database
        let saved = try await database.modifyRecords(saving: [note("r"), note("s")], deleting: []).saveResults
        #expect(saved.count == 2)
        let ids = [id("r"), id("nothing")]
        let results = try await database.modifyRecords(saving: [], deleting: ids).deleteResults
        for id in ids {
            if case .failure(let error)? = results[id] { Issue.record("\(error)") }
        }
        #expect(results.count == 2)
        let left = try await database.allRecords(inZoneWith: notes)
        #expect(left.map(\.recordID) == [id("s")])
    }
}

extension JournalDatabase {
    /// The number of a zone that is there.
    func zoneNumber(_ id: RecordZone.ID) throws -> UInt64? {
        try ZoneDirectory(reading: journal).number(of: id)
    }
}
