import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport
import Testing

/// Every walk from every position of seeded histories equals a model of twenty lines.
@Suite(.long) struct WalkModelTests {
    /// All that ever happened, as the model sees it.
    struct Model {
        /// A record's or zone's event: the commit, and the state it left, nil when it was deleted.
        var events: [String: [(commit: UInt64, state: String?)]] = [:]

        mutating func add(_ name: String, _ commit: UInt64, _ state: String?) {
            events[name, default: []].append((commit, state))
        }

        /// The states at a commit.
        func states(at commit: UInt64) -> [String: String] {
            events.compactMapValues { $0.last { $0.commit <= commit }?.state }
        }

        /// What changed between a token and now: the difference of two states; and gone is what was ever there.
        func changes(since token: UInt64, walk bound: UInt64 = 0) -> (
            modified: [String: String], deleted: Set<String>
        ) {
            let modified = events.filter { ($0.value.last?.commit ?? 0) > token }.compactMapValues {
                $0.last?.state
            }
            let deleted = events.filter { event in
                guard let last = event.value.last, let first = event.value.first else { return false }
                return last.state == nil && last.commit > max(token, bound) && first.commit <= token
            }
            return (modified, Set(deleted.keys))
        }
    }

    /// A history in three zones of one of which the records are followed.
    struct History {
        let fixture: Fixture
        var records = Model()
        var zones = Model()
        /// A token of the zone and one of the database at each step, with their commits.
        var zoneTokens: [(commit: UInt64, token: ChangeToken?)] = [(0, nil)]
        var databaseTokens: [(commit: UInt64, token: ChangeToken?)] = [(0, nil)]
        var generator: SeededGenerator
        private var step = 0

        static let others = ["x", "y"].map { RecordZone.ID(zoneName: $0) }

        init(seed: UInt64) throws {
            fixture = try Fixture(seed: seed)
            generator = SeededGenerator(seed: seed)
            zones.add("_defaultZone", 1, "1")
            zones.add("notes", 2, "2")
        }

        var database: JournalDatabase { fixture.database }

        mutating func mark() throws {
            let head = try database.headCommit()
            zoneTokens.append((head, try database.changes(limit: 1_000_000).changeToken))
            databaseTokens.append((head, try database.databaseChanges().changeToken))
        }

