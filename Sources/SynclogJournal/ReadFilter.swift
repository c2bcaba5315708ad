/// Which entries a reader is given; everything by default.
public struct ReadFilter: Hashable, Sendable {
    /// Only records of these zones; entries without a zone pass.
    ///
    /// Nil means all.
    public var zones: Set<UInt64>?
    /// Only these spaces.
    ///
    /// Nil means all.
    public var spaces: Set<Space>?
    /// Only commits whose wall time in microseconds since 1970 lies in this range.
    ///
    /// Nil means all.
    public var wall: ClosedRange<Int64>?

    /// Makes a filter.
    public init(zones: Set<UInt64>? = nil, spaces: Set<Space>? = nil, wall: ClosedRange<Int64>? = nil) {
        self.zones = zones
        self.spaces = spaces
        self.wall = wall
    }

    /// Lets everything pass.
    public static let all = ReadFilter()
}
