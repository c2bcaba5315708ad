import Testing

@testable import SynclogJournal

@Suite struct TombstoneRuleTests {
    /// One row for every combination of the three conditions, and for followers.
    static let rows: [(olderPut: Bool, leaseBelow: Bool, isYoung: Bool, hold: TombstoneRule.Hold?)] = [
        (false, false, false, nil), (false, false, true, .retention), (false, true, false, .lease),
        (false, true, true, .lease), (true, false, false, .olderPut), (true, false, true, .olderPut),
        (true, true, false, .olderPut), (true, true, true, .olderPut),
    ]

    @Test(arguments: rows.indices)
    func `a tombstone goes only when nothing holds it`(row: Int) {
        let row = Self.rows[row]
        let rule = TombstoneRule(
            clock: 1_000_000, retention: 1000, lowestLease: row.leaseBelow ? 41 : 42, sourceFloors: nil)
        let hold = rule.hold(
            commit: 42, clock: row.isYoung ? 999_001 : 999_000, zone: 1, olderPutSurvives: row.olderPut)
        #expect(hold == row.hold)
    }

    @Test(arguments: [
        (41 as UInt64?, false, TombstoneRule.Hold.sourceFloor as TombstoneRule.Hold?),
        (nil, false, .sourceFloor),
        (42, false, nil), (43, false, nil), (43, true, .olderPut),
    ])
    func `a follower goes by the floor of its source alone`(
        floor: UInt64?, olderPut: Bool, expected: TombstoneRule.Hold?
    ) {
        // Neither age nor leases of its own count.
        let rule = TombstoneRule(
            clock: 1_000_000, retention: 1000, lowestLease: 0, sourceFloors: floor.map { [1: $0] } ?? [:])
        #expect(
            rule.hold(commit: 42, clock: 1_000_000, zone: 1, olderPutSurvives: olderPut) == expected)
    }

    @Test func `no lease holds nothing back`() {
        let rule = TombstoneRule(clock: 1_000_000, retention: 1000, lowestLease: nil, sourceFloors: nil)
        #expect(rule.hold(commit: 42, clock: 0, zone: 1, olderPutSurvives: false) == nil)
    }
}

@Suite struct CompactionPolicyTests {
    static let unit: UInt64 = 1 << 20
    static let rows: [(sizes: [UInt64], range: Range<Int>?)] = [
        ([], nil), ([1, 1, 1], nil), ([1, 1, 1, 1], 0..<4), ([5, 1, 1, 1], nil), ([5, 1, 1, 1, 1], 1..<5),
        ([5, 5, 5, 5, 1], 0..<4), ([5, 5, 5, 5, 1, 1, 1, 1], 4..<8), ([1, 1, 1, 1, 20], 0..<4),
        ([20, 5, 5, 1, 5, 5], 1..<6),
    ]

    @Test(arguments: rows.indices)
    func `four of one size become one of the next`(row: Int) {
        let row = Self.rows[row]
        let policy = CompactionPolicy(segmentSize: Self.unit, inputMax: 1 << 30)
        #expect(policy.choose(row.sizes.map { $0 * Self.unit }) == row.range)
    }

    @Test func `a merge reads no more than it may`() {
        let policy = CompactionPolicy(segmentSize: Self.unit, inputMax: 8 << 20)
        #expect(policy.choose([5, 5, 5, 5].map { $0 * Self.unit }) == nil)
        #expect(policy.choose([UInt64](repeating: 2 << 20, count: 6)) == 2..<6)
    }
}
