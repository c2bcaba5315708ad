public import SynclogJournal

/// The authority over the records of a journal: it orders commits, compares tags and answers the token walks.
///
/// Every change is durable before it is answered. Many processes may have the same directory open.
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
        self.journal = journal
        self.limits = limits
        let stored = try mapped { () throws(JournalError) in
            _ = try journal.head()
            return try journal.entry(for: StoredDatabase.key)
        }
        guard let stored else {
            throw SyncError(
                .badContainer, "the journal in \(journal.path) holds no database",
                nextStep: "make one with synclog init, or let the follower copy it first")
        }
        guard let facts = try? StoredDatabase(value: stored.entry.value) else { throw .notUnderstood() }
        guard facts.scope.hasSameBytes(as: DatabaseScope.private.rawValue) else {
            throw .reservedScope(DatabaseScope(rawValue: facts.scope))
        }
        container = facts.container
        owner = facts.owner
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
        guard scope == .private else { throw .reservedScope(scope) }
        let owner = owner ?? JournalID(high: options.random(), low: options.random()).description
        for (what, name) in [("container", container), ("owner", owner)]
        where name.isEmpty || name.utf8.count > limits.nameSizeMax {
            throw .invalid(
                "the \(what)'s name has \(name.utf8.count) bytes, 1 to \(limits.nameSizeMax) are allowed",
                nextStep: "choose another name")
        }
        let journal = try newJournal(at: path, mode: mode, options: options)
        do throws(JournalError) {
            let made = try journal.commit { tx throws(JournalError) in
                guard try tx.entry(for: StoredDatabase.key) == nil else { return false }
                let facts = StoredDatabase(
                    container: container, scope: scope.rawValue, owner: owner, created: tx.clock)
                try tx.put(StoredDatabase.key, value: facts.encoded())
                try tx.put(
                    StoredZone.key(owner: owner, name: RecordZone.ID.defaultZoneName),
                    value: StoredZone(created: tx.clock).encoded())
                return true
            }
            guard made.result else { throw JournalError.alreadyExists(path: path) }
        } catch {
            journal.close()
            throw SyncError(error)
        }
        return try JournalDatabase(journal: journal, limits: limits)
    }

    /// Makes a journal, or opens the empty one that an interrupted `create` left behind.
    private static func newJournal(
        at path: String, mode: JournalMode, options: JournalOptions
    ) throws(SyncError) -> Journal {
        do throws(JournalError) {
            return try Journal.create(at: path, mode: mode, options: options)
        } catch .alreadyExists {
            let journal = try mapped { () throws(JournalError) in
                try Journal.open(at: path, mode: mode, options: options)
            }
            let isEmpty = try mapped { () throws(JournalError) in
                let follows = try journal.followerState() != nil
                return try journal.head().commit == 0 && !follows
            }
            guard isEmpty else {
                journal.close()
                throw SyncError(.alreadyExists(path: path))
            }
            return journal
        } catch {
            throw SyncError(error)
        }
    }

    /// Opens the database of a directory; a follower's too, which answers reads and refuses writes.
    public static func open(
        at path: String, mode: JournalMode = .shared, options: JournalOptions = JournalOptions(),
        limits: DatabaseLimits = DatabaseLimits()
    ) throws(SyncError) -> JournalDatabase {
        let journal = try mapped { () throws(JournalError) in
            try Journal.open(at: path, mode: mode, options: options)
        }
        do {
            return try JournalDatabase(journal: journal, limits: limits)
        } catch {
            journal.close()
            throw error
        }
    }

    /// Waits for running commits and refuses further use; may be called twice.
    public func close() { journal.close() }

    /// Answers a request on the calling thread.
    @available(*, noasync)
    public func perform(_ request: DatabaseRequest) throws(SyncError) -> DatabaseAnswer {
        var head = try mapped { () throws(JournalError) in try journal.head() }
        try check(request.context)
        let body: DatabaseAnswer.Body
        switch request.body {
        case .identify: body = .identified
        case .records(let ids, let desiredKeys):
            body = .records(try records(for: ids, desiredKeys: desiredKeys))
        case .recordZoneChanges(let zoneID, let token, let desiredKeys, let limit):
            body = .recordZoneChanges(
                try recordZoneChanges(
                    inZoneWith: zoneID, since: token, desiredKeys: desiredKeys, resultsLimit: limit,
                    head: head.commit))
        case .databaseChanges(let token, let limit):
            body = .databaseChanges(try databaseChanges(since: token, resultsLimit: limit, head: head.commit))
        case .allRecordZones: body = .recordZones(try allRecordZones())
        case .modifyRecords(let content):
            body = try modifyRecords(content, context: request.context)
            head = try mapped { () throws(JournalError) in try journal.head() }
        case .modifyRecordZones(let saves, let deletions, let reason):
            body = try modifyRecordZones(
                saving: saves, deleting: deletions, reason: reason, context: request.context)
            head = try mapped { () throws(JournalError) in try journal.head() }
        }
        return try answer(body, head: head, to: request.context)
    }

    /// Answers a request on a thread of its own.
    public func perform(_ request: DatabaseRequest) async throws(SyncError) -> DatabaseAnswer {
        let result = await onOwnThread { () -> Result<DatabaseAnswer, SyncError> in
            Result { () throws(SyncError) in try self.perform(request) }
        }
        return try result.get()
    }

    /// Refuses a request that expects another database, another owner, or another history of its device.
    private func check(_ context: RequestContext) throws(SyncError) {
        if let expected = context.database, expected != id {
            throw SyncError(
                .foreign, "this is another database than the one expected",
                nextStep: "check the address; a new database must be added as a new remote")
        }
        if let expected = context.owner, !expected.hasSameBytes(as: owner) {
            throw SyncError(
                .ownerChanged, "the database belongs to another owner than the one expected",
                nextStep: "check the address, or switch accounts")
        }
        guard let device = context.device else { return }
        let known = try mapped { () throws(JournalError) in
            try journal.device(device)
        }
        guard let last = try known?.get().last else { return }
        for mine in [context.confirmedOperation, context.operation].compactMap(\.self)
        where mine.counter == last.counter && mine.bits != last.bits {
            throw .deviceCloned
        }
    }

    private func answer(
        _ body: DatabaseAnswer.Body, head: JournalHead, to context: RequestContext
    ) throws(SyncError) -> DatabaseAnswer {
        let known = try mapped { () throws(JournalError) in
            try context.device.flatMap { device throws(JournalError) in try journal.device(device) }
        }
        let last = try known?.get().last
        return DatabaseAnswer(
            database: id, container: container, owner: owner, session: head.session, head: head.commit,
            lastOperation: last?.counter == 0 ? nil : last, body: body)
    }

    /// The key of a zone's entry; nil for another owner's, which this database cannot have.
    func key(of id: RecordZone.ID) -> EntryKey? {
        guard
            id.ownerName.hasSameBytes(as: RecordZone.ID.defaultOwnerName)
                || id.ownerName.hasSameBytes(as: owner)
        else { return nil }
        return StoredZone.key(owner: owner, name: id.zoneName)
    }
}

extension SyncError {
    fileprivate static func reservedScope(_ scope: DatabaseScope) -> SyncError {
        SyncError(
            .reserved, "the scope \(scope.rawValue) is reserved",
            nextStep: "make the database with the scope private")
    }
}
