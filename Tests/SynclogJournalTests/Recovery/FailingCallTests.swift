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

    /// What every run starts from, and the number of calls that a run without failures makes.
    private struct Start {
        let system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 81, entriesMax: 5, valueSizeMax: 900)

        init() throws {
            let made = try Journal.create(at: "/j", options: .test(system))
            try fill(made, &model, &workload, count: 5)
            made.close()
        }
    }

    @Test(arguments: zip([EIO, ENOSPC, EIO] as [Int32], [1, 1, Int.max]))
    func `acknowledged commits survive any failing call`(code: Int32, times: Int) async throws {
        let start = try Start()
        let calls = start.system.copy()
        _ = script(calls, start.workload)
        let total = calls.trace.count
        #expect(total > 60)
        var hit = 0
        var turns = 0
        for turn in stride(from: times == 1 ? Int(code) % 3 : 2, to: total, by: everyByte ? 1 : 3) {
            await Task.yield()
            let failing = FailurePlan([
                .init([], skipping: turn, times: times, code: code, bytesBefore: 33)
            ])
            turns += 1
            hit += run(start, failing, "call \(turn) failed") ? 1 : 0
        }
        #expect(hit > turns / 4)
    }

    /// Runs the script with failures and checks what a kill and a loss of power leave.
    /// - Returns: Whether anything failed.
    private func run(_ start: Start, _ failing: FailurePlan, _ what: String) -> Bool {
        let system = start.system.copy()
        system.setFailures(failing)
        let outcome = script(system, start.workload)
        system.setFailures(FailurePlan())
        for (name, left) in [("killed", system.copy()), ("power lost", system.afterPowerLoss())] {
            let comment: Comment = "\(what), then \(name)"
            do {
                let found = try recovered(left)
                #expect(found.starts(with: start.model.commits), comment)
                let new = Array(found.dropFirst(start.model.commits.count))
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
        return outcome.failures > 0
    }
}
