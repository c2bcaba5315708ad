/// What a merge did, or would do.
public struct CompactionReport: Hashable, Sendable {
    /// The number of segments that were merged.
    public var segments = 0
    /// Their size in bytes, and the size of what took their place.
    public var bytesBefore: UInt64 = 0
    /// The size in bytes of what took their place.
    public var bytesAfter: UInt64 = 0
    /// Entries that were read.
    public var entries = 0
    /// Superseded versions that were dropped.
    public var versions = 0
    /// Tombstones that were dropped.
    public var tombstones = 0
    /// Records of deleted zones, notes, outcomes and sessions that were dropped.
    public var others = 0
    /// Tombstones that were kept, by reason: an older put, a lease, their age, the source's floor.
    public var kept = KeptTombstones()
    /// Damage that kept segments from being merged, or entries from being dropped; each place once.
    public var damages: [Damage] = []

    /// Makes an empty report.
    public init() {}

    /// Adds a damage, unless one of the same place is there already.
    mutating func note(_ damage: Damage) {
        let isKnown = damages.contains { $0.file == damage.file && $0.offset == damage.offset }
        if !isKnown { damages.append(damage) }
    }

    /// Why tombstones were kept.
    public struct KeptTombstones: Hashable, Sendable {
        /// An older put of the key is still stored.
        public var olderPut = 0
        /// A live lease has not passed it.
        public var lease = 0
        /// It is younger than the retention.
        public var retention = 0
        /// The source's floor has not passed it.
        public var sourceFloor = 0
    }
}

/// Rewrites adjacent sealed segments as one, without what nobody needs.
struct CompactionMerge {
    let snapshot: JournalSnapshot
    let range: Range<Int>
    let rule: TombstoneRule
    let retention: JournalRetention
    let deadZones: [UInt64: UInt64]
    /// Whether another merge follows that takes in all: then this one drops only what it supersedes itself, and looks at no
    /// other segment.
    let isFirstOfMany: Bool

    private let inputs: [OpenSegment]
    /// Their files, open to the end of the merge.
    private let files: [any File]
    private var superseded: SupersededRows
    private(set) var report = CompactionReport()
    /// The floors that must be durable before the inputs go.
    private(set) var floors: [UInt64: UInt64] = [:]
    private var consistentFrom: UInt64

    init(
        snapshot: JournalSnapshot, range: Range<Int>, rule: TombstoneRule, retention: JournalRetention,
        deadZones: [UInt64: UInt64], isFirstOfMany: Bool
    ) throws(JournalError) {
        self.snapshot = snapshot
        self.isFirstOfMany = isFirstOfMany
        self.range = range
        self.rule = rule
        self.retention = retention
        self.deadZones = deadZones
        var inputs: [OpenSegment] = []
        for segment in snapshot.segments[range] {
            let input = try segment.open()
            try input.header.requireWritable(input.path)
            inputs.append(input)
        }
        self.inputs = inputs
        consistentFrom = inputs.map(\.header.consistentFrom).max() ?? 0
        files = try inputs.map { input throws(JournalError) in try input.openFile() }
        superseded = try SupersededRows(inputs)
    }

    /// Only counts what would be dropped.
    mutating func measure() throws(JournalError) { try forEachCommit { _ in } }

    /// Writes the merged segment to a file that is open for writing; `pause` is called after each megabyte.
    mutating func write(
        to file: any File, header: SegmentHeader, _ effort: LZ4Frame.Effort,
        pause: () throws(JournalError) -> Void
    ) throws(JournalError) {
        // The header is written last, when it is known what was dropped.
        var encoder = GroupEncoder(
            start: UInt64(SegmentHeader.size), front: [], salt: header.salt, chain: header.chainStart,
            blockSize: 16 * 1024, syncedThrough: header.previousLast, checkpoint: 0, effort: effort)
        var end = UInt64(SegmentHeader.size)
        func flush() throws(JournalError) {
            let bytes = encoder.drain()
            try journalErrors { () throws(FileError) in try file.write(bytes, at: end) }
            end += UInt64(bytes.count)
        }
        try forEachCommit { commit throws(JournalError) in
            let (items, bounds) = BlockCut.encode(commit)
            encoder.add(commit.info, items: items, bounds: bounds)
            if encoder.output.count > 1 << 20 {
                try flush()
                try pause()
            }
        }
        encoder.finish()
        try flush()
        let last = inputs[inputs.count - 1].content.withLock { $0 }
        var final = header
        final.consistentFrom = consistentFrom
        final.highestFloor = max(
            inputs.map(\.header.highestFloor).max() ?? 0,
            floors.lazy.filter { $0.key != Floor.sessions }.map(\.value).max() ?? 0)
        let closing = SegmentClosing(
            index: IndexContent(encoder.takeIndex()), end: end, lastCommit: last.lastCommit,
            chain: encoder.chain,
            salt: header.salt)
        try journalErrors { () throws(FileError) in
            try closing.write(to: file)
            try file.write(final.encoded(), at: 0)
            try file.sync()
        }
        report.bytesAfter = closing.size
    }

