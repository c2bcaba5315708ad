/// An entry where it lies in a decoded block, without a copy; it lives as long as the call it is handed to.
public struct EntryView: ~Escapable {
    /// The number of the entry's commit.
    public let commit: UInt64
    /// The commit's log clock in microseconds since 1970.
    public let clock: Int64
    /// The commit's wall time in microseconds since 1970.
    public let wall: Int64
    /// The number of the device that made the commit.
    public let device: UInt32
    /// What the entry does.
    public let operation: Entry.Operation
    /// The entry's place in its commit as first written.
    public let index: UInt32
    /// The kind of key.
    public let space: Space
    /// The number of the zone, or 0.
    public let zone: UInt64
    /// The commit in which the key was first seen.
    public let firstSeen: UInt64
    /// The bytes of the key's name.
    public let name: Span<UInt8>
    /// The value's CBOR bytes.
    public let value: Span<UInt8>

    /// The entry's position.
    public var position: JournalPosition { JournalPosition(commit: commit, index: index) }

    @_lifetime(copy raw)
    init(_ place: EntryPlace, of commit: CommitPlace, in raw: Span<UInt8>) {
        self.commit = commit.number
        clock = commit.clock
        wall = commit.wall
        device = commit.device
        operation = place.operation
        index = place.index
        space = place.space
        zone = place.zone
        firstSeen = place.firstSeen == 0 ? commit.number : place.firstSeen
        name = raw.extracting(place.name)
        value = raw.extracting(place.value)
    }

    @_lifetime(borrow entry)
    init(_ entry: borrowing Entry, of info: CommitInfo) {
        commit = info.number
        clock = info.clock
        wall = info.wall
        device = info.device
        operation = entry.operation
        index = entry.index
        space = entry.key.space
        zone = entry.key.zone
        firstSeen = entry.firstSeen
        name = entry.key.name.span
        value = entry.value.span
    }

    /// A copy of the entry.
    public func copy() -> Entry {
        Entry(
            operation: operation, index: index,
            key: EntryKey(space: space, zone: zone, name: Array(copying: name)), firstSeen: firstSeen,
            value: Array(copying: value))
    }
}
