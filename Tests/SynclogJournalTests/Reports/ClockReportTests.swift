import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// What was reported of other journals about clocks.
@Suite(.long) struct ClockReportTests {
    /// Files were left out by their first and last time, and a clock that had been set back hid what lay between.
    @Test(arguments: [1, 2, 5])
    func `a clock that stepped back hides nothing from a query by time`(perSegment: Int) throws {
        let system = MemoryFileSystem()
        let clock = ManualClock(step: 0)
        let options = JournalOptions.test(
            system, segmentSize: perSegment == 5 ? 16 << 10 : 4200 * perSegment, clock: clock)
        let journal = try Journal.create(at: "/j", options: options)
        let walls: [Int64] = [10, 11, 5, 6, 12, 3, 5, 20, 6]
        for (number, wall) in walls.enumerated() {
            clock.set(wall * 1_000_000)
            try journal.apply([put("n\(number)", "x")])
        }
        func check(_ journal: Journal) throws {
            for range in [5...6, 3...3, 10...12, 0...30, 7...9, 20...20] as [ClosedRange<Int64>] {
                let filter = ReadFilter(wall: range.lowerBound * 1_000_000...range.upperBound * 1_000_000)
                let expected = walls.filter(range.contains).map { $0 * 1_000_000 }
                #expect(try journal.commits(filter: filter).map(\.info.wall) == expected, "\(range)")
                #expect(
                    try journal.commitsBackward(filter: filter).map(\.info.wall) == expected.reversed(),
                    "\(range)")
            }
        }
        try check(journal)
        _ = try journal.compact(everything: true)
        try check(try Journal.open(at: "/j", mode: .readOnly, options: .test(system, seed: 2)))
    }
}
