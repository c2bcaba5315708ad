import SynclogJournal
import TestSupport
import Testing

/// A merged segment whose name may not be durable.
@Suite struct PublishingTests {
    /// The story: crashtest, seed 1179.
    ///
    /// The sync of the directory failed after a merged segment had got its name. The name stayed, the next merge
    /// removed the inputs for its sake, and a loss of power took the name: a segment was missing.
    @Test func `a name whose sync failed does not cost the inputs`() throws {
        for failing in 0..<4 {
            let system = MemoryFileSystem(tracksDurability: true)
            try system.makeDirectory("/d")
            try system.syncDirectory("/")
            let journal = try Journal.create(at: "/d/j", options: .test(system))
            var model = JournalModel()
            var workload = Workload(seed: 61, valueSizeMax: 900)
            try fill(journal, &model, &workload, count: 60)
            system.setFailures(
                FailurePlan([FailurePlan.Rule([.syncDirectory], skipping: failing, times: 1, code: 5)]))
            _ = try? journal.compact(everything: true)
            _ = try? journal.compact(everything: true)
            system.setFailures(FailurePlan())
            journal.close()
            for seed in 0..<24 {
                let after = system.afterPowerLoss(.anyCalls(seed: UInt64(seed)))
                let again = try Journal.open(at: "/d/j", options: .test(after, seed: 62))
                for key in model.keys {
                    #expect(try live(again.entry(for: key)) == live(model.entry(for: key)), "seed \(seed)")
                }
                again.close()
            }
        }
    }

    /// The value, unless it is a tombstone: that may be gone after a merge.
    private func live(_ stored: StoredEntry?) -> [UInt8]? {
        stored.flatMap { $0.entry.operation == .put ? $0.entry.value : nil }
    }
}
