import TestSupport
import Testing

@testable import SynclogJournal

/// Looking up key rows in an index on disk, against a plain search through all of them.
@Suite struct IndexPartTests {
    /// How the fingerprints of an index lie.
    enum Spread: CaseIterable {
        case even, clustered, repeated, extremes

        func fingerprint(_ number: Int, using generator: inout SeededGenerator) -> UInt64 {
            switch self {
            case .even: generator.next()
            case .clustered: 1 << 63 | generator.next() >> UInt64.random(in: 20...50, using: &generator)
            case .repeated: UInt64.random(in: 0..<20, using: &generator) * 0x0CCC_CCCC_CCCC_CCCC
            case .extremes: number % 2 == 0 ? UInt64(number) : .max - UInt64(number)
            }
        }
    }

    private func part(_ content: IndexContent) throws -> IndexPart {
        let pages = IndexPages(content, salt: 7, offset: 0, earlier: [])
        let system = MemoryFileSystem()
        try system.setContents("/index", pages.bytes)
        return try IndexPart(file: try system.open("/index", .read), salt: 7, offset: 0, budget: PageBudget())
    }

    @Test(arguments: Spread.allCases, [1, 2, 254, 255, 256, 3000])
    func `every row of a fingerprint is found, newest first`(spread: Spread, count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        var content = IndexContent()
        content.keys = (0..<count).map {
            KeyRow(
                fingerprint: spread.fingerprint($0, using: &generator), block: UInt32($0 / 10),
                place: UInt32($0 % 10))
        }
        let all = content.keys
        content.finish()
        #expect(content.keys == all.sorted(by: KeyRow.order))
        let part = try part(content)
        var asked = Set(all.map(\.fingerprint))
        for known in all.prefix(300) { asked.formUnion([known.fingerprint &+ 1, known.fingerprint &- 1]) }
        asked.formUnion([0, .max, generator.next(), generator.next()])
        for fingerprint in asked {
            let expected = all.filter { $0.fingerprint == fingerprint }.sorted(by: KeyRow.order)
            var found: [KeyRow] = []
            _ = try part.first(of: KeyProbe(fingerprint)) { row -> Never? in
                found.append(row)
                return nil
            }
            #expect(found == expected)
            #expect(try part.first(of: KeyProbe(fingerprint)) { $0 } == expected.first)
        }
    }
}
