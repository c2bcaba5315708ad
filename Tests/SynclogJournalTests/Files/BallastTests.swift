import TestSupport
import Testing

@testable import SynclogJournal

/// The room that is kept for a full disk, and the zeros that are written ahead.
@Suite struct BallastTests {
    @Test(
        arguments: [
            (0, 0), (65_535, 0), (65_536, 32_768), (1 << 20, 512 << 10), (8 << 20, 4 << 20),
            (128 << 20, 4 << 20),
            (1 << 30, 32 << 20), (1 << 40, 256 << 20),
        ] as [(UInt64, UInt64)])
    func `a small journal keeps half of its size, a large one a 32nd`(content: UInt64, size: UInt64) {
        #expect(Ballast.size(for: content, from: 64 * 1024) == size)
    }

    @Test func `without room for all of it the file stays as it is, or takes what a compaction leaves`()
        throws
    {
        let system = MemoryFileSystem()
        try system.makeDirectory("/j")
        let ballast = Ballast("/j", .test(system))
        func size() throws -> UInt64? { try system.status("/j/BALLAST")?.size }
        system.setCapacity(100_000)
        ballast.fill(for: 256 << 10)
        #expect(try size() == nil)
        ballast.fill(for: 256 << 10, orLess: true)
        #expect(try size() == 64 << 10)
        ballast.fill(for: 256 << 10)
        #expect(try size() == 64 << 10)
        // Deletions take little, a compaction all.
        #expect(ballast.release(for: 300))
        #expect(try size() == 48 << 10)
        #expect(ballast.release(for: 20_000))
        #expect(try size() == 24 << 10)
        #expect(ballast.releaseAll() == 24 << 10)
        #expect(try size() == nil)
        #expect(!ballast.release(for: 300) && ballast.releaseAll() == 0)
    }

    @Test func `zeros are written ahead behind small groups and not behind large ones`() throws {
        let system = MemoryFileSystem()
        var options = JournalOptions.test(system, segmentSize: 1 << 20)
        options.zeroFillSize = 4096
        let journal = try Journal.create(at: "/j", options: options)
        var workload = Workload(seed: 58)
        let path = try #require(system.segments(of: "/j").first)
        for number in 0..<12 { try journal.apply([put("small\(number)", "x")]) }
        let end = try #require(system.head(of: "/j")).end
        let filled = try #require(system.contents(path)).count
        #expect(filled > end)
        try journal.apply([PlannedEntry(.put, recordKey("large"), value: workload.value(20_000))])
        let after = try #require(system.head(of: "/j")).end
        let size = try #require(system.contents(path)).count
        #expect(after > end + 4096 && size == after)
    }
}
