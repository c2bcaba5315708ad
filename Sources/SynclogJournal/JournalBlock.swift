/// A block as it is stored: whole entries, compressed as one LZ4 frame.
public struct JournalBlock: Hashable, Sendable {
    /// The size in bytes of the CBOR sequence inside.
    public var rawSize: UInt32
    /// The first commit with entries inside.
    public var firstCommit: UInt64
    /// The last commit with entries inside.
    public var lastCommit: UInt64
    /// The number of entries.
    public var entryCount: UInt32
    /// Whether the last commit ends in this block.
    public var endsCommit: Bool
    /// The CRC32C of the payload.
    public var checksum: UInt32
    /// One LZ4 frame.
    public var payload: [UInt8]

    /// Makes a block.
    public init(
        rawSize: UInt32, firstCommit: UInt64, lastCommit: UInt64, entryCount: UInt32, endsCommit: Bool,
        checksum: UInt32, payload: [UInt8]
    ) {
        self.rawSize = rawSize
        self.firstCommit = firstCommit
        self.lastCommit = lastCommit
        self.entryCount = entryCount
        self.endsCommit = endsCommit
        self.checksum = checksum
        self.payload = payload
    }
}
