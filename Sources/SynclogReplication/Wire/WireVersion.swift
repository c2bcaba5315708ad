/// The protocol's name, version and limits; `wire-format` in the documentation has the tables.
enum WireVersion {
    /// The first text of every hello.
    static let name = "synclog"
    /// A side that does not know the other's major version ends the connection.
    static let major: UInt64 = 1
    /// The lower of both sides' minor versions holds.
    static let minor: UInt64 = 0
    /// The most bytes of one message, its length word not counted.
    static let messageSizeMax = 16 << 20
    /// About how many bytes of blocks go into one message.
    static let blocksSizeTarget = 64 << 10
    /// The most sessions a follower names.
    static let sessionsMax = 64
    /// The most zones of a filter.
    static let zonesMax = 4096
    /// The most blocks of one message.
    static let blocksMax = 65_536
    /// Unknown messages of this number and above are ignored, others end the connection.
    static let ignorableKindMin: UInt64 = 64
}
