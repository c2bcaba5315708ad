/// What a replica or device needs kept: everything after a position, for some time.
public struct Lease: Hashable, Sendable {
    /// What holds the lease.
    public enum Kind: UInt8, Sendable {
        /// A follower of this journal.
        case replica = 1
        /// A device that syncs.
        case device = 2
    }

    /// What holds the lease.
    public var kind: Kind
    /// Everything up to this commit has been seen.
    public var commit: UInt64
    /// The log clock, in microseconds since 1970, at which the lease ends.
    public var until: Int64
    /// Set when tombstones above `commit` may have been dropped after the lease ended.
    public var expired: Bool

    /// Makes a lease.
    public init(kind: Kind, commit: UInt64, until: Int64, expired: Bool = false) {
        self.kind = kind
        self.commit = commit
        self.until = until
        self.expired = expired
    }

    /// The key of the lease of a holder.
    public static func key(_ holder: [UInt8]) -> EntryKey { EntryKey(space: .lease, name: holder) }

    /// The entry's value: `[kind, commit, until, expired]`.
    public var value: [UInt8] {
        var writer = CBORWriter()
        writer.array(4)
        writer.unsigned(UInt64(kind.rawValue))
        writer.unsigned(commit)
        writer.integer(until)
        writer.bool(expired)
        return writer.bytes
    }

    /// Reads an entry's value; nil if it is none.
    public init?(value: [UInt8]) {
        var reader = CBORReader(value)
        guard let count = try? reader.array(), count >= 4, let raw = try? reader.unsigned(),
            let kind = Kind(rawValue: UInt8(clamping: raw)), let commit = try? reader.unsigned(),
            let until = try? reader.integer(), let expired = try? reader.bool()
        else { return nil }
        self.init(kind: kind, commit: commit, until: until, expired: expired)
    }
}

/// The lowest usable position of a zone; zone 0 stands for the walk over zones.
enum Floor {
    /// In place of a zone: the last commit of the last session whose label was dropped.
    static let sessions = UInt64.max
    /// In place of a zone: the highest floor of all zones.
    ///
    /// A follower has it from its source, and no merged segment that would tell it.
    static let highest = UInt64.max - 1

    static func key(zone: UInt64) -> EntryKey {
        EntryKey(space: .floor, name: (0..<8).map { UInt8(truncatingIfNeeded: zone >> UInt64(56 - $0 * 8)) })
    }

    static func zone(of key: EntryKey) -> UInt64? {
        key.name.count == 8 ? key.name.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    static func value(_ commit: UInt64) -> [UInt8] {
        var writer = CBORWriter()
        writer.unsigned(commit)
        return writer.bytes
    }

    static func commit(_ value: [UInt8]) -> UInt64? {
        var reader = CBORReader(value)
        return try? reader.unsigned()
    }
}

extension JournalSnapshot {
    /// The newest put of every key of a space, with its commit; deleted keys are left out.
    func newest(in space: Space) throws(JournalError) -> [(key: EntryKey, stored: StoredEntry)] {
        var found: [EntryKey: StoredEntry] = [:]
        var reader = try JournalReader(
            self, from: .start, backward: false, filter: ReadFilter(spaces: [space]))
        while let commit = try reader.next() {
            for entry in commit.entries where entry.operation != .note {
                found[entry.key] = StoredEntry(commit: commit.info, entry: entry)
            }
        }
        return found.filter { $0.value.entry.operation == .put }
            .sorted { $0.value.position < $1.value.position }.map { ($0.key, $0.value) }
    }

    /// The floors by zone; 0 is the walk over zones.
    func floors() throws(JournalError) -> [UInt64: UInt64] {
        var floors: [UInt64: UInt64] = [:]
        for (key, stored) in try newest(in: .floor) {
            if let zone = Floor.zone(of: key), zone != Floor.highest,
                let commit = Floor.commit(stored.entry.value)
            {
                floors[zone] = commit
            }
        }
        return floors
    }

    /// The leases by holder.
    func leases() throws(JournalError) -> [(holder: [UInt8], lease: Lease)] {
        try newest(in: .lease).compactMap { key, stored in
            Lease(value: stored.entry.value).map { (key.name, $0) }
        }
    }

    /// The numbers of zones that were deleted; their records are nobody's.
    func deadZones() throws(JournalError) -> [UInt64: UInt64] {
        var made: [EntryKey: [UInt64]] = [:]
        var dead: [UInt64: UInt64] = [:]
        var reader = try JournalReader(
            self, from: .start, backward: false, filter: ReadFilter(spaces: [.zone]))
        while let commit = try reader.next() {
            for entry in commit.entries {
                switch entry.operation {
                case .put: made[entry.key, default: []].append(commit.info.number)
                case .delete:
                    for zone in made.removeValue(forKey: entry.key) ?? [] { dead[zone] = commit.info.number }
                case .note: continue
                }
            }
        }
        return dead
    }
}
