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

    /// A reader looked at most ten times in its life for what took the place of a file that was gone.
    @Test func `a reader goes on however often the next segment was merged just before it`() throws {
        let system = MemoryFileSystem()
        var options = JournalOptions.test(system, segmentSize: 16 << 10)
        options.compacts = false
        let writer = try Journal.create(at: "/j", options: options)
        var generator = SeededGenerator(seed: 702)
        var written: [UInt64] = []
        for number in 0..<100 {
            let value = [0x59, 0x40, 0x00] + generator.bytes(0x4000)
            let entry = PlannedEntry(.put, put("k\(number)", "").key, value: value)
            written.append(try writer.apply([entry]).info.number)
        }
        let reading = try Journal.open(at: "/j", mode: .readOnly, options: options)
        var reader = try reading.readBackward()
        var read: [UInt64] = []
        var gone = 0
        // The newest four segments that are not merged yet, then the four before them, and so on to the first.
        let size = system.contents(system.segments(of: "/j")[0])?.count ?? 0
        _ = try writer.compact(inputMax: UInt64(size * 9 / 2)) { _ in
            let last = read.last ?? written[written.count - 1]
            do {
                while let commit = try reader.next() {
                    read.append(commit.info.number)
                    if last - commit.info.number >= 4 { break }
                }
            } catch {
                Issue.record("\(error)")
            }
            gone += 1
        }
        while let commit = try reader.next() { read.append(commit.info.number) }
        #expect(gone > 20)
        let isWhole = read.filter { written.contains($0) } == written.reversed()
        #expect(isWhole)
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
