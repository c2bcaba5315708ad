import SynclogRecords
import TestSupport
import Testing

/// The ten lines of the README are compiled and run.
@Suite struct ReadmeTests {
    /// Everything between the two comments stands in the README, word by word.
    private func example(path: String) async throws -> Int {
        // README begins
        let database = try JournalDatabase.create(at: path)
        let zone = RecordZone.ID(zoneName: "notes")
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        var note = Record(recordType: "Note", recordID: Record.ID(recordName: "first", zoneID: zone))
        note["text"] = .string("Buy milk")
        let results = try await database.modifyRecords(saving: [note], deleting: []).saveResults
        note = try results[note.recordID]!.get()  // now with its change tag
        let page = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
        print(page.modifications.count, "changed; keep the token:", page.changeToken.text)
        // README ends
        return page.modifications.count
    }

    @Test func `the README's example runs`() async throws {
        let directory = TemporaryDirectory()
        #expect(try await example(path: directory("notes.journal")) == 1)
    }

    @Test func `the README shows the example as it is compiled`() throws {
        let source = try lines(of: #filePath)
        let start = try #require(source.firstIndex { $0.hasSuffix("// README begins") }) + 1
        let end = try #require(source.firstIndex { $0.hasSuffix("// README ends") })
        let code = source[start..<end].map { $0.drop { $0 == " " } }
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let readme = try lines(of: "/\(root)/README.md")
        let first = try #require(readme.firstIndex { $0 == code[0] })
        #expect(readme[first..<first + code.count].elementsEqual(code))
        #expect(code.count <= 10)
    }

    private func lines(of path: String) throws -> [Substring] {
        let file = try TextFile.read(path)
        return file.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
