/// Sizes and counts of a journal's files, and what is needed of their content.
public struct JournalStatistics: Sendable {
    /// A number of entries and the bytes of their names and values before compression.
    public struct Share: Hashable, Sendable {
        /// The number of entries.
        public var entries = 0
        /// The bytes of their names and values.
        public var bytes: UInt64 = 0

        /// Makes an empty share.
        public init() {}

        mutating func add(_ size: Int) {
            entries += 1
            bytes += UInt64(size)
        }
    }

    /// What keeps tombstones from being dropped; each is counted once, under the first that holds.
    public struct HeldTombstones: Hashable, Sendable {
        /// In a follower: the source's floor has not passed it.
        public var sourceFloor = 0
        /// A live lease has not passed it.
        public var lease = 0
        /// It is younger than the retention.
        public var retention = 0
        /// An older put of the key is still stored, and has to go first or with it.
        public var olderPut = 0
        /// Nothing: the next merge drops it.
        public var nothing = 0

        /// Makes an empty count.
        public init() {}
    }

    /// The number of segment files.
    public var segments = 0
    /// The bytes of all segment files.
    public var storedBytes: UInt64 = 0
    /// The bytes of all blocks before compression.
    public var rawBytes: UInt64 = 0
    /// The number of blocks.
    public var blocks = 0
    /// The number of entries.
    public var entries = 0

    /// The newest version of each key that has one.
    public var live = Share()
    /// Superseded versions, and records of zones that were deleted.
    public var dead = Share()
    /// Deletions that are the newest of their key.
    public var tombstones = Share()
    /// Notes.
    public var notes = Share()
    /// What keeps the tombstones.
    public var held = HeldTombstones()
    /// The floors by zone, in order; zone 0 is the walk over zones.
    public var floors: [(zone: UInt64, commit: UInt64)] = []
    /// The leases by holder, in order of their entries.
    public var leases: [(holder: [UInt8], lease: Lease)] = []
    /// The log clock at the head, which decides whether a lease lives.
    public var clock: Int64 = 0
}

extension Journal {
    /// Sizes and counts of the files, and what is needed of their content; reads every block, damaged ones left out.
    public func statistics() throws(JournalError) -> JournalStatistics {
        var statistics = JournalStatistics()
        for segment in try verify().segments {
            statistics.segments += 1
            statistics.storedBytes += segment.size
            statistics.rawBytes += segment.rawBytes
            statistics.blocks += segment.blocks
            statistics.entries += segment.entries
        }
        return try reading { snapshot throws(JournalError) in
            try content(of: snapshot, into: statistics)
        }
    }

    private func content(
        of snapshot: JournalSnapshot, into start: JournalStatistics
    ) throws(JournalError) -> JournalStatistics {
        var result = start
        result.clock = snapshot.clock
        do throws(JournalError) {
            result.leases = try snapshot.leases()
            result.floors = try snapshot.floors().filter { $0.key != Floor.sessions }
                .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        } catch {
            // What is damaged is `verify`'s business.
            guard case .corrupted = error else { throw error }
        }
        let rule = tombstoneRule(snapshot, leases: result.leases.map(\.lease), floors: result.floors)
        let dead = try snapshot.deadZones()
        // From the newest to the oldest: the first version met of a key is the one that counts.
        var seen: Set<UInt64> = []
        var waiting: [UInt64: TombstoneRule.Hold?] = [:]
        var reader = try JournalReader(
            snapshot, from: .end(of: .max), backward: true, filter: .all)
        reader.onDamage = { _ in }
        try reader.forEachEntry { entry in
            let size = entry.name.count + entry.value.count
            if entry.operation == .note {
                result.notes.add(size)
                return true
            }
            let fingerprint = synclogFingerprint(space: entry.space, zone: entry.zone, name: entry.name)
            let isNewest = seen.insert(fingerprint).inserted
            if entry.space == .record && dead[entry.zone] != nil {
                result.dead.add(size)
            } else if !isNewest {
                result.dead.add(size)
                if entry.operation == .put, case .some(.none) = waiting[fingerprint] {
                    waiting[fingerprint] = .olderPut
                }
            } else if entry.operation == .put {
                result.live.add(size)
            } else {
                result.tombstones.add(size)
                let hold = rule.hold(
                    commit: entry.commit, clock: entry.clock, zone: entry.space == .record ? entry.zone : 0,
                    olderPutSurvives: false)
                waiting.updateValue(hold, forKey: fingerprint)
            }
            return true
        }
        for hold in waiting.values {
            switch hold {
            case .olderPut: result.held.olderPut += 1
            case .lease: result.held.lease += 1
            case .retention: result.held.retention += 1
            case .sourceFloor: result.held.sourceFloor += 1
            case nil: result.held.nothing += 1
            }
        }
        return result
    }

    private func tombstoneRule(
        _ snapshot: JournalSnapshot, leases: [Lease], floors: [(zone: UInt64, commit: UInt64)]
    ) -> TombstoneRule {
        TombstoneRule(
            clock: snapshot.clock, retention: options.retention.tombstones.microseconds,
            lowestLease: leases.filter { $0.isLive(at: snapshot.clock) }.map(\.commit).min(),
            sourceFloors: isFollower
                ? Dictionary(floors.map { ($0.zone, $0.commit) }, uniquingKeysWith: max) : nil)
    }
}
