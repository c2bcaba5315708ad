import SynclogJournal
import TestSupport
import Testing

/// HEAD and LOCK are helpers only: whatever they hold, no answer changes after the next open for writing.
@Suite struct NoiseTests {
    static let sizes = [0, 1, 100, 512, 1024, 5000]

    @Test(arguments: ["HEAD", "LOCK"], sizes)
    func `noise in a helper file changes no answer`(name: String, size: Int) throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 4)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 60)
        made.close()
        var generator = SeededGenerator(seed: UInt64(size))
        try system.setContents("/j/\(name)", generator.bytes(size))

        let journal = try Journal.open(at: "/j", options: .test(system, seed: 5))
        #expect(try journal.commits() == model.commits)
        #expect(try journal.head().recoveryPending == false)
        for key in model.keys { #expect(try journal.entry(for: key) == model.entry(for: key)) }
        try fill(journal, &model, &workload, count: 20)
        #expect(try journal.commits() == model.commits)
        #expect(try journal.verify().damages == [])
        journal.close()
        #expect(try recovered(system) == model.commits)
    }

    @Test func `a HEAD with one good slot and one of wrong bytes counts`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 6)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 7)
        made.close()
        let original = try #require(system.contents("/j/HEAD"))
        for slot in [0, 512] {
            var head = original
            // Its counter is higher and it names another end, but its checksum is wrong.
            for place in [8, 64, 72] { head[slot + place] ^= 0x40 }
            let copy = system.copy()
            try copy.setContents("/j/HEAD", head)
            #expect(try recovered(copy) == model.commits)
        }
    }
}
