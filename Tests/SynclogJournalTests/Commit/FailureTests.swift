import Glibc
import SynclogJournal
import TestSupport
import Testing

/// A disk that is full, and a sync that fails.
@Suite struct FailureTests {
    @Test(arguments: [0, 1, 40, 64, 100, 300])
    func `a full disk is rolled back and the next commit may succeed`(bytesBefore: Int) throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 91)
        let journal = try Journal.create(at: "/j", options: .test(system))
        try fill(journal, &model, &workload, count: 4)
        system.setFailures(
            FailurePlan([
                .init([.write], pathContains: ".lz4", times: 1, code: ENOSPC, bytesBefore: bytesBefore)
            ]))
        let error = #expect(throws: JournalError.self) {
            try journal.apply([put("full", String(repeating: "y", count: 900))])
        }
        guard case .file(let failed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failed.code == ENOSPC)
        #expect(try journal.entry(for: recordKey("full")) == nil)
        let sizes = system.segments(of: "/j").map { UInt64(system.contents($0)?.count ?? 0) }
        #expect(try journal.statistics().storedBytes == sizes.reduce(0, +))
        #expect(try journal.commits() == model.commits)
        try fill(journal, &model, &workload, count: 4)
        #expect(try journal.commits() == model.commits)
        #expect(try journal.verify().damages == [])
        journal.close()
        #expect(try recovered(system.afterPowerLoss()) == model.commits)
        #expect(try recovered(system) == model.commits)
    }

    @Test func `a failed write changes no state that later decisions see`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        try journal.apply([put("kept", "old")])
        system.setFailures(FailurePlan([.init([.write], pathContains: ".lz4", times: 1, code: ENOSPC)]))
        #expect(throws: JournalError.self) {
            try journal.apply([PlannedEntry(.delete, recordKey("kept"), value: textValue(""))])
        }
        #expect(try journal.entry(for: recordKey("kept"))?.entry.value == textValue("old"))
        let seen = try journal.commit {
            (transaction: inout CommitTransaction) throws(JournalError) -> [UInt8]? in
            try transaction.entry(for: recordKey("kept"))?.entry.value
        }
        #expect(seen.result == textValue("old"))
        #expect(seen.commit == nil)
    }

    @Test(arguments: 0..<8)
    func `after a failed sync the writer is poisoned and only an opening anew helps`(skipping: Int) throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var acknowledged: [Commit] = []
        let journal = try Journal.create(at: "/j", options: .test(system))
        system.setFailures(FailurePlan([.init([.syncData], skipping: skipping, times: 1, code: EIO)]))
        var unknown: [PlannedEntry]?
        for round in 0..<20 {
            let planned = [put("n\(round)", String(repeating: "z", count: 700))]
            do {
                acknowledged.append(try journal.apply(planned))
                #expect(unknown == nil, "a commit succeeded after a failed sync")
            } catch {
                guard case .durabilityUnknown = error else {
                    Issue.record("round \(round): \(error)")
                    return
                }
                unknown = unknown ?? planned
            }
        }
        #expect(unknown != nil)
        // Reading goes on, and shows nothing that was not acknowledged.
        #expect(try journal.commits() == acknowledged)
        journal.close()
        for left in [system.copy(), system.afterPowerLoss()] {
            let found = try recovered(left)
            #expect(found.starts(with: acknowledged))
            let rest = found.dropFirst(acknowledged.count)
            #expect(rest.count <= 1)
            if let extra = rest.first { #expect(extra.entries.map(\.key) == unknown?.map(\.key)) }
        }
    }

    /// The name of a new segment must be durable before anything in it is acknowledged; the sync of the directory that
    /// should have made it so failed once, and the handle went on in the segment all the same.
    @Test func `a roll whose directory sync fails acknowledges nothing in the new segment`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var acknowledged: [Commit] = []
        let journal = try Journal.create(at: "/j", options: .test(system))
        system.setFailures(FailurePlan([.init([.syncDirectory], times: 1, code: EIO)]))
        var workload = Workload(seed: 93)
        for round in 0..<60 {
            let planned = [PlannedEntry(.put, recordKey("n\(round)"), value: workload.value(900))]
            if let commit = try? journal.apply(planned) { acknowledged.append(commit) }
        }
        #expect(system.segments(of: "/j").count >= 2)
        // Another process comes, then the power goes.
        let other = try Journal.open(at: "/j", options: .test(system, seed: 7))
        acknowledged.append(try other.apply([put("other", "x")]))
        #expect(try recovered(system.afterPowerLoss()) == acknowledged)
    }

    @Test func `a process killed after it renamed a new segment leaves its name to the next one`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var acknowledged: [Commit] = []
        let killed = try Journal.create(at: "/j", options: .test(system))
        system.setFailures(FailurePlan([.init([.syncDirectory], code: EIO)]))
        var workload = Workload(seed: 94)
        while system.segments(of: "/j").count < 2 {
            acknowledged.append(
                try killed.apply([PlannedEntry(.put, recordKey("n"), value: workload.value(900))]))
        }
        system.setFailures(FailurePlan())
        let left = system.copy()
        let next = try Journal.open(at: "/j", options: .test(left, seed: 7))
        acknowledged.append(try next.apply([put("next", "x")]))
        #expect(try recovered(left.afterPowerLoss()) == acknowledged)
    }

    @Test func `a first commit that failed does not cost its session`() throws {
        let system = MemoryFileSystem()
        try Journal.create(at: "/j", options: .test(system)).close()
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 5))
        system.setFailures(FailurePlan([.init([.write], pathContains: ".lz4", times: 1, code: ENOSPC)]))
        #expect(throws: JournalError.self) { try journal.apply([put("a", "1")]) }
        let commit = try journal.apply([put("a", "1")])
        let session = try journal.session(at: commit.info.number)
        #expect(session.label != 0 && session.commit == commit.info.number)
    }

    @Test func `values and keys beyond the limits write nothing`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        let first = try journal.apply([put("a", "b")])
        let before = system.image(of: "/j")
        let longKey = EntryKey(
            space: .record, zone: 1, name: Array(repeating: 1, count: FormatLimits.keySizeMax + 1))
        for plan in [
            PlannedEntry(.put, longKey, value: textValue("")),
            PlannedEntry(
                .put, recordKey("a"), value: Array(repeating: 0x60, count: FormatLimits.valueSizeMax + 1)),
        ] {
            let error = #expect(throws: JournalError.self) { try journal.apply([plan]) }
            guard case .limitExceeded = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(system.image(of: "/j") == before)
        #expect(try journal.commits() == [first])
    }
}
