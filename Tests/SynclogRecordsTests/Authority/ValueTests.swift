import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// Names and values through the authority, and hints.
@Suite struct ValueTests {
    static let names = [
        "caf\u{E9}", "cafe\u{301}", "🌍", "a\u{0}b", String(repeating: "x", count: 255), "-", " ", "\u{FEFF}",
        "A", "a",
    ]

    static let values: [(String, RecordValue)] = [
        ("empty", ""), ("nul", "a\u{0}b"), ("composed", "\u{E9}"), ("decomposed", "e\u{301}"),
        ("bytes", .bytes([0, 1, 255])), ("noBytes", .bytes([])), ("min", .int64(.min)), ("max", .int64(.max)),
        ("nan", .double(.nan)), ("inf", .double(.infinity)), ("minusInf", .double(-.infinity)),
        ("minusZero", -0.0),
        ("whole", 1.0), ("before1970", .date(milliseconds: -86_400_001)),
        ("long", .string(String(repeating: "é", count: 450_000))),
        (
            "place",
            .location(Location(latitude: 90, longitude: -180, altitude: .nan, timestampMilliseconds: -1))
        ),
        ("reference", .reference(Reference(recordName: "caf\u{E9}", zoneName: "cafe\u{301}"))),
        ("strings", .list(.strings(["", "\u{0}"]))), ("none", .list(.doubles([]))),
        ("dates", .list(.dates(milliseconds: [.min, 0, .max]))),
    ]

    @Test func `names and values survive`() throws {
        let fixture = try Fixture()
        let fields = Dictionary(uniqueKeysWithValues: Self.values)
        for (place, name) in Self.names.enumerated() {
            var record = note(name, ["number": .int64(Int64(place))])
            if place == 0 { for (key, value) in fields { record[key] = value } }
            try fixture.database.save(record)
        }
        fixture.database.close()
        let database = try fixture.another()
        let records = try database.changes().modifications
        #expect(records.map(\.recordID) == Self.names.map { id($0) })
        for (place, name) in Self.names.enumerated() {
            let record = try database.record(id(name))
            #expect(record == records[place])
            #expect(record["number"] == .int64(Int64(place)))
        }
        for (key, value) in Self.values { #expect(records[0][key] == value, "\(key)") }
    }

    @Test func `all records of a zone come in the order of their bytes`() async throws {
        var limits = DatabaseLimits()
        limits.pageCountMax = 3
        let database = try Fixture(limits: limits).database
        _ = try await database.modifyRecords(saving: Self.names.reversed().map { note($0) }, deleting: [])
        let found = try await database.allRecords(inZoneWith: notes).map(\.recordID.recordName)
        #expect(
            found.map { Array($0.utf8) }
                == Self.names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func `events of the journal are told by name`() throws {
        let database = try Fixture().database
        let saved = try database.save(note("r"))
        try database.delete(id("r"), tag: saved.recordChangeTag)
        try database.delete(zone: notes, reason: .purged)
        var zones = ZoneDirectory()
        var told: [String] = []
        var reader = try database.journal.read()
        while let commit = try reader.next() {
            for entry in commit.entries {
                zones.note(entry, in: commit.info)
                switch DatabaseEvent(entry, in: commit.info, zones: zones) {
                case .databaseMade(let container, let owner): told.append("database \(container) \(owner)")
                case .zoneSaved(let id, let number): told.append("zone \(id.zoneName) \(number)")
                case .zoneDeleted(let id, let reason): told.append("no zone \(id.zoneName) \(reason)")
                case .recordSaved(let record):
                    told.append("record \(record.recordID.recordName) in \(record.recordID.zoneID.zoneName)")
                    #expect(record == saved)
                case .recordDeleted(let id, let type, let tag):
                    told.append("no record \(id.recordName) in \(id.zoneID.zoneName) \(type)")
                    #expect(tag == saved.recordChangeTag)
                case .other: continue
                }
            }
        }
        #expect(
            told == [
                "database local me", "zone _defaultZone 1", "zone notes 2", "record r in notes",
                "no record r in notes Note", "no zone notes purged",
            ])
        #expect(zones.numbers(of: notes) == [2])
        #expect(zones.number(of: notes) == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a change is hinted at, and the end of the database ends the hints`() async throws {
        let fixture = try Fixture()
        let another = try fixture.another()
        var hints = fixture.database.changeHints().makeAsyncIterator()
        let hint = ChangeHint(database: fixture.database.id)
        #expect(await hints.next() == hint, "the first comes at once")
        _ = try await another.modifyRecords(saving: [note("r")], deleting: [])
        #expect(await hints.next() == hint)
        fixture.database.close()
        while await hints.next() != nil {}
    }

    @Test func `many tasks save at once, each record once and with its own tag`() async throws {
        let database = try Fixture().database
        let tags = try await withThrowingTaskGroup(of: ChangeTag?.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let record = note("\(number)", ["n": .int64(Int64(number))])
                    let results = try await database.modifyRecords(saving: [record], deleting: []).saveResults
                    return try results[record.recordID]?.get().recordChangeTag
                }
            }
            var tags: [ChangeTag?] = []
            for try await tag in group { tags.append(tag) }
            return tags
        }
        let stored = try await database.allRecords(inZoneWith: notes)
        #expect(stored.count == 100)
        #expect(Set(tags) == Set(stored.map(\.recordChangeTag)))
        for record in stored { #expect(record["n"] == Int64(record.recordID.recordName).map { .int64($0) }) }
    }
}
