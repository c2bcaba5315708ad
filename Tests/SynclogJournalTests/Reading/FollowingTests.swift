import SynclogJournal
import TestSupport
import Testing

/// Waiting for change.
@Suite struct FollowingTests {
    @Test(.timeLimit(.minutes(2))) func `a thousand commits across rolls come once each, in order`()
        async throws
    {
        let system = MemoryFileSystem()
        let writer = try Journal.create(at: "/j", options: .test(system))
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        async let followed: [UInt64] = onOwnThread {
            var numbers: [UInt64] = []
            do {
                while numbers.count < 1000 {
                    guard try reader.waitForChange(after: numbers.last ?? 0, timeout: .seconds(60)) else {
                        break
                    }
                    numbers += try reader.commits(after: .end(of: numbers.last ?? 0)).map(\.info.number)
                }
            } catch {
                Issue.record("\(error)")
            }
            return numbers
        }
        let made: [UInt64] = await onOwnThread {
            var workload = Workload(seed: 301)
            return (0..<1000).compactMap { _ in
                do {
                    return try writer.apply(workload.next()).info.number
                } catch {
                    Issue.record("\(error)")
                    return nil
                }
            }
        }
        let seen = await followed
        #expect(seen == made)
        #expect(made.count == 1000)
        #expect(system.segments(of: "/j").count > 3)
    }

    @Test func `nothing new is no change, and an older commit is one at once`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        let commit = try journal.apply([put("a", "1")])
        #expect(try journal.waitForChange(after: commit.info.number, timeout: .zero) == false)
        #expect(try journal.waitForChange(after: commit.info.number - 1, timeout: .seconds(3600)))
    }

    @Test(.timeLimit(.minutes(1))) func `a waiting reader of another handle is woken by a commit`()
        async throws
    {
        let directory = TemporaryDirectory()
        let path = directory("journal")
        let writer = try Journal.create(at: path)
        let reader = try Journal.open(at: path, mode: .readOnly)
        async let woken: Bool = onOwnThread {
            (try? reader.waitForChange(after: 0, timeout: .seconds(3600))) ?? false
        }
        await onOwnThread { _ = try? writer.apply([put("a", "1")]) }
        #expect(await woken)
    }

    @Test(.timeLimit(.minutes(1))) func `closing wakes who waits`() async throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        async let ended: Bool = onOwnThread {
            do {
                return try journal.waitForChange(after: 0, timeout: .seconds(3600)) == false
            } catch {
                return (error as? JournalError) == .closed
            }
        }
        await onOwnThread { journal.close() }
        #expect(await ended)
    }
}
