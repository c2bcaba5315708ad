import SynclogJournal
import TestSupport
import Testing

/// Reading entries in place gives the same as reading commits.
@Suite struct EntryViewTests {
    /// An entry with the facts of its commit.
    private struct Seen: Hashable {
        var commit: UInt64
        var clock: Int64
        var wall: Int64
        var device: UInt32
        var entry: Entry
    }

    private static func flat(_ commit: Commit, backward: Bool) -> [Seen] {
        let info = commit.info
        let seen = commit.entries.map {
            Seen(commit: info.number, clock: info.clock, wall: info.wall, device: info.device, entry: $0)
        }
        return backward ? seen.reversed() : seen
    }

    private static func reader(
        _ journal: Journal, _ position: JournalPosition, _ filter: ReadFilter, backward: Bool
    ) throws -> JournalReader {
        backward
            ? try journal.readBackward(before: position, filter: filter)
            : try journal.read(after: position, filter: filter)
    }

    @Test(arguments: [221, 222, 223] as [UInt64])
    func `entries read in place with stops and commits between are those of the commits`(seed: UInt64) throws
    {
        let (journal, model, _) = try ReadingTests.sample(seed: seed, count: 120)
        var generator = SeededGenerator(seed: seed + 9)
        for round in 0..<120 {
            let backward = Bool.random(using: &generator)
            let commit = model.commits.randomElement(using: &generator)!.info.number
            let position: JournalPosition =
                Bool.random(using: &generator) ? .end(of: commit) : JournalPosition(commit: commit, index: 1)
            let filter = ReadingTests.randomFilter(&generator, model)
            var expected: [Seen] = []
            var whole = try Self.reader(journal, position, filter, backward: backward)
            while let commit = try whole.next() { expected += Self.flat(commit, backward: backward) }

            var found: [Seen] = []
            var parts = try Self.reader(journal, position, filter, backward: backward)
            var reachedEnd = false
            while !reachedEnd {
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    guard let commit = try parts.next() else { break }
                    found += Self.flat(commit, backward: backward)
                    continue
                }
                var left = Int.random(in: 1...40, using: &generator)
                reachedEnd = true
                try parts.forEachEntry { view in
                    found.append(
                        Seen(
                            commit: view.commit, clock: view.clock, wall: view.wall, device: view.device,
                            entry: view.copy()))
                    left -= 1
                    if left == 0 { reachedEnd = false }
                    return left > 0
                }
            }
            #expect(found == expected, "round \(round): \(position), \(filter), backward \(backward)")
        }
    }
}