    /// Calls the body with each commit that keeps entries, in order.
    private mutating func forEachCommit(_ body: (Commit) throws(JournalError) -> Void) throws(JournalError) {
        var carry: Commit?
        superseded.rewind()
        for (number, input) in inputs.enumerated() {
            report.segments += 1
            report.bytesBefore += try journalErrors { () throws(FileError) in try input.file.status() }.size
            var block: UInt32 = 0
            try input.forEachRow(reaching: 0) { row throws(JournalError) in
                let raw = try input.read(row)
                for part in try keep(raw, segment: number, block: block, input, row) {
                    if carry?.info.number == part.info.number {
                        carry?.entries += part.entries
                        continue
                    }
                    if let carry {
                        guard carry.info.number < part.info.number else {
                            throw .corrupted(
                                Damage(
                                    file: input.file.path, offset: row.offset,
                                    reason: "block holds commits that lie before the block before it"))
                        }
                        try emit(carry, body)
                    }
                    carry = part
                }
                block += 1
                return true
            }
        }
        if let carry { try emit(carry, body) }
    }

    private func emit(_ commit: Commit, _ body: (Commit) throws(JournalError) -> Void) throws(JournalError) {
        guard !commit.entries.isEmpty else { return }
        var commit = commit
        let zones = Set(commit.entries.lazy.filter { $0.key.space == .record }.map(\.key.zone))
        commit.info.zones.removeAll { !zones.contains($0.zone) }
        try body(commit)
    }

    /// The commits of a block with the entries that stay.
    private mutating func keep(
        _ raw: [UInt8], segment: Int, block: UInt32, _ input: OpenSegment, _ row: BlockRow
    ) throws(JournalError) -> [Commit] {
        var commits: [Commit] = []
        let bytes = raw.span
        var parser = PayloadParser(bytes)
        while !parser.isAtEnd {
            let item: PayloadItem
            do throws(CBORError) {
                item = try parser.next()
            } catch {
                throw .corrupted(
                    Damage(file: input.path, offset: row.offset, reason: "block holds no valid entries"))
            }
            switch item {
            case .commit(let place): commits.append(Commit(info: place.info(in: bytes), entries: []))
            case .entry(let view):
                guard let info = commits.last?.info else { continue }
                report.entries += 1
                let isOld = superseded.contains(
                    segment: segment, block: block, place: UInt32(view.range.lowerBound))
                if try stays(view, bytes, info, isOld: isOld) {
                    commits[commits.count - 1].entries.append(view.entry(in: bytes, commit: info.number))
                }
            }
        }
        return commits
    }

