import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// Records as values.
@Suite struct RecordTests {
    @Test func `a record knows what was changed, and what it was before`() {
        var record = note("a", ["kept": 1, "changed": 2, "cleared": 3])
        #expect(record.changedKeys() == ["changed", "cleared", "kept"])
        record.completeSave(saved())
        #expect(record.changedKeys() == [])
        let before = record
        record["changed"] = 20
        record["changed"] = 21
        record["cleared"] = nil
        record["new"] = "x"
        #expect(record.changedKeys() == ["changed", "cleared", "new"])
        #expect(record.allKeys() == ["changed", "kept", "new"])
        #expect(record["cleared"] == nil)
        #expect(record.ancestor == before)
        #expect(
            record.changes(for: .ifServerRecordUnchanged) == [
                FieldChange(key: "changed", value: 21), FieldChange(key: "cleared", value: nil),
                FieldChange(key: "new", value: "x"),
            ])
        #expect(record.changes(for: .changedKeys) == record.changes(for: .ifServerRecordUnchanged))
        #expect(
            record.changes(for: .allKeys) == [
                FieldChange(key: "changed", value: 21), FieldChange(key: "cleared", value: nil),
                FieldChange(key: "kept", value: 1), FieldChange(key: "new", value: "x"),
            ])
    }

    @Test func `a reference to the own zone is the same with and without its name`() {
        var record = note("a")
        record["named"] = .reference(Reference(recordID: id("b")))
        record["bare"] = .reference(Reference(recordName: "b"))
        record["other"] = .reference(Reference(recordID: id("b", in: RecordZone.ID(zoneName: "z"))))
        record["list"] = .list(.references([Reference(recordID: id("b"))]))
        #expect(record["named"] == record["bare"])
        #expect(record["other"] == .reference(Reference(recordName: "b", zoneName: "z")))
        #expect(record["list"] == .list(.references([Reference(recordName: "b")])))
        guard case .reference(let reference)? = record["bare"] else { return }
        #expect(reference.recordID(from: notes) == id("b"))
    }

    @Test func `names that look alike are different`() {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        #expect(composed == decomposed, "Swift takes them for one")
        #expect(id(composed) != id(decomposed))
        #expect(Set([id(composed), id(decomposed)]).count == 2)
        #expect(RecordZone.ID(zoneName: composed) != RecordZone.ID(zoneName: decomposed))
        #expect(
            RecordZone.ID(zoneName: "z", ownerName: composed)
                != RecordZone.ID(zoneName: "z", ownerName: decomposed))
        #expect(RecordValue.string(composed) != .string(decomposed))
        #expect(Reference(recordName: composed) != Reference(recordName: decomposed))
        #expect(
            Reference(recordName: "r", zoneName: composed) != Reference(recordName: "r", zoneName: decomposed)
        )
        #expect(RecordValue.list(.strings([composed])) != .list(.strings([decomposed])))
        #expect(Field(key: composed, value: 1) != Field(key: decomposed, value: 1))
        #expect(
            RecordZoneChanges.Deletion(recordID: id("a"), recordType: composed)
                != RecordZoneChanges.Deletion(recordID: id("a"), recordType: decomposed))
        #expect(id("a", in: RecordZone.ID(zoneName: "bc")) != id("ab", in: RecordZone.ID(zoneName: "c")))
    }

    @Test func `system fields are read back without the fields`() throws {
        var record = note("caf\u{E9}", ["a": 1])
        record.completeSave(saved())
        let kept = try Record(systemFields: record.systemFields)
        #expect(kept.recordID == record.recordID)
        #expect(kept.recordType == "Note")
        #expect(kept.recordChangeTag == record.recordChangeTag)
        #expect(kept.creationDate == record.creationDate)
        #expect(kept.modificationDate == record.modificationDate)
        #expect(kept.modifiedByDevice == 3)
        #expect(kept.fetchedKeys == [])
        #expect(kept.allKeys() == [])
        for size in 0..<record.systemFields.count {
            let cut = Array(record.systemFields[..<size])
            #expect(code { _ = try Record(systemFields: cut) } == .invalidArguments)
        }
    }

    @Test func `a record in a message is the same on the other side`() throws {
        var record = note(
            "a", ["b": 1, "c": .list(.references([Reference(recordName: "x", zoneName: "y")]))])
        record.completeSave(saved(merged: true))
        record.trailing = [0xF5, 0x01]
        #expect(record.fetchedKeys == ["b", "c"], "more may be there than was sent")
        var writer = CBORWriter()
        writer.record(record)
        var reader = CBORReader(writer.bytes)
        #expect(try reader.record() == record)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [
        "1-0-00000000", "ffffffffffffffff-ffffffff-ffffffff", "1a-2b-0abcdef0",
    ]) func `a tag is read back from its text`(text: String) throws {
        #expect(try #require(ChangeTag(text)).text == text)
    }

    @Test(arguments: [
        "", "-", "--", "1-0", "1-0-0", "01-0-00000000", "1-00-00000000", "A-0-00000000", "1-0-0000000G",
        "1-0-00000000-", " 1-0-00000000", "+1-0-00000000", "10000000000000000-0-00000000",
        "1-100000000-00000000", "1-0-000000000",
    ]) func `what no tag was written as is no tag`(text: String) {
        #expect(ChangeTag(text) == nil)
    }

    @Test func `an error names record and zone and ends with the next step`() {
        var error = SyncError(
            .serverRecordChanged, "another version was saved meanwhile", nextStep: "merge and save again",
            recordID: id("a"), retryAfter: .seconds(3))
        #expect(
            error.description
                == "record a in zone notes: another version was saved meanwhile (try again in 3 s); merge and save again"
        )
        error.recordID = nil
        error.zoneID = notes
        error.retryAfter = nil
        #expect(error.description == "zone notes: another version was saved meanwhile; merge and save again")
    }

    private func saved(merged: Bool = false) -> SavedRecord {
        SavedRecord(
            changeTag: ChangeTag(commit: 7, index: 1, checksum: 9),
            creationDate: Timestamp(microsecondsSince1970: 5),
            modificationDate: Timestamp(microsecondsSince1970: 6),
            device: 3, mergedWithOther: merged)
    }
}
