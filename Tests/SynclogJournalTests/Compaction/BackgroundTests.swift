import SynclogJournal
import TestSupport
import Testing

/// Merges on a thread of their own, in an exclusive journal.
@Suite struct BackgroundTests {
    @Test(.timeLimit(.minutes(1)))
    func `what is merged beside commits is told, and the merge rests between its megabytes`() async throws {
        let system = MemoryFileSystem()
        let told = Monitor<[CompactionReport]>([])
        let rests = Monitor<[UInt32]>([])
        var options = JournalOptions.test(system)
        options.compacts = true
        options.segmentSize = 400_000
        options.compactionProgress = { report in
            told.withLock { $0.append(report) }
            told.wakeAll()
        }
        options.pause = { time in rests.withLock { $0.append(time) } }
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: options)
        var generator = SeededGenerator(seed: 8)
        // Values that do not compress, so that the merge writes more than a megabyte.
        var commits = 0
        while try journal.verify().segments.count < 6, told.withLock({ $0.isEmpty }) {
            let value = [0x5A, 0, 0, 0x80, 0] + generator.bytes(0x8000)
            let name = Array("name-\(commits % 200)".utf8)
            _ = try await journal.commit { transaction throws(JournalError) in
                try transaction.put(EntryKey(space: .record, zone: 1, name: name), value: value)
            }
            commits += 1
        }
        let first = await onOwnThread { told.wait(timeout: .seconds(50)) { $0.first } }
        let report = try #require(first)
        #expect(report.segments >= 4)
        #expect(report.bytesAfter <= report.bytesBefore)
        let all = rests.withLock { $0 }
        #expect(!all.isEmpty && all.allSatisfy { $0 <= 50_000 })
        journal.close()
        #expect(try Journal.verify(at: "/j", options: options).isSound)
    }
}
