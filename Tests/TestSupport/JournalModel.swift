public import SynclogJournal

/// One entry that a test wants committed.
public struct PlannedEntry: Hashable, Sendable {
    /// What the entry does.
    public var operation: Entry.Operation
    /// What it is about.
    public var key: EntryKey
    /// Its value, CBOR.
    public var value: [UInt8]

    /// Makes a plan for an entry.
    public init(_ operation: Entry.Operation, _ key: EntryKey, value: [UInt8]) {
        self.operation = operation
        self.key = key
        self.value = value
    }
}

/// A journal as an array: the oracle of the journal's tests. Session labels and the like are left out.
public struct JournalModel: Sendable {
    /// All commits in order, each with all its entries.
    public var commits: [Commit] = []

    /// An empty journal.
    public init() {}

    /// The commits up to and including a number.
    public func through(_ number: UInt64) -> JournalModel {
        var model = JournalModel()
        model.commits = commits.filter { $0.info.number <= number }
        return model
    }

    /// What reading forward gives.
    public func read(after position: JournalPosition = .start, filter: ReadFilter = .all) -> [Commit] {
        commits.compactMap { commit in
            passing(commit, filter) {
                JournalPosition(commit: commit.info.number, index: $0.index) > position
            }
        }
    }

    /// What reading backward gives.
    public func readBackward(before position: JournalPosition? = nil, filter: ReadFilter = .all) -> [Commit] {
        commits.reversed().compactMap { commit in
            passing(commit, filter) { entry in
                position.map { JournalPosition(commit: commit.info.number, index: entry.index) < $0 } ?? true
            }
        }
    }

    private func passing(_ commit: Commit, _ filter: ReadFilter, _ inRange: (Entry) -> Bool) -> Commit? {
        if let wall = filter.wall, !wall.contains(commit.info.wall) { return nil }
        var kept = commit
        kept.entries = commit.entries.filter { entry in
            inRange(entry)
                && (filter.zones.map { entry.key.zone == 0 || $0.contains(entry.key.zone) } ?? true)
                && (filter.spaces.map { $0.contains(entry.key.space) } ?? true)
        }
        return kept.entries.isEmpty ? nil : kept
    }

    /// The newest put or delete of a key.
    public func entry(for key: EntryKey) -> StoredEntry? {
        for commit in commits.reversed() {
            if let entry = commit.entries.last(where: { $0.key == key && $0.operation != .note }) {
                return StoredEntry(commit: commit.info, entry: entry)
            }
        }
        return nil
    }

    /// The zones with record entries after a commit, each with its last commit.
    public func zonesChanged(after number: UInt64) -> [UInt64: UInt64] {
        var changed: [UInt64: UInt64] = [:]
        for commit in commits where commit.info.number > number {
            for entry in commit.entries where entry.key.zone != 0 {
                changed[entry.key.zone] = commit.info.number
            }
        }
        return changed
    }

    /// Every key that was ever put or deleted.
    public var keys: Set<EntryKey> {
        Set(commits.flatMap(\.entries).filter { $0.operation != .note }.map(\.key))
    }
}

extension Journal {
    /// Commits planned entries and returns the commit as it must be read back.
    @available(*, noasync)
    @discardableResult
    public func apply(_ planned: [PlannedEntry], device: UInt32 = 0) throws(JournalError) -> Commit {
        let committed = try commit(device: device) {
            (transaction: inout CommitTransaction) throws(JournalError) -> [Entry] in
            var made: [Entry] = []
            for plan in planned {
                let first = try transaction.entry(for: plan.key)?.entry.firstSeen ?? transaction.number
                let index: UInt32 =
                    switch plan.operation {
                    case .put: try transaction.put(plan.key, value: plan.value, firstSeen: first)
                    case .delete: try transaction.delete(plan.key, value: plan.value, firstSeen: first)
                    case .note: try transaction.note(plan.key, value: plan.value)
                    }
                made.append(
                    Entry(
                        operation: plan.operation, index: index, key: plan.key,
                        firstSeen: plan.operation == .note ? transaction.number : first, value: plan.value))
            }
            return made
        }
        guard let info = committed.commit else { preconditionFailure("nothing was planned") }
        return Commit(info: info, entries: committed.result)
    }

