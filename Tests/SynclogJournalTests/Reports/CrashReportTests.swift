import Glibc
import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// What was reported of other journals after a crash: holes, torn ends that had to be truncated by hand, clocks that jumped.
@Suite(.long) struct CrashReportTests {
    /// The newer segment was synced, the end of the older one was not: what is read must never be the newer one alone.
    @Test func `the end of an older segment is lost and the newer segment is there`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 301, valueSizeMax: 600)
        let journal = try Journal.create(at: "/j", options: .test(system))
        while system.segments(of: "/j").count < 4 { try fill(journal, &model, &workload, count: 1) }
        try fill(journal, &model, &workload, count: 2)
        journal.close()
        let segments = system.segments(of: "/j")
        for path in segments.dropLast() {
            let bytes = try #require(system.contents(path))
            let blocks = JournalFiles.frames(bytes).filter { $0.kind == 0x50 }
            let cuts = [
                blocks[1].offset, try #require(blocks.last).offset, bytes.count - 4096, bytes.count - 1,
            ]
            for cut in cuts {
                for head in [true, false] {
                    let left = system.copy()
                    try left.setContents(path, Array(bytes[..<cut]))
                    if !head { try left.remove("/j/HEAD") }
                    let before = left.image(of: "/j")
                    try expectNoHole(left, model, path, "\(path) cut at \(cut), HEAD \(head)")
                    let after = left.image(of: "/j")
                    #expect(Set(after.keys).isSuperset(of: before.keys), "something was deleted")
                }
            }
        }
    }

    /// Everything, or an error that names the file; with damage told also what is left, which is no hole then.
    private func expectNoHole(
        _ left: MemoryFileSystem, _ model: JournalModel, _ path: String, _ comment: Comment
    ) throws {
        do throws(JournalError) {
            let journal = try Journal.open(at: "/j", options: .test(left, seed: 9))
            defer { journal.close() }
            var damages: [Damage] = []
            let found = try journal.commits { damages.append($0) }
            #expect(found == model.commits || damages.contains { $0.file == path }, comment)
            let isSound = try journal.verify().isSound
            #expect(found == model.commits || !isSound, comment)
        } catch {
            switch error {
            case .corrupted(let damage): #expect(damage.file == path, comment)
            case .lostData, .missingSegment: break
            default: Issue.record("\(comment): \(error)")
            }
        }
    }

    /// Programs that end a broken tail only with a flag leave everybody standing who does not know it.
    @Test(arguments: [311, 312, 313] as [UInt64])
    func `a hundred kills at any call, and every opening needs nothing but itself`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let system = MemoryFileSystem()
        var workload = Workload(seed: seed, valueSizeMax: 400)
        try Journal.create(at: "/j", options: .test(system, segmentSize: 8 << 10)).close()
        var acknowledged: [Commit] = []
        var kills = 0
        while kills < 100 {
            let end = Int.random(in: 1..<90, using: &generator)
            let bytes = Int.random(in: 0..<600, using: &generator)
            let files = system.process { $0.number >= end ? .killed(bytesBefore: bytes) : .goesOn }
            do throws(JournalError) {
                let journal = try Journal.open(
                    at: "/j", options: .test(files, segmentSize: 8 << 10, seed: generator.next()))
                while true { acknowledged.append(try journal.apply(workload.next())) }
            } catch {
                #expect(files.process?.isAlive == false, "seed \(seed), kill \(kills): \(error)")
            }
            kills += 1
        }
        let found = try recovered(system)
        let numbers = Set(acknowledged.map(\.info.number))
        #expect(found.filter { numbers.contains($0.info.number) } == acknowledged, "seed \(seed)")
        #expect(found.count <= acknowledged.count + kills)
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.info.number < $1.info.number })
    }

    /// The clock fell back by months, jumped ahead, and fell back again, and the power went in between.
    @Test func `clocks jump by months in both directions and the power goes`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        let month: Int64 = 30 * 86_400 * 1_000_000
        let clock = ManualClock()
        let start = clock.now
        var commits: [Commit] = []
        var files = system
        try Journal.create(at: "/j", options: .test(files, clock: clock)).close()
        for (round, months) in [0, -8, 8, -8, 0, 100, -100].enumerated() {
            clock.set(start + Int64(months) * month)
            let journal = try Journal.open(
                at: "/j", options: .test(files, seed: UInt64(round) + 40, clock: clock))
            for number in 0..<3 {
                commits.append(
                    try journal.apply([put("r\(round)-\(number)", String(repeating: "c", count: 900))]))
            }
            files = files.afterPowerLoss(.anySectors(seed: UInt64(round)))
        }
        // Readers see the last commit only after a writer has proved it.
        let journal = try Journal.open(at: "/j", options: .test(files, seed: 60))
        #expect(try journal.commits() == commits)
        #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.info.number < $1.info.number })
        #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.info.clock < $1.info.clock })
        #expect(Set(commits.map { $0.info.wall / month }).count >= 5)
        #expect(try journal.verify().isSound)
    }

    /// After sectors of the last group were lost the next writer went on, and the power went a second time.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `what is written behind a torn end is there after the next loss of power`(seed: UInt64) throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var workload = Workload(seed: 330 + seed, entriesMax: 8, valueSizeMax: 700)
        let journal = try Journal.create(at: "/j", options: .test(system, seed: seed))
        var acknowledged: [Commit] = []
        for _ in 0..<6 { acknowledged.append(try journal.apply(workload.next())) }
        // The last group is written, its sync is where the power goes.
        system.setFailures(FailurePlan([.init([.syncData], times: 1, code: EIO)]))
        #expect(throws: JournalError.self) { try journal.apply(workload.next()) }
        system.setFailures(FailurePlan())
        var files = system.afterPowerLoss(.anySectors(seed: seed))
        for round in 0..<3 as Range<UInt64> {
            let next = try Journal.open(at: "/j", options: .test(files, seed: 70 + round))
            acknowledged.append(try next.apply(workload.next()))
            files = files.afterPowerLoss(.anySectors(seed: seed * 3 + round))
            #expect(try recovered(files.copy()) == acknowledged, "seed \(seed), round \(round)")
        }
    }
}
