/// One block in an index: 48 bytes.
struct BlockRow: Hashable, Sendable {
    static let size = 48

    var offset: UInt64
    var storedSize: UInt32
    var rawSize: UInt32
    var firstCommit: UInt64
    var lastCommit: UInt64
    var firstWall: Int64
    var lastWall: Int64

    /// The place after the block.
    var end: UInt64 { offset + UInt64(BlockHeader.size) + UInt64(storedSize) }
}

/// One put or delete in an index: 16 bytes.
///
/// Sorted by fingerprint, the newer one first.
struct KeyRow: Hashable, Sendable {
    static let size = 16
    /// The bit of `place` that marks a delete.
    static let tombstone: UInt32 = 1 << 31

    var fingerprint: UInt64
    /// The block's number in its part of the index.
    var block: UInt32
    /// The entry's offset in the block's payload, and the tombstone bit.
    var place: UInt32

    static func order(_ a: KeyRow, _ b: KeyRow) -> Bool {
        if a.fingerprint != b.fingerprint { return a.fingerprint < b.fingerprint }
        if a.block != b.block { return a.block > b.block }
        return a.place & ~tombstone > b.place & ~tombstone
    }
}

/// Says that a block holds entries of a space and zone: 16 bytes.
struct GroupRow: Hashable, Comparable, Sendable {
    static let size = 16

    var space: UInt32
    var block: UInt32
    var zone: UInt64

    static func < (a: GroupRow, b: GroupRow) -> Bool {
        (a.space, a.zone, a.block) < (b.space, b.zone, b.block)
    }
}

/// The first and last commit with records of a zone: 24 bytes.
struct ZoneRow: Hashable, Sendable {
    static let size = 24

    var zone: UInt64
    var firstCommit: UInt64
    var lastCommit: UInt64
}

/// Where a session begins: 24 bytes, in order of commit.
struct SessionRow: Hashable, Sendable {
    static let size = 24

    var info: SessionInfo
}
