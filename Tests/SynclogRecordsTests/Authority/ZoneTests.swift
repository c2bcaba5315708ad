import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// Zones: made, deleted for a reason, made again.
@Suite struct ZoneTests {
    static let zone = RecordZone.ID(zoneName: "z")

    @Test func `a new database has the default zone, made by commit 1`() throws {
        let database = try Fixture(zones: []).database
        #expect(try database.headCommit() == 1)
        #expect(try database.zoneNumber(.default) == 1)
        #expect(try database.zones().map(\.zoneID) == [.default])
        try database.save(note("r", in: .default))
        #expect(try database.changes(in: .default).modifications.map(\.recordID) == [id("r", in: .default)])
        #expect(code { try database.delete(zone: .default) } == .invalidArguments)
    }

    @Test func `making a zone is a commit of its own; making it again changes nothing`() throws {
        let database = try Fixture(zones: []).database
        try database.save(zone: Self.zone)
        #expect(try database.headCommit() == 2)
        #expect(try database.zoneNumber(Self.zone) == 2)
        let zones = try database.zones()
        try database.save(zone: Self.zone)
        #expect(try database.headCommit() == 2)
        #expect(try database.zones() == zones)
        #expect(zones.map(\.zoneID.zoneName) == ["_defaultZone", "z"])
        #expect(zones.allSatisfy { $0.creationDate != nil })
    }

    @Test(arguments: ZoneDeletionReason.allCases) func `a zone is deleted for a reason`(
        reason: ZoneDeletionReason
    ) throws {
        let database = try Fixture(zones: [Self.zone]).database
        try database.save(note("r", in: Self.zone))
        let databaseToken = try database.databaseChanges().changeToken
        let zoneToken = try database.changes(in: Self.zone).changeToken
        try database.delete(zone: Self.zone, reason: reason)
        let gone: SyncError.Code = reason == .purged ? .userDeletedZone : .zoneNotFound
        #expect(code { _ = try database.record(id("r", in: Self.zone)) } == gone)
        #expect(code { try database.save(note("s", in: Self.zone)) } == gone)
        #expect(code { try database.delete(id("r", in: Self.zone)) } == gone)
        #expect(code { _ = try database.changes(in: Self.zone) } == gone)
        #expect(code { _ = try database.changes(in: Self.zone, since: zoneToken) } == gone)
        #expect(code { try database.delete(zone: Self.zone, reason: reason) } == .zoneNotFound)
        do {
            try database.save(note("s", in: Self.zone))
        } catch {
            #expect(error.zoneDeletionReason == reason)
        }
        let page = try database.databaseChanges(since: databaseToken)
        #expect(page.modifications == [])
        #expect(page.deletions == [.init(zoneID: Self.zone, reason: reason)])
        #expect(try database.databaseChanges(since: page.changeToken).deletions == [])
        #expect(try database.databaseChanges().deletions == [], "a walk from the beginning has no deletions")
        #expect(try database.zones().map(\.zoneID) == [.default])
    }

    @Test func `a zone made again is another one`() throws {
        let database = try Fixture(zones: [Self.zone]).database
        let first = try database.save(note("r", ["a": 1], in: Self.zone))
        let databaseToken = try database.databaseChanges().changeToken
        let zoneToken = try database.changes(in: Self.zone).changeToken
        try database.delete(zone: Self.zone, reason: .encryptedDataReset)
        try database.save(zone: Self.zone)
        #expect(code { _ = try database.record(id("r", in: Self.zone)) } == .unknownItem)
        #expect(code { _ = try database.changes(in: Self.zone, since: zoneToken) } == .changeTokenExpired)
        #expect(try database.changes(in: Self.zone).modifications == [])
        let page = try database.databaseChanges(since: databaseToken)
        #expect(page.modifications == [Self.zone])
        #expect(page.deletions == [.init(zoneID: Self.zone, reason: .encryptedDataReset)])

        let again = try database.save(note("r", ["b": 2], in: Self.zone))
        #expect(again.recordChangeTag != first.recordChangeTag)
        #expect(try database.record(id("r", in: Self.zone)).allKeys() == ["b"])
        let later = try database.databaseChanges(since: page.changeToken)
        #expect(later.modifications == [Self.zone] && later.deletions == [])
        let fresh = try database.databaseChanges()
        #expect(fresh.modifications.contains(Self.zone) && fresh.deletions == [])
    }

