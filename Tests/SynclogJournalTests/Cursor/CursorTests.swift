import SynclogJournal
import TestSupport
import Testing

/// Cursors as text, and what a journal says to those that are not its own.
@Suite struct CursorTests {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// A journal with some commits, closed.
    private func history(_ system: MemoryFileSystem, seed: UInt64, count: Int) throws -> JournalModel {
        var model = JournalModel()
        var workload = Workload(seed: seed)
        let journal = try Journal.create(at: "/j", options: .test(system, seed: seed))
        try fill(journal, &model, &workload, count: count)
        journal.close()
        return model
    }

    @Test func `a cursor is eighty characters and comes back as it was`() throws {
        let system = MemoryFileSystem()
        let model = try history(system, seed: 501, count: 10)
        let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        for commit in model.commits {
            let cursor = try journal.cursor(
                at: JournalPosition(commit: commit.info.number, index: 3), kind: .zone, scope: 77, bound: 5)
            #expect(cursor.text.utf8.count == 80)
            #expect(cursor.text.utf8.allSatisfy { Self.alphabet.contains($0) })
            #expect(try Cursor(text: cursor.text) == cursor)
            #expect(try Cursor(bytes: cursor.bytes) == cursor)
            try journal.validate(cursor)
        }
    }

    @Test func `a cursor with any character changed is malformed`() throws {
        let system = MemoryFileSystem()
        _ = try history(system, seed: 502, count: 5)
        let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        let text = Array(try journal.cursor(at: .end(of: 4)).text.utf8)
        for place in text.indices {
            for other in Self.alphabet + Array(" =+/\n\u{0}é".utf8) where other != text[place] {
                var changed = text
                changed[place] = other
                #expect(throws: JournalError.malformedCursor) {
                    try Cursor(text: String(decoding: changed, as: UTF8.self))
                }
            }
        }
        for count in [0, 1, 79, 81, 160] {
            let cut = String(decoding: (text + text).prefix(count), as: UTF8.self)
            #expect(throws: JournalError.malformedCursor) { try Cursor(text: cut) }
        }
        #expect(throws: JournalError.malformedCursor) {
            try Cursor(bytes: [UInt8](repeating: 0, count: Cursor.size))
        }
    }

    @Test func `a cursor of another journal is foreign`() throws {
        let system = MemoryFileSystem()
        _ = try history(system, seed: 503, count: 5)
        let other = MemoryFileSystem()
        _ = try history(other, seed: 504, count: 5)
        let cursor = try Journal.open(at: "/j", mode: .readOnly, options: .test(other)).cursor(
            at: .end(of: 3))
        let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        #expect(throws: JournalError.foreignJournal) { try journal.validate(cursor) }
    }

    @Test func `a cursor beyond the head is ahead`() throws {
        let system = MemoryFileSystem()
        let model = try history(system, seed: 505, count: 5)
        let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        let head = try journal.head()
        var cursor = try journal.cursor(at: .end(of: head.commit))
        try journal.validate(cursor)
        cursor.position = .end(of: head.commit + 1)
        #expect(throws: JournalError.ahead(head: head.commit)) { try journal.validate(cursor) }
        #expect(model.commits.last?.info.number == head.commit)
    }

    /// `cp -a`, more commits, the copy moved back, others commit on: whoever saw the lost ones must be told.
    @Test(arguments: [1, 50], [0, 1, 200])
    func `after a copy was restored, cursors of the lost future are rolled back`(lost: Int, after: Int) throws
    {
        let system = MemoryFileSystem()
        var model = try history(system, seed: 506, count: 20)
        let common = try #require(model.commits.last).info.number
        try system.copyDirectory("/j", to: "/copy")
        var workload = Workload(seed: 507)
        var future = model
        let original = try Journal.open(at: "/j", options: .test(system, seed: 508))
        try fill(original, &future, &workload, count: lost)
        let cursors = try future.commits.map { try original.cursor(at: .end(of: $0.info.number)) }
        original.close()

        try system.removeAll("/j")
        try system.rename("/copy", to: "/j", replacing: false)
        let restored = try Journal.open(at: "/j", options: .test(system, seed: 509))
        try fill(restored, &model, &workload, count: after)
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        for handle in [restored, reader] {
            for (cursor, commit) in zip(cursors, future.commits) {
                if commit.info.number <= common {
                    try handle.validate(cursor)
                    continue
                }
                let error = #expect(throws: JournalError.self) { try handle.validate(cursor) }
                switch error {
                case .rolledBack(let last):
                    // The session began after the copy, so this journal cannot tell where it forked off.
                    #expect(last == nil, "commit \(commit.info.number)")
                default: Issue.record("\(String(describing: error))")
                }
            }
        }
        #expect(try reader.commits() == model.commits)
    }

    @Test func `a handle that stays open over a swap tells its own old cursors rolled back`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 511)
        let journal = try Journal.create(at: "/j", options: .test(system))
        try fill(journal, &model, &workload, count: 5)
        let common = try #require(model.commits.last).info.number
        try system.copyDirectory("/j", to: "/copy")
        try journal.apply(workload.next())
        let lost = try journal.cursor(at: .end(of: try journal.head().commit))
        try system.removeAll("/j")
        try system.rename("/copy", to: "/j", replacing: false)
        try fill(journal, &model, &workload, count: 3)
        #expect(throws: JournalError.rolledBack(common: common)) { try journal.validate(lost) }
        #expect(try journal.commits() == model.commits)
    }

    @Test func `each process's first commit starts a session that runs to the next label`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 512)
        let first = try Journal.create(at: "/j", options: .test(system, seed: 1))
        let second = try Journal.open(at: "/j", options: .test(system, seed: 2))
        try fill(first, &model, &workload, count: 3)
        try fill(second, &model, &workload, count: 3)
        try fill(first, &model, &workload, count: 3)
        let numbers = model.commits.map(\.info.number)
        let labels = try numbers.map { try first.session(at: $0).label }
        #expect(Set(labels).count == 2)
        #expect(labels[0..<3].allSatisfy { $0 == labels[0] })
        #expect(labels[3...].allSatisfy { $0 == labels[3] })
        let sessions = try first.sessions(through: numbers[8], limit: 10)
        #expect(sessions.map(\.label) == [labels[3], labels[0]])
        #expect(sessions.map(\.commit) == [numbers[3], numbers[0]])
        #expect(try first.sessions(through: numbers[2], limit: 10).map(\.label) == [labels[0]])
        #expect(try first.sessions(through: numbers[8], limit: 1).map(\.label) == [labels[3]])
        #expect(try first.session(at: 0).label == 0)
        #expect(try second.head().session == labels[3])
    }

    @Test func `reading on from a cursor gives what is strictly later`() throws {
        let system = MemoryFileSystem()
        let model = try history(system, seed: 513, count: 30)
        let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        for commit in model.commits {
            for entry in commit.entries {
                let position = JournalPosition(commit: commit.info.number, index: entry.index)
                let cursor = try Cursor(text: try journal.cursor(at: position).text)
                try journal.validate(cursor)
                #expect(try journal.commits(after: cursor.position) == model.read(after: position))
            }
        }
        #expect(try journal.commits(after: .end(of: try journal.head().commit)).isEmpty)
    }

    @Test func `a cursor with a filter loses no match`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        let first = try journal.apply([put("x", "1", zone: 1)])
        let rest = [try journal.apply([put("y", "2", zone: 2)]), try journal.apply([put("z", "3", zone: 2)])]
        #expect(
            try journal.commits(after: .end(of: first.info.number), filter: ReadFilter(zones: [2])) == rest)
    }
}