        /// One request of one to four changes in the zone, or something in another zone.
        mutating func advance() throws {
            step += 1
            if Int.random(in: 0..<4, using: &generator) == 0 { return try advanceElsewhere() }
            var saves: [Record] = []
            var deletions: [RecordDeletion] = []
            var names = ["a", "b", "c", "d", "e"].shuffled(using: &generator)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let name = names.removeLast()
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    deletions.append(RecordDeletion(recordID: id(name)))
                } else {
                    saves.append(note(name, ["step": .int64(Int64(step))]))
                }
            }
            let before = records.states(at: .max)
            _ = try database.send(saves, deleting: deletions, policy: .changedKeys)
            let commit = try database.headCommit()
            for record in saves { records.add(record.recordID.recordName, commit, "\(step)") }
            let deleted = deletions.map(\.recordID.recordName).filter { before[$0] != nil }
            for name in deleted { records.add(name, commit, nil) }
            if !saves.isEmpty || !deleted.isEmpty { touch("notes", commit) }
        }

        private mutating func advanceElsewhere() throws {
            let zone = Self.others.randomElement(using: &generator)!
            let name = zone.zoneName
            switch (zones.states(at: .max)[name], Int.random(in: 0..<3, using: &generator)) {
            case (nil, _):
                try database.save(zone: zone)
                zones.add(name, try database.headCommit(), "\(try database.headCommit())")
            case (_?, 0):
                try database.delete(zone: zone)
                zones.add(name, try database.headCommit(), nil)
            case (_?, _):
                try database.save(note("r", ["step": .int64(Int64(step))], in: zone), policy: .changedKeys)
                touch(name, try database.headCommit())
            }
        }

        private mutating func touch(_ zone: String, _ commit: UInt64) {
            zones.add(zone, commit, "\(commit)")
        }

        /// All pages of a walk of the zone.
        func walk(since start: ChangeToken?, limit: Int) throws -> (
            modified: [String: String], deleted: Set<String>
        ) {
            var modified: [String: String] = [:]
            var deleted: Set<String> = []
            var token = start
            var more = true
            while more {
                let page = try database.changes(since: token, limit: limit)
                for record in page.modifications {
                    let name = record.recordID.recordName
                    #expect(modified[name] == nil && !deleted.contains(name), "one answer per record")
                    guard case .int64(let step)? = record["step"] else { continue }
                    modified[name] = "\(step)"
                }
                for deletion in page.deletions {
                    #expect(modified[deletion.recordID.recordName] == nil)
                    #expect(deleted.insert(deletion.recordID.recordName).inserted)
                }
                #expect(!page.moreComing || page.changeToken != token, "a walk moves on")
                token = page.changeToken
                more = page.moreComing
            }
            return (modified, deleted)
        }

        /// All pages of a walk of the database.
        func databaseWalk(since start: ChangeToken?, limit: Int) throws -> (
            modified: Set<String>, deleted: Set<String>
        ) {
            var modified: Set<String> = []
            var deleted: Set<String> = []
            var token = start
            var more = true
            while more {
                let page = try database.databaseChanges(since: token, limit: limit)
                for zone in page.modifications { #expect(modified.insert(zone.zoneName).inserted) }
                for deletion in page.deletions { #expect(deleted.insert(deletion.zoneID.zoneName).inserted) }
                token = page.changeToken
                more = page.moreComing
            }
            return (modified, deleted)
        }
    }

    /// 1,000 histories in 20 cases of 50.
    @Test(arguments: 0..<20) func `a walk from every position equals the model`(group: UInt64) throws {
        for seed in group * 50..<group * 50 + 50 {
            var history = try History(seed: seed)
            for _ in 0..<Int.random(in: 5...10, using: &history.generator) {
                try history.advance()
                try history.mark()
            }
            for (commit, token) in history.zoneTokens {
                let expected = history.records.changes(since: commit)
                for limit in [1, 2, 7, 0] {
                    let found = try history.walk(since: token, limit: limit)
                    #expect(
                        found.modified == expected.modified, "seed \(seed), after \(commit), limit \(limit)")
                    #expect(
                        found.deleted == expected.deleted, "seed \(seed), after \(commit), limit \(limit)")
                }
            }
            for (commit, token) in history.databaseTokens {
                let expected = history.zones.changes(since: commit)
                // A zone that was deleted and made again since the token is told in both lists.
                let again = history.zones.events.filter { event in
                    guard event.value.last?.state != nil, let first = event.value.first else { return false }
                    return first.commit <= commit
                        && event.value.contains { $0.state == nil && $0.commit > max(commit, 0) }
                }
                for limit in [1, 2, 7, 0] {
                    let found = try history.databaseWalk(since: token, limit: limit)
                    #expect(
                        found.modified == Set(expected.modified.keys),
                        "seed \(seed), after \(commit), limit \(limit)")
                    #expect(
                        found.deleted == expected.deleted.union(again.keys),
                        "seed \(seed), after \(commit), limit \(limit)")
                }
            }
        }
    }

    /// A client that applies page after page while others write ends with what is there.
    @Test(arguments: 0..<10) func `a walk during which others write converges`(group: UInt64) throws {
        for seed in 10_000 + group * 20..<10_000 + group * 20 + 20 {
            var history = try History(seed: seed)
            for _ in 0..<8 {
                try history.advance()
                try history.mark()
            }
            for start in [history.zoneTokens[0], history.zoneTokens[4]] {
                var local = history.records.states(at: start.commit)
                var token = start.token
                var writes = 6
                var more = true
                while more {
                    let page = try history.database.changes(since: token, limit: 1)
                    for deletion in page.deletions { local[deletion.recordID.recordName] = nil }
                    for record in page.modifications {
                        guard case .int64(let step)? = record["step"] else { continue }
                        local[record.recordID.recordName] = "\(step)"
                    }
                    token = page.changeToken
                    more = page.moreComing
                    if writes > 0 {
                        writes -= 1
                        try history.advance()
                        more = true
                    }
                }
                #expect(local == history.records.states(at: .max), "seed \(seed), from \(start.commit)")
            }
        }
    }
}