    /// Everything that reading forward gives, the journal's own entries left out.
    public func commits(
        after position: JournalPosition = .start, filter: ReadFilter = .all,
        onDamage: ((Damage) -> Void)? = nil
    ) throws(JournalError) -> [Commit] {
        var reader = try read(after: position, filter: filter)
        reader.onDamage = onDamage
        return try Self.all(&reader)
    }

    /// Everything that reading backward gives, the journal's own entries left out.
    public func commitsBackward(
        before position: JournalPosition? = nil, filter: ReadFilter = .all
    ) throws(JournalError) -> [Commit] {
        var reader = try readBackward(before: position, filter: filter)
        return try Self.all(&reader)
    }

    private static func all(_ reader: inout JournalReader) throws(JournalError) -> [Commit] {
        var commits: [Commit] = []
        while var commit = try reader.next() {
            commit.entries.removeAll { entry in
                entry.key.space == .session || entry.key.space == .reserve || entry.isRecoveryNote
            }
            if !commit.entries.isEmpty { commits.append(commit) }
        }
        return commits
    }
}

extension Entry {
    /// Whether the journal wrote it after a recovery.
    public var isRecoveryNote: Bool {
        operation == .note && key == EntryKey(space: .state, name: Array("recovery".utf8))
    }
}

/// Random commits over a few zones and names, from a seed.
public struct Workload: Sendable {
    private var generator: SeededGenerator
    private let zones: Int
    private let names: Int
    private let entriesMax: Int
    private let valueSizeMax: Int

    /// Makes a source of commits.
    public init(seed: UInt64, zones: Int = 3, names: Int = 40, entriesMax: Int = 5, valueSizeMax: Int = 200) {
        generator = SeededGenerator(seed: seed)
        self.zones = zones
        self.names = names
        self.entriesMax = entriesMax
        self.valueSizeMax = valueSizeMax
    }

    /// The entries of the next commit; each key at most once.
    public mutating func next() -> [PlannedEntry] {
        var used: Set<EntryKey> = []
        return (0..<Int.random(in: 1...entriesMax, using: &generator)).compactMap { _ in
            let key = randomKey()
            guard used.insert(key).inserted else { return nil }
            let dice = Int.random(in: 0..<10, using: &generator)
            let operation: Entry.Operation = dice < 7 ? .put : dice < 9 ? .delete : .note
            return PlannedEntry(
                operation, key, value: value(Int.random(in: 0...valueSizeMax, using: &generator)))
        }
    }

    /// Some key: mostly records, sometimes of another space.
    public mutating func randomKey() -> EntryKey {
        let name = Array("name-\(Int.random(in: 0..<names, using: &generator))".utf8)
        if Int.random(in: 0..<10, using: &generator) == 0 { return EntryKey(space: .state, name: name) }
        return EntryKey(
            space: .record, zone: UInt64.random(in: 1...UInt64(zones), using: &generator), name: name)
    }

    /// A CBOR byte string with random bytes, half of them repeated so that something is there to compress.
    public mutating func value(_ size: Int) -> [UInt8] {
        let half = generator.bytes(size / 2)
        var writer = CBORWriter()
        writer.byteString(half + half + [UInt8](repeating: 7, count: size - 2 * half.count))
        return writer.bytes
    }
}

/// A key of a record with a text name.
public func recordKey(_ name: String, zone: UInt64 = 1) -> EntryKey {
    EntryKey(space: .record, zone: zone, name: Array(name.utf8))
}

/// A value: a CBOR text.
public func textValue(_ text: String) -> [UInt8] {
    var writer = CBORWriter()
    writer.text(text)
    return writer.bytes
}
