import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport
import Testing

/// The records that are live, read in order.
@Suite(.long) struct LiveRecordTests {
    private func listed(_ database: JournalDatabase, memorySizeMax: Int) throws -> [Record] {
        var records: [Record] = []
        try database.forEachLiveRecord(inZoneWith: notes, memorySizeMax: memorySizeMax) { live in
            let name = String(decoding: Array(copying: live.name), as: UTF8.self)
            guard let content = try? StoredRecord(value: Array(copying: live.value)) else { return false }
            var record = Record(recordType: content.type, recordID: id(name))
            record.fields = content.fields
            record.recordChangeTag = live.tag
            records.append(record)
            return true
        }
        return records
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func `whatever happened before, a list holds what a walk holds, in order`(seed: UInt64) async throws {
        let fixture = try Fixture(seed: seed)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<30 {
            let name = "\(Int.random(in: 0..<60, using: &generator))\(["", "\u{E9}", "e\u{301}"][round % 3])"
            let there = try await fixture.database.records(for: [id(name)])[id(name)]
            if case .success(let record)? = there, Bool.random(using: &generator) {
                _ = try await fixture.database.modifyRecords(saving: [], deleting: [RecordDeletion(record)])
                continue
            }
            var saves: [Record] = []
            for number in 0..<Int.random(in: 1...40, using: &generator) {
                saves.append(note("\(name)-\(number)", ["round": .int64(Int64(round)), "n": .string(name)]))
            }
            saves.append(note(name, ["round": .int64(Int64(round))]))
            _ = try await fixture.database.modifyRecords(saving: saves, deleting: [], savePolicy: .allKeys)
        }
        let walked = try await fixture.database.allRecords(inZoneWith: notes)
        #expect(walked.count > 50)
        // All at once, and in parts of some records or one.
        for size in [1 << 20, 11_000, 0] {
            let records = try listed(fixture.database, memorySizeMax: size)
            #expect(records.map(\.recordID) == walked.map(\.recordID), "seed \(seed), size \(size)")
            #expect(records.map(\.recordChangeTag) == walked.map(\.recordChangeTag))
            #expect(records.map(\.fields) == walked.map(\.fields))
        }
    }

    @Test func `a zone that is not there is refused`() throws {
        let fixture = try Fixture()
        #expect {
            try fixture.database.forEachLiveRecord(inZoneWith: RecordZone.ID(zoneName: "none")) { _ in true }
        } throws: { ($0 as? SyncError)?.code == .zoneNotFound }
    }
}