    @Test func `a zone made and deleted since the token is not told`() throws {
        let database = try Fixture(zones: []).database
        let token = try database.databaseChanges().changeToken
        try database.save(zone: Self.zone)
        try database.save(note("r", in: Self.zone))
        try database.delete(zone: Self.zone)
        let page = try database.databaseChanges(since: token)
        #expect(page.modifications == [] && page.deletions == [])
    }

    @Test func `a request on zones has one result each`() async throws {
        let database = try Fixture(zones: [Self.zone]).database
        let new = RecordZone(zoneName: "new")
        let bad = RecordZone(zoneName: "_bad")
        let long = RecordZone(zoneName: String(repeating: "é", count: 128))
        let foreign = RecordZone(zoneID: RecordZone.ID(zoneName: "f", ownerName: "somebody"))
        let missing = RecordZone.ID(zoneName: "missing")
        let results = try await database.modifyRecordZones(
            saving: [new, bad, long, foreign], deleting: [Self.zone, missing, .default], reason: .purged)
        #expect(results.saveResults[new.zoneID]?.code == nil)
        #expect(results.saveResults[bad.zoneID]?.code == .reserved)
        #expect(results.saveResults[long.zoneID]?.code == .invalidArguments)
        #expect(results.saveResults[foreign.zoneID]?.code == .permissionFailure)
        #expect(results.deleteResults[Self.zone]?.code == nil)
        #expect(results.deleteResults[missing]?.code == .zoneNotFound)
        #expect(results.deleteResults[.default]?.code == .invalidArguments)
        let zones = try await database.allRecordZones()
        #expect(zones.map(\.zoneID.zoneName) == ["_defaultZone", "new"])
    }

    @Test(arguments: ["shared", "public", "other"]) func `other scopes are refused by name`(scope: String) {
        let system = MemoryFileSystem()
        #expect(
            code {
                _ = try JournalDatabase.create(
                    at: "/db", scope: DatabaseScope(rawValue: scope), options: .test(system))
            } == .reserved)
        #expect(system.image(of: "/").isEmpty, "nothing is made")
    }

    @Test func `a database is made once, and an interrupted start is finished`() throws {
        let system = MemoryFileSystem()
        let empty = try Journal.create(at: "/db", options: .test(system))
        empty.close()
        #expect(code { _ = try JournalDatabase.open(at: "/db", options: .test(system)) } == .badContainer)
        let database = try JournalDatabase.create(at: "/db", container: "c", options: .test(system))
        #expect(database.owner.utf8.count == 32)
        #expect(database.container == "c")
        database.close()
        #expect(
            code { _ = try JournalDatabase.create(at: "/db", options: .test(system)) } == .invalidArguments)
        let again = try JournalDatabase.open(at: "/db", options: .test(system))
        #expect(again.owner == database.owner && again.container == "c" && again.id == database.id)
        #expect(
            code { _ = try JournalDatabase.open(at: "/nowhere", options: .test(system)) } == .badContainer)
    }

    @Test func `an answer says who the database is, and a request may insist`() throws {
        let database = try Fixture().database
        let answer = try database.perform(DatabaseRequest(.identify))
        #expect(answer.database == database.id)
        #expect(answer.owner == "me" && answer.container == "local")
        #expect(answer.head == 2)
        #expect(answer.session == (try database.journal.head().session))
        var context = RequestContext()
        context.database = database.id
        context.owner = "me"
        #expect(try database.perform(DatabaseRequest(.identify, context: context)).body == .identified)
        context.owner = "Me"
        #expect(
            code { _ = try database.perform(DatabaseRequest(.identify, context: context)) } == .ownerChanged)
        context.database = DatabaseID(high: 1, low: 2)
        #expect(code { _ = try database.perform(DatabaseRequest(.identify, context: context)) } == .foreign)
    }
}
