import Glibc
import SynclogJournal
import TestSupport
import Testing

/// The Nth call fails, for N = 1, 2, … until no call is left to fail.
@Suite struct FailingCallTests {
    /// What a run got through before or despite the failures.
    private struct Outcome {
        var acknowledged: [Commit] = []
        var unknown = 0
        var failures = 0
    }

    /// Opens, commits with rolls, opens again, commits again; goes on after an error as a program would.
    private func script(_ system: MemoryFileSystem, _ workload: Workload) -> Outcome {
        var workload = workload
        var outcome = Outcome()
        for session in 0..<2 {
            let journal: Journal
            do {
                journal = try Journal.open(at: "/j", options: .test(system, seed: 80 + UInt64(session)))
            } catch {
                outcome.failures += 1
                continue
            }
            for _ in 0..<12 {
                let planned = workload.next()
                do {
                    outcome.acknowledged.append(try journal.apply(planned))
                } catch {
                    outcome.failures += 1
                    if case .durabilityUnknown = error { outcome.unknown += 1 }
                }
            }
            journal.close()
        }
        return outcome
    }

    @Test(arguments: zip([EIO, ENOSPC, EIO] as [Int32], [1, 1, Int.max]))
    func `acknowledged commits survive any failing call`(code: Int32, times: Int) throws {
        let original = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 81, entriesMax: 5, valueSizeMax: 900)
        let made = try Journal.create(at: "/j", options: .test(original))
        try fill(made, &model, &workload, count: 5)
        made.close()
        let calls = original.copy()
        calls.resetCounts()
        _ = script(calls, workload)
        let total = calls.trace.count
        #expect(total > 60)
        var hit = 0
        for turn in stride(from: times == 1 ? Int(code) % 3 : 2, to: total, by: everyByte ? 1 : 3) {
            let system = original.copy()
            system.setFailures(
                FailurePlan([.init([], skipping: turn, times: times, code: code, bytesBefore: 33)]))
            let outcome = script(system, workload)
            hit += outcome.failures > 0 ? 1 : 0
            system.setFailures(FailurePlan())
            for (name, left) in [("killed", system.copy()), ("power lost", system.afterPowerLoss())] {
                let comment: Comment = "call \(turn) failed, then \(name)"
                do {
                    let found = try recovered(left)
                    #expect(found.starts(with: model.commits), comment)
                    let new = Array(found.dropFirst(model.commits.count))
                    // Everything acknowledged is there in order; besides only what may or may not be durable.
                    let known = Set(outcome.acknowledged.map(\.info.number))
                    #expect(known.subtracting(new.map(\.info.number)).isEmpty, comment)
                    let there = new.filter { known.contains($0.info.number) } == outcome.acknowledged
                    #expect(there, comment)
                    #expect(new.count <= outcome.acknowledged.count + outcome.unknown, comment)
                    let report = try Journal.open(at: "/j", mode: .readOnly, options: .test(left)).verify()
                    #expect(report.damages == [] && report.lost == nil, comment)
                } catch {
                    Issue.record("\(comment): \(error)")
                }
            }
        }
        #expect(hit > total / (everyByte ? 4 : 12))
    }
}
