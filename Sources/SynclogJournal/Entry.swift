/// The kind of key an entry stands for; unknown spaces are carried along.
public struct Space: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number stored in the entry.
    public var rawValue: UInt32

    /// Makes a space from its stored number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Orders spaces by number.
    public static func < (a: Space, b: Space) -> Bool { a.rawValue < b.rawValue }

    /// A record in a zone; the only space whose entries lie in a zone.
    public static let record = Space(rawValue: 1)
    /// A zone of a database.
    public static let zone = Space(rawValue: 2)
    /// A zone checkpoint of a replica.
    public static let checkpoint = Space(rawValue: 3)
    /// Small state of the writer's own.
    public static let state = Space(rawValue: 4)
    /// The lowest usable position of a zone.
    public static let floor = Space(rawValue: 5)
    /// The lease of a replica.
    public static let lease = Space(rawValue: 6)
    /// A device and its number.
    public static let device = Space(rawValue: 7)
    /// The outcome of an operation, kept for its repeats.
    public static let operation = Space(rawValue: 8)
    /// A conflict that was kept.
    public static let conflict = Space(rawValue: 9)
    /// A record that could not be applied.
    public static let quarantine = Space(rawValue: 10)
    /// A schema entry; reserved.
    public static let schema = Space(rawValue: 11)
    /// An asset; reserved.
    public static let asset = Space(rawValue: 12)
    /// The label of a session.
    public static let session = Space(rawValue: 13)
    /// The highest commit number that relaxed commits may use.
    public static let reserve = Space(rawValue: 14)
    /// The database's own facts.
    public static let database = Space(rawValue: 15)
}

/// What an entry is about: a space, a zone and a name, compared as bytes.
public struct EntryKey: Hashable, Sendable {
    /// The kind of key.
    public var space: Space
    /// The number of the zone, which is the number of the commit that made it; 0 means no zone.
    public var zone: UInt64
    /// The name: any bytes, at most ``FormatLimits/keySizeMax``.
    public var name: [UInt8]

    /// Makes a key.
    public init(space: Space, zone: UInt64 = 0, name: [UInt8]) {
        self.space = space
        self.zone = zone
        self.name = name
    }
}

/// One put, delete or note, as it stands in a commit.
public struct Entry: Hashable, Sendable {
    /// What the entry does.
    public enum Operation: UInt8, Sendable {
        /// Gives the key a value.
        case put = 1
        /// Takes the key away; the entry is its tombstone.
        case delete = 2
        /// Tells an event; it has no key's state.
        case note = 3
    }

    /// What the entry does.
    public var operation: Operation
    /// The entry's place in its commit as first written; indices may have gaps.
    public var index: UInt32
    /// What the entry is about.
    public var key: EntryKey
    /// The commit in which the key was first seen; its own commit's number if that was this one.
    public var firstSeen: UInt64
    /// CBOR bytes that the journal carries without reading them.
    public var value: [UInt8]

    /// Makes an entry.
    public init(operation: Operation, index: UInt32, key: EntryKey, firstSeen: UInt64, value: [UInt8]) {
        self.operation = operation
        self.index = index
        self.key = key
        self.firstSeen = firstSeen
        self.value = value
    }
}

/// The facts of one commit.
public struct CommitInfo: Hashable, Sendable {
    /// The commit's number; numbers rise strictly and may have gaps.
    public var number: UInt64
    /// The log clock in microseconds since 1970; it never goes back.
    public var clock: Int64
    /// Microseconds since 1970 as the machine told it.
    public var wall: Int64
    /// The number of the device that made the commit; 0 is the directory itself.
    public var device: UInt32
    /// The zones with record entries in the commit, rising, each with that zone's previous commit or 0.
    public var zones: [ZoneLink]

    /// Makes the facts of a commit.
    public init(number: UInt64, clock: Int64, wall: Int64, device: UInt32, zones: [ZoneLink]) {
        self.number = number
        self.clock = clock
        self.wall = wall
        self.device = device
        self.zones = zones
    }
}

/// A zone touched by a commit, and the commit that touched it before.
public struct ZoneLink: Hashable, Sendable {
    /// The zone's number.
    public var zone: UInt64
    /// The zone's previous commit, or 0.
    public var previous: UInt64

    /// Makes a link.
    public init(zone: UInt64, previous: UInt64) {
        self.zone = zone
        self.previous = previous
    }
}

/// A commit with those of its entries that the reader asked for.
public struct Commit: Hashable, Sendable {
    /// The commit's facts.
    public var info: CommitInfo
    /// The entries that passed the filter, in order of index.
    public var entries: [Entry]

    /// Makes a commit.
    public init(info: CommitInfo, entries: [Entry]) {
        self.info = info
        self.entries = entries
    }
}

/// An entry together with the commit it was read from.
public struct StoredEntry: Hashable, Sendable {
    /// The facts of the commit.
    public var commit: CommitInfo
    /// The entry.
    public var entry: Entry

    /// The entry's position.
    public var position: JournalPosition { JournalPosition(commit: commit.number, index: entry.index) }

    /// Makes a stored entry.
    public init(commit: CommitInfo, entry: Entry) {
        self.commit = commit
        self.entry = entry
    }
}
