import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// What is stored of a request in which something fails.
@Suite struct AtomicityTests {
    /// What is wrong with one item.
    enum Fault: CaseIterable {
        case conflict, missing, staleDeletion, badName, badType, badField, reserved, tooLarge

        var code: SyncError.Code {
            switch self {
            case .conflict, .staleDeletion: .serverRecordChanged
            case .missing: .unknownItem
            case .badName, .badType, .badField: .invalidArguments
            case .reserved: .reserved
            case .tooLarge: .limitExceeded
            }
        }
    }

    @Test(arguments: Fault.allCases, [true, false])
    func `one item of a zone fails`(fault: Fault, atomically: Bool) throws {
        let other = RecordZone.ID(zoneName: "other")
        var limits = DatabaseLimits()
        limits.recordSizeMax = 1000
        let database = try Fixture(limits: limits, zones: [notes, other]).database
        try database.save(note("there"))
        try database.save(note("doomed"))
        let stale = ChangeTag(commit: 1, index: 0, checksum: 0)
        var saves = [note("good"), note("good", in: other)]
        var deletions = [RecordDeletion(recordID: id("doomed"))]
        switch fault {
        case .conflict: saves.append(note("there"))
        case .missing:
            var record = note("nowhere")
            record.recordChangeTag = stale
            saves.append(record)
        case .staleDeletion: deletions.append(RecordDeletion(recordID: id("there"), changeTag: stale))
        case .badName: saves.append(note(""))
        case .badType: saves.append(Record(recordType: "1", recordID: id("x")))
        case .badField: saves.append(note("x", ["é": 1]))
        case .reserved: saves.append(note("x", ["a": .unknown(UnknownValue(cbor: [0x82, 0x10, 0x01]))]))
        case .tooLarge: saves.append(note("x", ["a": .bytes(Array(repeating: 7, count: 1000))]))
        }
        let head = try database.headCommit()
        let results = try database.send(saves, deleting: deletions, atomically: atomically)
        let guilty = fault == .staleDeletion ? results.deletions[1]?.code : results.saves[2].code
        #expect(guilty == fault.code)
        #expect(results.saves[0].code == (atomically ? .batchRequestFailed : nil))
        #expect(results.deletions[0]?.code == (atomically ? .batchRequestFailed : nil))
        #expect(results.saves[1].code == nil, "the other zone is a commit of its own")
        #expect((code { _ = try database.record(id("good")) } == .unknownItem) == atomically)
        #expect((code { _ = try database.record(id("doomed")) } == nil) == atomically)
        #expect(code { _ = try database.record(id("good", in: other)) } == nil)
        #expect(code { _ = try database.record(id("there")) } == nil)
        #expect(try database.headCommit() == head + (atomically ? 1 : 2))
    }

    @Test func `a zone of the request is missing`() throws {
        let database = try Fixture().database
        let gone = RecordZone.ID(zoneName: "gone")
        let foreign = RecordZone.ID(zoneName: "notes", ownerName: "somebody")
        let named = RecordZone.ID(zoneName: "notes", ownerName: "me")
        let results = try database.send([
            note("a", in: gone), note("b"), note("c", in: foreign), note("d", in: named), note("e", in: gone),
        ])
        #expect(results.saves.map(\.code) == [.zoneNotFound, nil, .zoneNotFound, nil, .zoneNotFound])
        guard case .success(let b) = results.saves[1], case .success(let d) = results.saves[3] else { return }
        #expect(b.changeTag.commit == d.changeTag.commit, "the owner's name and its placeholder are one zone")
        if case .failure(let error) = results.saves[0] { #expect(error.recordID == id("a", in: gone)) }
    }

    @Test(arguments: 0..<4) func `a record twice in a request`(form: Int) throws {
        let database = try Fixture().database
        try database.save(note("r"))
        let head = try database.headCommit()
        let named = id("r", in: RecordZone.ID(zoneName: "notes", ownerName: "me"))
        let deletion = RecordDeletion(recordID: id("r"))
        let found = code {
            switch form {
            case 0: _ = try database.send([note("r"), note("r")])
            case 1: _ = try database.send([note("r")], deleting: [deletion])
            case 2: _ = try database.send(deleting: [deletion, deletion])
            default: _ = try database.send([note("r")], deleting: [RecordDeletion(recordID: named)])
            }
        }
        #expect(found == .invalidArguments)
        #expect(try database.headCommit() == head)
    }

    @Test func `an empty request is answered`() throws {
        let database = try Fixture().database
        let head = try database.headCommit()
        let results = try database.send()
        #expect(results.saves.isEmpty && results.deletions.isEmpty)
        #expect(try database.headCommit() == head)
    }
}
