/// When a tombstone may be forgotten: all three conditions, and a floor that tells of it.
struct TombstoneRule: Hashable, Sendable {
    /// The log clock at the head.
    var clock: Int64
    /// How long tombstones are kept, in microseconds.
    var retention: Int64
    /// The lowest position of all live leases, or nil if there is none.
    var lowestLease: UInt64?
    /// In a follower, the floors that came from its source; nil in a journal that makes its own.
    var sourceFloors: [UInt64: UInt64]?
    /// Whether an older put that is still stored counts.
    var keepsOverPuts = true

    /// What keeps a tombstone.
    enum Hold: Hashable, Sendable {
        /// An older put of its key is still stored: it would come back.
        case olderPut
        /// A live lease has not passed it.
        case lease
        /// It is too young.
        case retention
        /// This journal follows another one, whose floor has not passed it.
        case sourceFloor
    }

    /// What keeps a tombstone of a zone made at a commit and clock, or nil if it may go.
    func hold(commit: UInt64, clock: Int64, zone: UInt64, olderPutSurvives: Bool) -> Hold? {
        if olderPutSurvives, keepsOverPuts { return .olderPut }
        if let sourceFloors { return sourceFloors[zone, default: 0] >= commit ? nil : .sourceFloor }
        if let lowestLease, lowestLease < commit { return .lease }
        let (age, overflow) = self.clock.subtractingReportingOverflow(clock)
        if !overflow, age < retention { return .retention }
        return nil
    }
}
