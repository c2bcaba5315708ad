import SynclogJournal
import TestSupport
import Testing

/// Many threads, one journal.
@Suite struct GroupCommitTests {
    /// Runs a body on threads of their own, all at once.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { await onOwnThread { body(number) } } }
        }
    }

    @Test func `sixteen threads share their syncs`() async throws {
        let directory = TemporaryDirectory()
        let system = PosixFileSystem()
        var options = JournalOptions()
        options.fileSystem = system
        let journal = try Journal.create(at: directory("journal"), options: options)
        let before = system.counts.dataSyncs
        let numbers = Monitor<[UInt64]>([])
        await onThreads(16) { thread in
            for round in 0..<100 {
                do {
                    let commit = try journal.apply([put("t\(thread)-\(round)", "v")])
                    numbers.withLock { $0.append(commit.info.number) }
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        let syncs = system.counts.dataSyncs - before
        #expect(syncs < 400)
        #expect(syncs > 0)
        let all = numbers.withLock { $0 }
        #expect(Set(all).count == 1600)
        let found = try journal.commits()
        #expect(found.map(\.info.number) == all.sorted())
        #expect(Set(found.flatMap(\.entries).map(\.key)).count == 1600)
        journal.close()
        let reopened = try Journal.open(at: directory("journal"), options: options)
        #expect(try reopened.commits() == found)
    }

    @Test func `counting under contention loses no step`() async throws {
        let system = MemoryFileSystem()
        let handles = [
            try Journal.create(at: "/j", options: .test(system, seed: 1)),
            try Journal.open(at: "/j", options: .test(system, seed: 2)),
        ]
        let key = EntryKey(space: .state, name: [1])
        await onThreads(8) { thread in
            for _ in 0..<25 {
                do {
                    _ = try handles[thread % 2].commit {
                        (transaction: inout CommitTransaction) throws(JournalError) in
                        var count: UInt64 = 0
                        if let value = try transaction.entry(for: key)?.entry.value {
                            var reader = CBORReader(value)
                            count = (try? reader.unsigned()) ?? 0
                        }
                        var writer = CBORWriter()
                        writer.unsigned(count + 1)
                        try transaction.put(key, value: writer.bytes)
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        var writer = CBORWriter()
        writer.unsigned(200)
        for handle in handles {
            _ = try await handle.head()
            #expect(try handle.entry(for: key)?.entry.value == writer.bytes)
        }
    }

    @Test func `readers beside writers see whole acknowledged commits only`() async throws {
        let system = MemoryFileSystem()
        let writer = try Journal.create(at: "/j", options: .test(system))
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        let done = Monitor(false)
        let acknowledged = Monitor<UInt64>(0)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await onOwnThread {
                    for round in 0..<300 {
                        do {
                            let pair = [put("left", "\(round)"), put("right", "\(round)")]
                            let commit = try writer.apply(pair)
                            acknowledged.withLock { $0 = commit.info.number }
                        } catch {
                            Issue.record("\(error)")
                        }
                    }
                    done.withLock { $0 = true }
                }
            }
            group.addTask {
                await onOwnThread {
                    var last: UInt64 = 0
                    while !done.withLock({ $0 }) {
                        do {
                            let known = acknowledged.withLock { $0 }
                            let head = try reader.head()
                            #expect(head.commit >= known && head.commit >= last)
                            for commit in try reader.commits(after: .end(of: last)) {
                                #expect(commit.entries.count == 2 && commit.info.number > last)
                                last = commit.info.number
                            }
                        } catch {
                            Issue.record("\(error)")
                            return
                        }
                    }
                }
            }
        }
        #expect(try await reader.head().commit == acknowledged.withLock { $0 })
    }
}
