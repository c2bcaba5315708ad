import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// The power goes: what was never synced is gone, what was acknowledged is there.
@Suite(.long) struct PowerLossTests {
    @Test(arguments: [51, 52, 53] as [UInt64])
    func `after every acknowledgement everything acknowledged survives`(seed: UInt64) throws {
        let system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: seed, entriesMax: 6, valueSizeMax: 600)
        var journal = try Journal.create(at: "/j", options: .test(system, seed: seed))
        for round in 0..<70 {
            if round % 9 == 8 {
                journal.close()
                journal = try Journal.open(at: "/j", options: .test(system, seed: seed + UInt64(round)))
            }
            model.commits.append(try journal.apply(workload.next()))
            let lost = system.afterPowerLoss()
            #expect(try recovered(lost) == model.commits, "round \(round)")
            #expect(try recovered(lost.afterPowerLoss()) == model.commits, "round \(round), lost again")
        }
        #expect(system.segments(of: "/j").count > 3)
    }

    @Test func `a directory is there as soon as it was made`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        let journal = try Journal.create(at: "/j", options: .test(system))
        let lost = system.afterPowerLoss()
        let found = try Journal.open(at: "/j", options: .test(lost))
        #expect(found.id == journal.id)
        #expect(try found.head().commit == 0)
    }

    /// What is behind HEAD persists sector by sector, in any order; some sectors never.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `sectors of the last group that never reached the disk`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: 600 + seed)
        let history = try CutTests.History(seed: 61 + seed, count: 15, entriesMax: 6, valueSizeMax: 700)
        let ends = try history.lastInActive(1)
        let path = try #require(history.system.segments(of: "/j").last)
        var bytes = try #require(history.system.contents(path))
        let (start, end) = (ends[0].0.end, ends[1].0.end)
        var lostSectors = 0
        for sector in (start / 512)...((end - 1) / 512) {
            guard Bool.random(using: &generator) else { continue }
            let range = max(start, sector * 512)..<min(end, sector * 512 + 512)
            if bytes[range].contains(where: { $0 != 0 }) { lostSectors += 1 }
            for place in range { bytes[place] = 0 }
        }
        let system = history.system.copy()
        try system.setContents(path, bytes)
        try system.setContents("/j/HEAD", ends[0].1)
        let expected = lostSectors == 0 ? history.model.commits : Array(history.model.commits.dropLast())
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 62))
        #expect(try journal.commits() == expected, "seed \(seed), from \(start) to \(end)")
        let next = try journal.apply([put("later", "x")])
        journal.close()
        #expect(try recovered(system) == expected + [next], "seed \(seed)")
    }

    /// Of a group that the power took, the first sector never reached the disk: the filler from before it covers the rest, up to the
    /// end of the file, as if nothing had been written. After the restart the numbers in there were given again.
    @Test func `a filler covers blocks of a torn group, and their number is not given again`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        let journal = try Journal.create(at: "/j", options: .test(system, segmentSize: 1 << 20))
        var generator = SeededGenerator(seed: 173)
        var model = JournalModel()
        for number in 0..<12 { model.commits.append(try journal.apply([put("n\(number)", "x")])) }
        let path = try #require(system.segments(of: "/j").last)
        let (head, slot) = (try #require(system.head(of: "/j")), try #require(system.contents("/j/HEAD")))
        let before = try #require(system.contents(path))
        let torn = try journal.apply(
            (0..<3).map { put("torn\($0)", generator.bytes(900).map(String.init).joined()) })
        let after = try #require(system.contents(path))
        try #require(after.count == before.count)
        let second = try #require(
            JournalFiles.frames(after).filter { $0.kind == 0x50 && $0.offset >= head.end }.dropFirst().first)
        let sector = second.offset / 512 * 512
        try #require(sector >= head.end + 8)
        let lost = system.afterPowerLoss()
        try lost.setContents(path, Array(before[..<sector]) + Array(after[sector...]))
        try lost.setContents("/j/HEAD", slot)
        let again = try Journal.open(at: "/j", options: .test(lost, segmentSize: 1 << 20, seed: 9))
        #expect(try again.commits() == model.commits)
        let next = try again.apply([put("next", "y")])
        #expect(next.info.number > torn.info.number)
        again.close()
        #expect(try recovered(lost) == model.commits + [next])
    }

    @Test func `blocks of an older segment in the tail are refused`() throws {
        let history = try CutTests.History(seed: 71, count: 120, valueSizeMax: 400)
        let segments = history.system.segments(of: "/j")
        try #require(segments.count >= 3)
        let old = try #require(history.system.contents(segments[0]))
        let path = segments[segments.count - 1]
        let head = try #require(history.heads.last).0
        let live = Array(try #require(history.system.contents(path))[..<head.end])
        let blocks = JournalFiles.frames(old).filter { $0.kind == 0x50 }
        for block in blocks {
            let system = history.system.copy()
            // At any place, and at the very offset it had in its own file.
            let gap = max(0, block.offset - live.count)
            try system.setContents(
                path, live + [UInt8](repeating: 0, count: gap) + old[block.offset..<block.offset + block.size]
            )
            #expect(try recovered(system) == history.model.commits, "block at \(block.offset)")
        }
    }
}
