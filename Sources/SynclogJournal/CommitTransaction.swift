/// The state a commit is decided on, and the entries that will be in it.
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
    public private(set) var count: Int

    init() { fatalError("not yet") }

    /// The newest put or delete of a key before this commit.
    public func entry(for key: EntryKey) throws(JournalError) -> StoredEntry? { fatalError("not yet") }

    /// The last commit with record entries of a zone, or 0.
    public func lastCommit(ofZone zone: UInt64) throws(JournalError) -> UInt64 { fatalError("not yet") }

    /// 64 random bits.
    public func random() -> UInt64 { fatalError("not yet") }

    /// Adds a put.
    /// - Returns: The entry's index.
    @discardableResult
    public mutating func put(_ key: EntryKey, value: [UInt8], firstSeen: UInt64? = nil) throws(JournalError) -> UInt32 {
        fatalError("not yet")
    }

    /// Adds a delete; the value stays as the tombstone's content.
    @discardableResult
    public mutating func delete(_ key: EntryKey, value: [UInt8], firstSeen: UInt64? = nil) throws(JournalError)
        -> UInt32
    {
        fatalError("not yet")
    }

    /// Adds a note.
    @discardableResult
    public mutating func note(_ key: EntryKey, value: [UInt8]) throws(JournalError) -> UInt32 { fatalError("not yet") }
}
