internal import SynclogJournal

/// One message of the protocol, either way.
enum WireMessage: Hashable, Sendable {
    /// Who I am; the first message of each side.
    case hello(WireHello)
    /// Give me blocks.
    case follow(id: UInt64, FollowRequest)
    /// Blocks, in answer to a follow.
    case blocks(id: UInt64, [JournalBlock])
    /// You have everything up to this head.
    case caughtUp(id: UInt64, JournalHead)
    /// I cannot follow your follow.
    case refused(id: UInt64, FollowRefusal)
    /// A database request, in the encoding of the records layer.
    case request(id: UInt64, [UInt8])
    /// The answer to a request.
    case answer(id: UInt64, [UInt8])
    /// The error of a request.
    case failure(id: UInt64, [UInt8])
    /// Tell me when something changed.
    case subscribe(id: UInt64)
    /// Something changed.
    case changed(id: UInt64, JournalHead)
    /// I end the connection because of this.
    case error(code: WireErrorCode, reason: String)
    /// I have nothing more to say.
    case bye
    /// A message of a newer version that may be ignored.
    case ignorable(kind: UInt64)
}

/// Why a side ends the connection; other numbers come from newer versions.
struct WireErrorCode: RawRepresentable, Hashable, Sendable {
    var rawValue: UInt64

    /// The other side broke the protocol.
    static let protocolViolation = WireErrorCode(rawValue: 1)
    /// The major versions differ.
    static let unsupportedVersion = WireErrorCode(rawValue: 2)
    /// The journal or database cannot be used.
    static let failed = WireErrorCode(rawValue: 3)
}

/// The content of a hello; the fields after the version are nil from a client that has no journal.
struct WireHello: Hashable, Sendable {
    var major = WireVersion.major
    var minor = WireVersion.minor
    var journal: JournalID?
    var head: JournalHead?
    var zones: ZoneNames?
    var container: String?
    var owner: String?
}
