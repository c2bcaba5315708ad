import SynclogJournal
import SynclogRecords
import SynclogReplication

/// A database that a command works on, here or elsewhere.
struct OpenedDatabase {
    /// The database.
    let database: any Database
    /// Whether it is reached through a command or another machine.
    let isRemote: Bool
    private let close: @Sendable () -> Void

    /// What is said once when the end of a journal is not proven.
    static let recoveryNotice =
        "synclog: recoveryPending: later commits may be there; the next command that writes will tell"

    /// Opens what `-D` names, hands it to the body, and closes it.
    static func use<Result>(
        _ invocation: Invocation, writing: Bool,
        _ body: (OpenedDatabase) async throws(CommandFailure) -> Result
    ) async throws(CommandFailure) -> Result {
        let opened = try open(invocation, writing: writing)
        defer { opened.close() }
        if !writing, let local = opened.database as? JournalDatabase {
            if try isRecoveryPending(local.journal) { invocation.console.notice(recoveryNotice) }
        }
        return try await body(opened)
    }

    private static func isRecoveryPending(_ journal: Journal) throws(CommandFailure) -> Bool {
        try SynclogCLI.journal { () throws(JournalError) in try journal.head().recoveryPending }
    }

    private static func open(_ invocation: Invocation, writing: Bool) throws(CommandFailure) -> OpenedDatabase
    {
        let place = try invocation.place()
        var options = JournalOptions()
        try invocation.set(&options)
        if Invocation.isSource(place) {
            let remote: RemoteDatabase
            do throws(ReplicationError) {
                remote = RemoteDatabase(try SourceAddress(place))
            } catch {
                throw CommandFailure(error)
            }
            return OpenedDatabase(database: remote, isRemote: true, close: { remote.close() })
        }
        let local: JournalDatabase
        do throws(SyncError) {
            local = try JournalDatabase.open(at: place, mode: writing ? .shared : .readOnly, options: options)
        } catch {
            throw CommandFailure(error)
        }
        return OpenedDatabase(database: local, isRemote: false, close: { local.close() })
    }

    /// What a request that writes says of itself; a command with a remote has an id for its repeats.
    func writeContext() -> RequestContext {
        var context = RequestContext()
        if isRemote { context.operation = .random() }
        return context
    }

    /// Makes a zone.
    func makeZone(_ id: RecordZone.ID) async throws(CommandFailure) {
        let results = try await SynclogCLI.database { () throws(SyncError) in
            try await database.modifyRecordZones(
                saving: [RecordZone(zoneID: id)], deleting: [], context: writeContext())
        }
        guard case .failure(let error)? = results.saveResults[id] else { return }
        throw CommandFailure(error)
    }

    /// Whether a zone is there; a look-up of any record in it tells.
    func hasZone(_ id: RecordZone.ID) async throws(CommandFailure) -> Bool {
        let record = Record.ID(recordName: "any", zoneID: id)
        let found = try await SynclogCLI.database { () throws(SyncError) in
            try await database.records(for: [record], desiredKeys: [])
        }
        switch found[record] {
        case .success?: return true
        case .failure(let error)? where error.code == .unknownItem: return true
        case .failure(let error)? where [.zoneNotFound, .userDeletedZone].contains(error.code): return false
        case .failure(let error)?: throw CommandFailure(error)
        case nil: throw CommandFailure(.remote, "the database did not answer for a zone", next: "try again")
        }
    }

    /// Makes a zone that is not there and says so, unless that is not wanted.
    func ensureZone(_ id: RecordZone.ID, create: Bool, _ console: Console) async throws(CommandFailure) {
        if try await hasZone(id) { return }
        guard create else {
            throw CommandFailure(
                .notSo, "zone '\(shown(id.zoneName))' is not there", next: "make it by 'synclog zone create'")
        }
        try await makeZone(id)
        console.notice("made zone '\(shown(id.zoneName))'")
    }

    /// One record, or nil if it is not there; a missing zone is a failure.
    func record(_ id: Record.ID) async throws(CommandFailure) -> Record? {
        let found = try await SynclogCLI.database { () throws(SyncError) in
            try await database.records(for: [id])
        }
        switch found[id] {
        case .success(let record)?: return record
        case .failure(let error)? where error.code == .unknownItem: return nil
        case .failure(let error)?: throw CommandFailure(error)
        case nil: throw CommandFailure(.remote, "the database did not answer for a record", next: "try again")
        }
    }
}
