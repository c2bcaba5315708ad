/// The place of an entry: its commit's number and its index there.
public struct JournalPosition: Hashable, Comparable, Sendable {
    /// The commit's number.
    public var commit: UInt64
    /// The entry's index in the commit.
    public var index: UInt32

    /// The place before everything.
    public static let start = JournalPosition(commit: 0, index: 0)

    /// Makes a position.
    public init(commit: UInt64, index: UInt32) {
        self.commit = commit
        self.index = index
    }

    /// The place after all of a commit's entries.
    public static func end(of commit: UInt64) -> JournalPosition {
        JournalPosition(commit: commit, index: .max)
    }

    /// Orders positions as the journal does.
    public static func < (a: JournalPosition, b: JournalPosition) -> Bool {
        a.commit != b.commit ? a.commit < b.commit : a.index < b.index
    }
}

/// The identity of a journal: 128 random bits, kept by its followers.
public struct JournalID: Hashable, Sendable, CustomStringConvertible {
    /// The upper 64 bits.
    public var high: UInt64
    /// The lower 64 bits.
    public var low: UInt64

    /// Makes an identity from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 32 hex digits.
    public var description: String { hexadecimal(high, digits: 16) + hexadecimal(low, digits: 16) }
}

/// A random label that runs from the commit that carries it to the next label in the log.
public struct SessionInfo: Hashable, Sendable {
    /// The label; 0 before the first.
    public var label: UInt64
    /// The commit that carries the label.
    public var commit: UInt64
    /// The log clock of that commit, in microseconds since 1970.
    public var clock: Int64

    /// Makes the facts of a session.
    public init(label: UInt64, commit: UInt64, clock: Int64) {
        self.label = label
        self.commit = commit
        self.clock = clock
    }
}

/// The last durable commit, and what is known about it.
public struct JournalHead: Hashable, Sendable {
    /// The number of the last durable commit; 0 in an empty journal.
    public var commit: UInt64
    /// The session in force there; 0 in an empty journal.
    public var session: UInt64
    /// True when later commits may be there that only an open for writing can prove durable.
    public var recoveryPending: Bool

    /// Makes a head.
    public init(commit: UInt64, session: UInt64, recoveryPending: Bool) {
        self.commit = commit
        self.session = session
        self.recoveryPending = recoveryPending
    }
}

/// Lower-case hex with leading zeros.
package func hexadecimal(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
