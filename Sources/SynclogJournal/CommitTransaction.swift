/// The state a commit is decided on, and the entries that will be in it.
///
/// It lives as long as the closure it is handed to, on whatever thread runs that closure.
public struct CommitTransaction {
    /// The number the commit will get; also the number of a zone made in it.
    public let number: UInt64
    /// The last commit before this one.
    public let previous: UInt64
    /// The log clock the commit will get, in microseconds since 1970.
    public let clock: Int64
    /// The wall time the commit will get, in microseconds since 1970.
    public let wall: Int64
    /// The number of entries so far.
    public var count: Int { bounds.count }

    private let state: GroupState
    private(set) var items = CBORWriter()
    private(set) var bounds: [Int] = []
    /// The zones with records in it, in order.
    private(set) var zones: [UInt64] = []
    /// Whether records are put in it; what only deletes or keeps order may use the ballast of a full disk.
    private(set) var putsRecords = false
    /// The newest entry of each key, for later transactions of the same group.
    private(set) var newest: [EntryKey: Entry] = [:]

    init(number: UInt64, previous: UInt64, clock: Int64, wall: Int64, state: GroupState) {
        self.number = number
        self.previous = previous
        self.clock = clock
        self.wall = wall
        self.state = state
    }

    /// The newest put or delete of a key before this commit.
    public func entry(for key: EntryKey) throws(JournalError) -> StoredEntry? {
        if let pending = state.newest[key] { return pending }
        return try state.snapshot.entry(for: key)
    }

    /// The last commit with record entries of a zone, or 0.
    public func lastCommit(ofZone zone: UInt64) throws(JournalError) -> UInt64 {
        if let pending = state.lastCommits[zone] { return pending }
        return try state.snapshot.lastCommit(ofZone: zone)
    }

    /// 64 random bits.
    public func random() -> UInt64 { state.random() }

    /// Adds a put; `firstSeen` is the commit in which the key was first seen, nil for this one.
    /// - Returns: The entry's index.
    @discardableResult
    public mutating func put(_ key: EntryKey, value: [UInt8], firstSeen: UInt64? = nil) throws(JournalError)
        -> UInt32
    {
        try add(.put, key, value, firstSeen)
    }

    /// Adds a delete; the value stays as the tombstone's content.
    /// - Returns: The entry's index.
    @discardableResult
    public mutating func delete(_ key: EntryKey, value: [UInt8], firstSeen: UInt64? = nil)
        throws(JournalError)
        -> UInt32
    {
        try add(.delete, key, value, firstSeen)
    }

    /// Adds a note.
    /// - Returns: The entry's index.
    @discardableResult
    public mutating func note(_ key: EntryKey, value: [UInt8]) throws(JournalError) -> UInt32 {
        try add(.note, key, value, nil)
    }

    private mutating func add(
        _ operation: Entry.Operation, _ key: EntryKey, _ value: [UInt8], _ firstSeen: UInt64?
    ) throws(JournalError) -> UInt32 {
        try Self.check("key", key.name.count, FormatLimits.keySizeMax)
        try Self.check("value", value.count, FormatLimits.valueSizeMax)
        let index = UInt32(bounds.count)
        let seen = firstSeen == number ? 0 : firstSeen ?? 0
        items.entry(operation, index: index, key: key, firstSeen: seen, value: value)
        try Self.check("commit", items.bytes.count, FormatLimits.commitSizeMax)
        bounds.append(items.bytes.count)
        if key.space == .record {
            include(zone: key.zone)
            if operation == .put { putsRecords = true }
            try Self.check("zones in a commit", zones.count, FormatLimits.commitZonesMax)
        }
        if operation != .note, state.keepsNewest {
            newest[key] = Entry(
                operation: operation, index: index, key: key, firstSeen: seen == 0 ? number : seen,
                value: value)
        }
        return index
    }

    private mutating func include(zone: UInt64) {
        var (low, high) = (0, zones.count)
        while low < high {
            let middle = (low + high) / 2
            if zones[middle] < zone { low = middle + 1 } else { high = middle }
        }
        if low == zones.count || zones[low] != zone { zones.insert(zone, at: low) }
    }

    private static func check(_ what: String, _ actual: Int, _ limit: Int) throws(JournalError) {
        if actual > limit { throw .limitExceeded(what: what, limit: limit, actual: actual) }
    }
}

/// What the transactions of one group share.
final class GroupState {
    let snapshot: JournalSnapshot
    let random: @Sendable () -> UInt64
    /// Whether another transaction follows in the group.
    let keepsNewest: Bool
    var newest: [EntryKey: StoredEntry] = [:]
    var lastCommits: [UInt64: UInt64] = [:]

    init(snapshot: JournalSnapshot, random: @escaping @Sendable () -> UInt64, keepsNewest: Bool) {
        self.snapshot = snapshot
        self.random = random
        self.keepsNewest = keepsNewest
    }

    /// Makes a finished transaction's entries visible to the next one.
    func include(_ transaction: CommitTransaction, as info: CommitInfo) {
        guard keepsNewest else { return }
        for link in info.zones { lastCommits[link.zone] = info.number }
        for (key, entry) in transaction.newest { newest[key] = StoredEntry(commit: info, entry: entry) }
    }
}
