public import SynclogJournal

/// The authority over the records of a journal: it orders commits, compares tags and answers the token walks.
public final class JournalDatabase: Database {
    /// The journal.
    public let journal: Journal
    /// The container the database was made for.
    public let container: String
    /// The owner's id.
    public let owner: String
    /// The limits of requests and answers.
    public let limits: DatabaseLimits

    /// The database's identity.
    public var id: DatabaseID { journal.id }

    /// Takes over an open journal that holds a database.
    package init(journal: Journal, limits: DatabaseLimits = DatabaseLimits()) throws(SyncError) {
        fatalError("not yet")
    }

    /// Makes a directory with a database in it; its first commit holds the database's facts and the default zone.
    ///
    /// - Parameters:
    ///   - path: The directory, which must not be there or be empty.
    ///   - container: The container's name.
    ///   - owner: The owner's id; nil makes 32 random hex digits.
    ///   - scope: Whose records it holds; only `private` is built.
    ///   - mode: How the journal is opened.
    ///   - options: The journal's settings.
    ///   - limits: The limits of requests and answers.
    public static func create(
        at path: String, container: String = "local", owner: String? = nil, scope: DatabaseScope = .private,
        mode: JournalMode = .shared, options: JournalOptions = JournalOptions(),
        limits: DatabaseLimits = DatabaseLimits()
    ) throws(SyncError) -> JournalDatabase {
        fatalError("not yet")
    }

    /// Opens the database of a directory; a follower's too, which answers reads and refuses writes.
    public static func open(
        at path: String, mode: JournalMode = .shared, options: JournalOptions = JournalOptions(),
        limits: DatabaseLimits = DatabaseLimits()
    ) throws(SyncError) -> JournalDatabase {
        fatalError("not yet")
    }

    /// Waits for running commits and refuses further use; may be called twice.
    public func close() { journal.close() }

    /// Answers a request on the calling thread.
    @available(*, noasync)
    public func perform(_ request: DatabaseRequest) throws(SyncError) -> DatabaseAnswer {
        fatalError("not yet")
    }

    /// Answers a request on a thread of its own.
    public func perform(_ request: DatabaseRequest) async throws(SyncError) -> DatabaseAnswer {
        let result = await onOwnThread { () -> Result<DatabaseAnswer, SyncError> in
            Result { () throws(SyncError) in try self.perform(request) }
        }
        return try result.get()
    }
}

/// A hint that a database has changed; it may be lost, doubled or late.
public struct ChangeHint: Hashable, Sendable {
    /// The database.
    public var database: DatabaseID

    /// Makes a hint.
    public init(database: DatabaseID) { self.database = database }
}

extension JournalDatabase {
    /// Hints that the database has changed, from now on, until the reader stops.
    public func changeHints() -> AsyncStream<ChangeHint> { fatalError("not yet") }
}
