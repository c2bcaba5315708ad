import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

@testable import SynclogReplication

/// A database with zones that are made, deleted and made again, and records in them.
private final class Zoned {
    let files = MemoryFileSystem()
    let database: JournalDatabase
    var generator: SeededGenerator

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        database = try JournalDatabase.create(at: "/source", options: .test(files, seed: seed))
    }

    func zone(_ name: String) throws {
        _ = try database.perform(
            DatabaseRequest(
                .modifyRecordZones(saving: [RecordZone.ID(zoneName: name)], deleting: [], reason: .deleted)))
    }

    func delete(_ name: String) throws {
        _ = try database.perform(
            DatabaseRequest(
                .modifyRecordZones(saving: [], deleting: [RecordZone.ID(zoneName: name)], reason: .purged)))
    }

    func save(_ zone: String, _ count: Int) throws {
        for _ in 0..<count {
            let name = "r\(Int.random(in: 0 ..< 20, using: &generator))"
            var record = Record(
                recordType: "T", recordID: Record.ID(recordName: name, zoneID: RecordZone.ID(zoneName: zone)))
            record["n"] = .int64(Int64.random(in: 0...1_000_000, using: &generator))
            record["b"] = .bytes(generator.bytes(200))
            _ = try database.perform(
                DatabaseRequest(
                    .modifyRecords(
                        DatabaseRequest.ModifyRecords(
                            saves: [RecordSave(record, policy: .allKeys)], deletions: [],
                            savePolicy: .allKeys,
                            atomically: true))))
        }
    }

    func options(_ seed: UInt64 = 4) -> JournalOptions { .test(files, seed: seed) }

    @discardableResult
    func follow(_ zones: [String]?, at path: String = "/copy") throws(ReplicationError) -> Follower.Report {
        var options = Follower.Options()
        options.zones = zones
        options.journal = self.options(9)
        let source = try DirectorySource(path: "/source", options: self.options())
        return try Follower(at: path, source: source, options: options).run()
    }

    /// The entries of the source that a copy of some zones must have, found by the zone entries' names.
    func expected(_ zones: [String]) throws -> [Commit] {
        var numbers: Set<UInt64> = []
        let all = try allCommits("/source", options())
        for commit in all {
            for entry in commit.entries where entry.key.space == .zone && entry.operation == .put {
                let name = try #require(ZoneIndex.name(of: entry.key))
                if zones.contains(where: { Array($0.utf8) == name }) { numbers.insert(commit.info.number) }
            }
        }
        return all.compactMap { commit in
            var commit = commit
            commit.entries.removeAll { $0.key.zone != 0 && !numbers.contains($0.key.zone) }
            commit.info.zones.removeAll { !numbers.contains($0.zone) }
            return commit.entries.isEmpty ? nil : commit
        }
    }
}

@Suite struct FilteredFollowerTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a copy of some zones has their records in every incarnation, and nothing of others`(seed: UInt64)
        throws
    {
        let zoned = try Zoned(seed: seed)
        for name in ["a", "b", "é", "e\u{301}"] {
            try zoned.zone(name)
            try zoned.save(name, 5)
        }
        let zones = ["a", "é"]
        let report = try zoned.follow(zones)
        #expect(try allCommits("/copy", zoned.options()) == zoned.expected(zones))
        // Only other zones change: the copy's head follows all the same.
        try zoned.save("b", 12)
        let next = try zoned.follow(zones)
        #expect(next.head == report.head + 12 && next.head == next.sourceHead)
        // The next run brings the lease that moved, and then nothing more.
        #expect(try zoned.follow(zones).entries <= 2)
        #expect(try zoned.follow(zones).bytes == 0)
        // Deleted and made again, it is a zone of another number.
        try zoned.delete("a")
        try zoned.zone("a")
        try zoned.save("a", 3)
        try zoned.save("e\u{301}", 2)
        try zoned.follow(zones)
        let copied = try allCommits("/copy", zoned.options())
        #expect(try copied == zoned.expected(zones))
        #expect(copied.contains { $0.entries.contains { $0.key.space == .record } })
    }

    @Test func `a zone made between two runs is not missed`() throws {
        let zoned = try Zoned(seed: 5)
        try zoned.zone("a")
        try zoned.follow(["a"])
        try zoned.delete("a")
        try zoned.follow(["a"])
        try zoned.zone("a")
        try zoned.save("a", 4)
        try zoned.follow(["a"])
        #expect(try allCommits("/copy", zoned.options()) == zoned.expected(["a"]))
    }

    @Test func `another zone list needs a rebuild`() throws {
        let zoned = try Zoned(seed: 6)
        for name in ["a", "b"] { try zoned.zone(name) }
        try zoned.follow(["a"])
        let before = zoned.files.image(of: "/copy")
        for zones in [nil, ["b"], ["a", "b"], []] as [[String]?] {
            #expect(throws: ReplicationError.stopped(.otherZones(stored: ["a"], asked: zones))) {
                try zoned.follow(zones)
            }
        }
        #expect(zoned.files.image(of: "/copy") == before)
        try zoned.follow(["a", "a"])
    }

    @Test func `a filtered copy is refused as a source of anything else`() throws {
        let zoned = try Zoned(seed: 7)
        for name in ["a", "b"] {
            try zoned.zone(name)
            try zoned.save(name, 3)
        }
        try zoned.follow(["a"])
        func chain(_ zones: [String]?, at path: String) throws(ReplicationError) {
            var options = Follower.Options()
            options.zones = zones
            options.journal = zoned.options(9)
            let source = try DirectorySource(path: "/copy", options: zoned.options())
            _ = try Follower(at: path, source: source, options: options).run()
        }
        #expect(throws: ReplicationError.stopped(.filteredSource(zones: ["a"]))) {
            try chain(nil, at: "/third")
        }
        #expect(throws: ReplicationError.stopped(.filteredSource(zones: ["a"]))) {
            try chain(["b"], at: "/third")
        }
        try chain(["a"], at: "/third")
        #expect(try allCommits("/third", zoned.options()) == allCommits("/copy", zoned.options()))
    }

    @Test func `a zone that never was is refused and nothing is kept of it`() throws {
        let zoned = try Zoned(seed: 8)
        try zoned.zone("a")
        #expect(throws: ReplicationError.stopped(.unknownZone("aa"))) { try zoned.follow(["a", "aa"]) }
        #expect(try zoned.files.list("/") == ["source"])
        try zoned.follow(["a"])
    }
}
