/// How long a journal keeps what nobody needs any more; all times are of the log clock.
public struct JournalRetention: Hashable, Sendable {
    /// How long a tombstone is kept at least; the default is 30 days.
    public var tombstones: Duration = .seconds(30 * 86_400)
    /// How long a lease may hold tombstones back; the default is 180 days.
    public var leases: Duration = .seconds(180 * 86_400)
    /// How long a superseded version is kept; the default is 0: until the next compaction.
    public var history: Duration = .zero
    /// How long notes are kept; the default is 30 days.
    public var notes: Duration = .seconds(30 * 86_400)
    /// How long outcomes of operations are kept; the default is 30 days.
    public var operations: Duration = .seconds(30 * 86_400)
    /// How long the label of a session is kept after the session's end; the default is 180 days.
    public var sessions: Duration = .seconds(180 * 86_400)

    /// Makes the default times.
    public init() {}
}

extension Duration {
    /// Whole microseconds, the unit of the log clock.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : scaled &+ attoseconds / 1_000_000_000_000
    }
}
