/// The limits of an authority, all checked before anything is written; the defaults are CloudKit's where it has one.
public struct DatabaseLimits: Hashable, Sendable {
    /// The most saves and deletions of one request.
    ///
    /// The default is 400.
    public var itemCountMax = 400
    /// The most bytes of all items of one request as they are stored.
    ///
    /// The default is 2 MiB.
    public var requestSizeMax = 2 << 20
    /// The most bytes of one record as it is stored.
    ///
    /// The default is 1 MiB.
    public var recordSizeMax = 1 << 20
    /// The most bytes of a record's or zone's name.
    ///
    /// The default is 255.
    public var nameSizeMax = 255
    /// The most bytes of a type's or field's name.
    ///
    /// The default is 255.
    public var identifierSizeMax = 255
    /// The most bytes of one commit, in which records are stored whole.
    ///
    /// The default is 16 MiB.
    public var commitSizeMax = 16 << 20
    /// The bytes of records after which a page ends.
    ///
    /// The default is 1 MiB.
    public var pageSizeMax = 1 << 20
    /// The records after which a page ends when the request leaves the choice.
    ///
    /// The default is 2000.
    public var pageCountMax = 2000

    /// The bytes of records after which an answer leaves out further ones.
    ///
    /// The default is 4 MiB.
    public var answerSizeMax = 4 << 20
    /// How long the outcomes of operations are relied on, by the log's clock.
    ///
    /// It must not be longer than the journal keeps them. The default is 30 days.
    public var operationRetention: Duration = .seconds(30 * 86_400)

    /// Makes the default limits.
    public init() {}
}

/// Whose records a database holds.
public struct DatabaseScope: RawRepresentable, Hashable, Sendable {
    /// The scope's name.
    public var rawValue: String

    /// Makes a scope from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// One owner's.
    public static let `private` = DatabaseScope(rawValue: "private")
    /// Everybody's; reserved.
    public static let `public` = DatabaseScope(rawValue: "public")
    /// A window on other owners' zones; reserved.
    public static let shared = DatabaseScope(rawValue: "shared")
}