    private mutating func stays(
        _ view: EntryPlace, _ raw: Span<UInt8>, _ info: CommitInfo, isOld: Bool
    ) throws(JournalError) -> Bool {
        let age = rule.clock.subtractingReportingOverflow(info.clock)
        func isOlder(than time: Duration) -> Bool { !age.overflow && age.partialValue > time.microseconds }
        if view.operation == .note {
            guard isOlder(than: retention.notes) else { return true }
            report.others += 1
            return false
        }
        if view.space == .record, let end = deadZones[view.zone] {
            // Nobody keeps a record from being put after its zone went.
            consistentFrom = max(consistentFrom, end, info.number)
            report.others += 1
            return false
        }
        let key = EntryKey(
            space: view.space, zone: view.zone, name: Array(copying: raw.extracting(view.name)))
        let probe = KeyProbe(key)
        let position = JournalPosition(commit: info.number, index: view.index)
        let newer = try around(nil) { merge throws(JournalError) in
            try merge.superseding(key, probe, isOld, position)
        }
        if let newer {
            if view.space == .zone, view.operation == .put {
                let hasRecords = try around(true) { merge throws(JournalError) in
                    try merge.hasRecords(ofZone: info.number)
                }
                if hasRecords { return true }
            }
            let (since, overflow) = rule.clock.subtractingReportingOverflow(newer.clock)
            if !overflow, since < retention.history.microseconds { return true }
            consistentFrom = max(consistentFrom, newer.number)
            report.versions += 1
            return false
        }
        if view.operation == .delete { return try !forgets(key, probe, info) }
        if view.space == .operation, isOlder(than: retention.operations) {
            report.others += 1
            return false
        }
        if view.space == .session, isOlder(than: retention.sessions),
            let next = try snapshot.nextSession(after: info.number),
            rule.clock - next.clock > retention.sessions.microseconds, rule.sourceFloors == nil
        {
            floors[Floor.sessions] = max(floors[Floor.sessions] ?? 0, next.commit - 1)
            report.others += 1
            return false
        }
        return true
    }

    /// Whether a tombstone that is the newest version of its key goes.
    private mutating func forgets(
        _ key: EntryKey, _ probe: KeyProbe, _ info: CommitInfo
    ) throws(JournalError) -> Bool {
        let zone = key.space == .record ? key.zone : 0
        let survives = try around(true) { merge throws(JournalError) in
            try merge.hasOlderPut(key, probe, before: info.number)
        }
        switch rule.hold(commit: info.number, clock: info.clock, zone: zone, olderPutSurvives: survives) {
        case nil:
            if rule.sourceFloors == nil { floors[zone] = max(floors[zone] ?? 0, info.number) }
            consistentFrom = max(consistentFrom, info.number)
            report.tombstones += 1
            return true
        case .olderPut: report.kept.olderPut += 1
        case .lease: report.kept.lease += 1
        case .retention: report.kept.retention += 1
        case .sourceFloor: report.kept.sourceFloor += 1
        }
        return false
    }

    /// What a look-up says; where it meets damage outside of what is merged the cautious answer counts, and the damage is told.
    private mutating func around<Value>(
        _ cautious: Value, _ body: (CompactionMerge) throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        do throws(JournalError) {
            return try body(self)
        } catch {
            guard case .corrupted(let damage) = error, !inputs.contains(where: { $0.path == damage.file })
            else { throw error }
            report.note(damage)
            return cautious
        }
    }

    /// The commit of the newest version of a key, if that is not the one at a position.
    private func superseding(
        _ key: EntryKey, _ probe: KeyProbe, _ isOld: Bool, _ position: JournalPosition
    ) throws(JournalError) -> CommitInfo? {
        if isFirstOfMany {
            guard isOld, let found = try snapshot.entry(for: key, among: range) else { return nil }
            return found.position > position ? found.commit : nil
        }
        var isSuspect = isOld
        if !isSuspect {
            for segment in snapshot.segments[range.upperBound...] {
                if try segment.open().mayHold(probe) {
                    isSuspect = true
                    break
                }
            }
        }
        guard isSuspect, let found = try snapshot.entry(for: key) else { return nil }
        return found.position > position ? found.commit : nil
    }

    private func hasRecords(ofZone zone: UInt64) throws(JournalError) -> Bool {
        if isFirstOfMany { return true }
        return try snapshot.lastCommit(ofZone: zone) != 0
    }

    /// Whether a segment before the merge still holds a put of a key.
    private func hasOlderPut(
        _ key: EntryKey, _ probe: KeyProbe, before commit: UInt64
    ) throws(JournalError) -> Bool {
        if isFirstOfMany { return true }
        for segment in snapshot.segments[..<range.lowerBound].reversed() {
            if try snapshot.holds(key, probe, in: try segment.open()) { return true }
        }
        // Within the merge older versions go in the same step, unless history keeps them for now.
        guard retention.history > .zero else { return false }
        for input in inputs {
            if try snapshot.holds(key, probe, in: input) { return true }
        }
        return false
    }
}
