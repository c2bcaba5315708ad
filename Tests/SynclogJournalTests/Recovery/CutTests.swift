import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// The active segment cut at every byte of its last three commits.
@Suite(.long) struct CutTests {
    /// A journal with HEAD as it stood after each commit.
    struct History {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var heads: [(JournalFiles.Head, [UInt8])] = []

        init(seed: UInt64, count: Int, entriesMax: Int = 4, valueSizeMax: Int = 150) throws {
            var workload = Workload(seed: seed, entriesMax: entriesMax, valueSizeMax: valueSizeMax)
            let journal = try Journal.create(at: "/j", options: .test(system))
            // The last commits must lie in one segment, which is not about to be sealed.
            var inActive = 0
            while model.commits.count < count || inActive < 5 || heads[heads.count - 1].0.end > 11_000 {
                model.commits.append(try journal.apply(workload.next()))
                heads.append((try #require(system.head(of: "/j")), try #require(system.contents("/j/HEAD"))))
                let segment = heads[heads.count - 1].0.segment
                inActive = heads.count { $0.0.segment == segment }
            }
            journal.close()
        }

        /// The last commits that lie whole in the active segment, with the offsets where they end.
        func lastInActive(_ count: Int) throws -> [(JournalFiles.Head, [UInt8])] {
            let segment = try #require(heads.last).0.segment
            let all = heads.filter { $0.0.segment == segment }
            try #require(all.count > count)
            return Array(all.suffix(count + 1))
        }
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `with HEAD of the commit before, exactly the whole commits are there`(seed: UInt64) throws {
        let history = try History(seed: seed, count: 25)
        let ends = try history.lastInActive(3)
        let path = try #require(history.system.segments(of: "/j").last)
        let bytes = try #require(history.system.contents(path))
        for cut in ends[0].0.end...ends[3].0.end {
            let (head, slot) = try #require(ends.last { $0.0.end <= cut })
            let system = history.system.copy()
            try system.setContents(path, Array(bytes[..<cut]))
            try system.setContents("/j/HEAD", slot)
            let expected = history.model.through(head.commit).commits
            #expect(try recovered(system) == expected, "cut at \(cut)")
            // A second opening finds the same, and nothing to recover.
            #expect(try recovered(system) == expected, "cut at \(cut), opened again")
            let report = try Journal.open(at: "/j", mode: .readOnly, options: .test(system)).verify()
            #expect(report.damages == [] && report.lost == nil, "cut at \(cut)")
        }
    }

    @Test(arguments: [21, 22] as [UInt64])
    func `with HEAD left, the loss is told with both places and nothing changes`(seed: UInt64) throws {
        let history = try History(seed: seed, count: 25)
        let ends = try history.lastInActive(3)
        let path = try #require(history.system.segments(of: "/j").last)
        let bytes = try #require(history.system.contents(path))
        for cut in ends[0].0.end..<ends[3].0.end {
            let system = history.system.copy()
            try system.setContents(path, Array(bytes[..<cut]))
            let before = system.image(of: "/j")
            let (whole, _) = try #require(ends.last { $0.0.end <= cut })
            for mode in [JournalMode.shared, .exclusive, .readOnly] {
                let error = #expect(throws: JournalError.self, "cut at \(cut)") {
                    let journal = try Journal.open(at: "/j", mode: mode, options: .test(system, seed: 8))
                    _ = try journal.head()
                }
                guard case .lostData(let acknowledged, let found) = error else {
                    Issue.record("cut at \(cut): \(String(describing: error))")
                    continue
                }
                #expect(
                    acknowledged.commit == ends[3].0.commit && acknowledged.offset == UInt64(ends[3].0.end))
                #expect(found.commit == whole.commit, "cut at \(cut)")
                #expect(acknowledged.file == path && found.file == path)
            }
            var after = system.image(of: "/j")
            // The text of LOCK may name who looked last.
            after["LOCK"] = before["LOCK"]
            #expect(after == before, "cut at \(cut)")
        }
    }

    @Test func `a commit over several blocks is there whole or not at all`() throws {
        let history = try History(seed: 31, count: 3)
        let system = history.system
        let before = try #require(system.contents("/j/HEAD"))
        let start = try #require(system.head(of: "/j")).end
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 32))
        let large = try journal.apply(
            (0..<10).map { put("part-\($0)", String(repeating: "x\($0)", count: 600)) })
        let path = try #require(system.segments(of: "/j").last)
        let end = try #require(system.head(of: "/j")).end
        journal.close()
        let bytes = try #require(system.contents(path))
        let blocks = JournalFiles.frames(bytes).filter {
            $0.kind == 0x50 && $0.offset >= start && $0.offset < end
        }
        #expect(blocks.count >= 3)
        var cuts = Set(
            blocks.flatMap { [$0.offset, $0.offset + 1, $0.offset + 64, $0.offset + $0.size - 1] })
        cuts.formUnion(stride(from: start, through: end, by: 37))
        cuts.insert(end)
        for cut in cuts.sorted() {
            let copy = system.copy()
            try copy.setContents(path, Array(bytes[..<cut]))
            try copy.setContents("/j/HEAD", before)
            let expected = history.model.commits + (cut == end ? [large] : [])
            #expect(try recovered(copy) == expected, "cut at \(cut) of \(start)...\(end)")
        }
        // The last block lost as a hole, with the file as long as it was.
        for block in blocks {
            let copy = system.copy()
            var holed = bytes
            for place in block.offset..<block.offset + block.size { holed[place] = 0 }
            try copy.setContents(path, holed)
            try copy.setContents("/j/HEAD", before)
            #expect(try recovered(copy) == history.model.commits, "block at \(block.offset) of zeros")
        }
    }
}
