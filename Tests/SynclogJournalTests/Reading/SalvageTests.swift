import SynclogJournal
import TestSupport
import Testing

@Suite struct SalvageTests {
    /// Reading around damage once stopped at it in the live segment: the head was taken for the last commit to show.
    @Test(arguments: [true, false])
    func `commits on both sides of a damaged block of the live segment are read`(backward: Bool) throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var commits: [UInt64] = []
        for number in 0..<9 { commits.append(try journal.apply([put("name-\(number)", "x")]).info.number) }
        journal.close()
        let path = try #require(system.segments(of: "/j").last)
        let blocks = JournalFiles.frames(try #require(system.contents(path))).filter { $0.kind == 0x50 }
        #expect(blocks.count == 9)
        try system.flip(path, at: blocks[4].offset + 80, with: 0xFF)

        let damaged = try Journal.open(at: "/j", mode: .readOnly, options: .test(system, seed: 2))
        var damages: [Damage] = []
        var reader = try backward ? damaged.readBackward() : damaged.read()
        reader.onDamage = { damages.append($0) }
        var found: [UInt64] = []
        while let commit = try reader.next() { found.append(commit.info.number) }
        let expected = commits.filter { $0 != commits[4] }
        #expect(found == (backward ? expected.reversed() : expected))
        #expect(damages.map(\.offset) == [UInt64(blocks[4].offset)])
        // Without the wish to read around it, damage is an error, and so is a look-up that it could falsify.
        #expect(throws: JournalError.self) {
            var strict = try damaged.read()
            while try strict.next() != nil {}
        }
        #expect(throws: JournalError.self) { try damaged.entry(for: recordKey("name-0")) }
    }
}
