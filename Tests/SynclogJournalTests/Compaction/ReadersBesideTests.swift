import SynclogJournal
import TestSupport
import Testing

/// Readers that come and go while segments are written, merged and removed.
@Suite struct ReadersBesideTests {
    @Test func `none of them fails, and each sees the state of some acknowledged commit`() async throws {
        let system = MemoryFileSystem()
        var options = JournalOptions.test(system)
        options.compacts = true
        let writer = try Journal.create(at: "/j", options: options)
        let model = Monitor(JournalModel())
        let done = Monitor(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await onOwnThread {
                    var workload = Workload(seed: 701, names: 25, entriesMax: 4, valueSizeMax: 400)
                    for round in 0..<250 {
                        do {
                            let planned = workload.next()
                            let commit = try writer.apply(planned)
                            model.withLock { $0.commits.append(commit) }
                            if round % 60 == 59 { _ = try? writer.compact(everything: true) }
                        } catch {
                            Issue.record("round \(round): \(error)")
                        }
                    }
                    done.withLock { $0 = true }
                }
            }
            for seed in 0..<2 as Range<UInt64> {
                group.addTask {
                    await onOwnThread {
                        var looks = 0
                        while !done.withLock({ $0 }) || looks < 3 {
                            looks += 1
                            do { try look(system, model, seed) } catch { Issue.record("\(error)") }
                        }
                    }
                }
            }
        }
        #expect(try await writer.head().commit == model.withLock { $0.commits.last?.info.number })
        #expect(try writer.verify().isSound)
        // Something was merged at all.
        #expect(system.segments(of: "/j").contains { !$0.hasSuffix("-0000.lz4") })
    }

    /// Reads everything with a fresh handle and compares the newest entries with the model at that commit.
    private func look(_ system: MemoryFileSystem, _ model: Monitor<JournalModel>, _ seed: UInt64) throws {
        let known = model.withLock { $0.commits.last?.info.number ?? 0 }
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system, seed: seed))
        defer { reader.close() }
        let head = try reader.head().commit
        #expect(head >= known)
        var newest: [EntryKey: Entry] = [:]
        var last: UInt64 = 0
        for commit in try reader.commits() where commit.info.number <= known {
            #expect(commit.info.number > last)
            last = commit.info.number
            for entry in commit.entries where entry.operation != .note { newest[entry.key] = entry }
        }
        // Up to the last commit that was known before, nothing may be missing that is still the newest now.
        let now = model.withLock { $0 }
        for key in now.through(known).keys {
            guard let entry = now.entry(for: key), entry.commit.number <= known else { continue }
            #expect(newest[key] == entry.entry || entry.entry.operation == .delete && newest[key] == nil)
        }
    }
}
