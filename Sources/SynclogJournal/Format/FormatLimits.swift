/// All maxima of the format, in bytes or counts.
public enum FormatLimits {
    /// The longest key name in bytes.
    public static let keySizeMax = 1024
    /// The largest value of one entry in bytes.
    public static let valueSizeMax = 3 << 20
    /// The largest block before compression in bytes.
    public static let blockRawSizeMax = 4 << 20
    /// The largest stored block in bytes: incompressible content and the frame around it.
    static let blockStoredSizeMax = blockRawSizeMax + 1024
    /// The most bytes of all entries of one commit.
    public static let commitSizeMax = 64 << 20
    /// The most zones one commit may touch.
    public static let commitZonesMax = 4096
    /// The highest number of a commit or a segment, and the latest clock, that is believed; counting on from there never overflows.
    static let numberMax: UInt64 = 1 << 62
    /// The largest segment that may be asked for in bytes; offsets of index checkpoints have 32 bits.
    public static let segmentSizeMax = 1 << 30
}
