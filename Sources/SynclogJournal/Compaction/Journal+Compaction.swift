internal import Glibc

extension Journal {
    /// The longest rest of a throttled merge, in microseconds.
    private static let throttleMax: Int64 = 50_000

    /// Merges segments and drops what nobody needs: superseded versions, old notes, tombstones by the three conditions.
    ///
    /// Everything goes on beside it: readers, writers, followers. Damage in a segment is reported and that segment left
    /// alone, as is one of a newer version; with `everything` the latter is ``JournalError/unsupported(path:feature:)``. It may be
    /// stopped at any moment; what was merged stays merged. Without room to merge everything it rewrites segment by segment what
    /// fits. A single merged segment of which nothing can go stays as it is. More segments than can be open at once are merged
    /// in runs, then what these left; a dry run counts run by run, and what one run supersedes in another is not seen.
    /// - Parameters:
    ///   - everything: Seals the live segment and merges all; otherwise only what the tiers ask for.
    ///   - dryRun: Only counts; nothing is changed.
    ///   - inputMax: The most bytes that one merge may read.
    ///   - progress: Called after each merge with what was done so far.
    /// - Returns: What was done. With another compaction under way, ``JournalError/busy(pid:)`` is thrown.
    public func compact(
        everything: Bool = false, dryRun: Bool = false, inputMax: UInt64 = 1 << 30,
        progress: (CompactionReport) -> Void = { _ in }
    ) throws(JournalError) -> CompactionReport {
        try compact(everything, dryRun, inputMax, throttled: false, progress)
    }

    private func compact(
        _ everything: Bool, _ dryRun: Bool, _ inputMax: UInt64, throttled: Bool,
        _ progress: (CompactionReport) -> Void
    ) throws(JournalError) -> CompactionReport {
        guard mode != .readOnly || dryRun else { throw .readOnly(path: path) }
        let lock = try dryRun ? nil : takeCompactionLock()
        defer { lock?.unlock() }
        if !dryRun {
            try withBallast { () throws(JournalError) in
                try turn.exclusively { live throws(JournalError) in
                    try live.sweepReplaced()
                    if everything { try live.rollNow() }
                }
            }
        }
        defer { if !dryRun { try? turn.exclusively { $0.fillBallast(orLess: true) } } }
        var total = CompactionReport()
        var leftAlone: Set<SegmentName> = []
        // Where the next run of a merge of all begins.
        var start = 0
        while true {
            let snapshot = try turn.refreshed()
            let isWhole = everything || dryRun
            let run =
                isWhole ? nextRun(snapshot, start) : try chooseRange(snapshot, leftAlone, inputMax)
            guard let range = run else { return total }
            do throws(JournalError) {
                let isMerged = range == 0..<1 && snapshot.segments[0].name.generation > 0
                if isMerged, !dryRun, var report = try merge(snapshot, range, everything, true, throttled),
                    report.dropped == 0
                {
                    report.segments = 0
                    report.bytesAfter = report.bytesBefore
                    if total.segments == 0 { total.add(report) }
                    return total
                }
                let merged = try withBallast { () throws(JournalError) in
                    try merge(snapshot, range, everything, dryRun, throttled)
                }
                guard var report = merged else { return total }
                // What a run keeps the last merge counts.
                if isWhole, isRun(range, of: snapshot) { report.kept = CompactionReport.KeptTombstones() }
                total.add(report)
                progress(total)
                guard isWhole else { continue }
                let isLast = range.upperBound == snapshot.segments.count - 1
                if isLast, dryRun || range.lowerBound == 0 { return total }
                // What is left of the runs is merged when all of them are.
                start = isLast ? 0 : dryRun ? range.upperBound : range.lowerBound + 1
            } catch {
                if error.isOutOfSpace, everything {
                    // Pieces may have made room for all.
                    if total.segments > 0 { return total }
                    total = try mergeAlone(progress)
                    if total.segments > 0 { continue }
                }
                let file: String
                switch error {
                case .corrupted(let damage):
                    total.note(damage)
                    file = damage.file
                case .unsupported(let path, _) where !everything && !dryRun: file = path
                default: throw error
                }
                let names = snapshot.segments[range].filter { file == $0.path }.map(\.name)
                guard !names.isEmpty, !everything, !dryRun else { return total }
                leftAlone.formUnion(names)
            }
        }
    }

    /// Runs a body, on a full disk once more without the ballast.
    private func withBallast<Result>(
        _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            let ballast = Ballast(path, options)
            guard error.isOutOfSpace, case let size = ballast.releaseAll(), size > 0 else { throw error }
            do throws(JournalError) {
                return try body()
            } catch {
                ballast.grow(from: 0, to: size)
                throw error
            }
        }
    }

    /// Merges each sealed segment alone, the smallest first, where that drops something and there is room: each makes room for
    /// the next one.
    private func mergeAlone(
        _ progress: (CompactionReport) -> Void
    ) throws(JournalError) -> CompactionReport {
        var total = CompactionReport()
        var tried: Set<UInt64> = []
        while true {
            let snapshot = try turn.refreshed()
            let sizes = snapshot.segments.map { (try? options.fileSystem.status($0.path))?.size ?? 0 }
            let left = sizes.indices.dropLast().filter { !tried.contains(snapshot.segments[$0].name.number) }
            guard let place = left.min(by: { sizes[$0] < sizes[$1] }) else { return total }
            tried.insert(snapshot.segments[place].name.number)
            do throws(JournalError) {
                let expected = try merge(snapshot, place..<place + 1, true, true, false)
                guard let expected, expected.dropped > 0 else { continue }
                let merged = try withBallast { () throws(JournalError) in
                    try merge(snapshot, place..<place + 1, true, false, false)
                }
                guard let report = merged else { continue }
                total.add(report)
                progress(total)
            } catch {
                switch error {
                case .corrupted(let damage): total.note(damage)
                default: guard error.isOutOfSpace else { throw error }
                }
            }
        }
    }

    /// Compacts if a segment was sealed meanwhile: here and at most some 8 MiB a merge where processes come and go, on a thread
    /// of its own where this one stays.
    func compactAfterRoll() {
        guard options.compacts, turn.beginCompaction() else { return }
        if mode == .shared {
            _ = try? compact(inputMax: 8 << 20)
            turn.endCompaction()
        } else {
            startThread { [self] in
                _ = try? compact(false, false, 1 << 30, throttled: true) { options.compactionProgress?($0) }
                turn.endCompaction()
            }
        }
    }

    /// Takes the lock COMPACT, which one job holds for all its length; compaction itself never waits for it.
    func takeCompactionLock(timeout: Duration = .zero) throws(JournalError) -> any File {
        let file = try journalErrors { () throws(FileError) in
            try options.fileSystem.open(path + "/COMPACT", .create)
        }
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        while try !journalErrors({ () throws(FileError) in try file.tryLock() }) {
            if clock.now >= deadline { throw .busy(pid: nil) }
            options.pause(2000)
        }
        return file
    }

    /// Whether these are only some of the segments of a merge of all, and what is made of them is merged again.
    private func isRun(_ range: Range<Int>, of snapshot: JournalSnapshot) -> Bool {
        range.count > 1 && snapshot.segments.count - 1 > inputsMax
    }

    /// The next sealed segments of a merge of all, as many as one may read; none is left alone at the end.
    private func nextRun(_ snapshot: JournalSnapshot, _ start: Int) -> Range<Int>? {
        let count = snapshot.segments.count - 1
        guard start < count else { return nil }
        let end = min(start + inputsMax, count)
        return start..<(count - end == 1 ? end - 1 : end)
    }

    private func chooseRange(
        _ snapshot: JournalSnapshot, _ leftAlone: Set<SegmentName>, _ inputMax: UInt64
    ) throws(JournalError) -> Range<Int>? {
        let sealed = snapshot.segments.dropLast()
        var sizes: [UInt64] = []
        for segment in sealed {
            let status = try journalErrors { () throws(FileError) in
                try options.fileSystem.status(segment.path)
            }
            // It belongs to no run.
            sizes.append(leftAlone.contains(segment.name) ? .max : status?.size ?? 0)
        }
        let unit = options.segmentSize ?? (mode == .exclusive ? 64 << 20 : 1 << 20)
        return CompactionPolicy(segmentSize: UInt64(unit), inputMax: inputMax, inputsMax: inputsMax)
            .choose(sizes)
    }

    /// The most segments that one merge may read: half of what may be open, for others are looked into meanwhile.
    private var inputsMax: Int { options.openFilesMax / 2 }

    /// Merges a range of sealed segments.
    /// - Returns: What was done, or nil if somebody else changed the segments meanwhile.
    private func merge(
        _ snapshot: JournalSnapshot, _ range: Range<Int>, _ everything: Bool, _ dryRun: Bool,
        _ throttled: Bool
    ) throws(JournalError) -> CompactionReport? {
        let leases = try snapshot.leases().map(\.lease)
        let rule = TombstoneRule(
            clock: snapshot.clock, retention: options.retention.tombstones.microseconds,
            lowestLease: options.rules.respectsLeases
                ? leases.filter { $0.isLive(at: snapshot.clock) }.map(\.commit).min() : nil,
            sourceFloors: isFollower ? try snapshot.floors() : nil,
            keepsOverPuts: options.rules.keepsTombstonesOverPuts)
        var merge = try CompactionMerge(
            snapshot: snapshot, range: range, rule: rule, retention: options.retention,
            deadZones: try snapshot.deadZones(),
            isFirstOfMany: (everything || dryRun) && isRun(range, of: snapshot))
        guard !dryRun else {
            try merge.measure()
            return merge.report
        }
        let inputs = snapshot.segments[range].map(\.name)
        let first = try snapshot.segments[range.lowerBound].open().header
        var header = first
        for (segment, input) in zip(snapshot.segments[range], inputs) {
            guard input.generation < .max else {
                throw .unsupported(path: segment.path, feature: "generation 4294967296")
            }
            header.generation = max(header.generation, input.generation + 1)
        }
        header.salt = options.random()
        let lastReplaced = try snapshot.segments[range.upperBound].open().header.number - 1
        header.replaces = first.number...lastReplaced
        let name = SegmentName(number: first.number, generation: header.generation)
        let draft = path + "/tmp/" + name.text + "." + hexadecimal(options.random(), digits: 16)
        let fileSystem = options.fileSystem
        do throws(JournalError) {
            let file = try journalErrors { () throws(FileError) in
                if try fileSystem.status(path + "/tmp") == nil { try fileSystem.makeDirectory(path + "/tmp") }
                return try fileSystem.open(draft, .createNew)
            }
            // A merge at a roll of the shared mode holds up whoever rolls.
            let effort: LZ4Frame.Effort = everything || mode == .exclusive ? .high : .low
            let clock = ContinuousClock()
            var start = clock.now
            try merge.write(to: file, header: header, effort) { () throws(JournalError) in
                if throttled {
                    let work = (clock.now - start).microseconds
                    options.pause(UInt32(clamping: min(max(work, 0), Self.throttleMax)))
                    start = clock.now
                }
                try self.stopIfClosed()
            }
            let floorsFirst = options.rules.raisesFloorsFirst
            let allowed = floorsFirst ? try raise(merge.floors) : true
            guard allowed,
                try turn.exclusively({ live throws(JournalError) in
                    try live.replace(inputs, with: name, draft: draft)
                })
            else {
                try? fileSystem.remove(draft)
                return nil
            }
            if !floorsFirst { _ = try raise(merge.floors) }
        } catch {
            try? fileSystem.remove(draft)
            throw error
        }
        return merge.report
    }

    /// Between two megabytes of a merge: a closed journal ends it.
    private func stopIfClosed() throws(JournalError) {
        if turn.isClosed { throw .closed }
    }

    /// Makes floors durable before anything below them is deleted, and marks the leases that ran out.
    /// - Returns: False if a lease arose meanwhile that still needs what is below.
    private func raise(_ floors: [UInt64: UInt64]) throws(JournalError) -> Bool {
        guard !floors.isEmpty else { return true }
        let highest = floors.lazy.filter { $0.key != Floor.sessions }.map(\.value).max() ?? 0
        let raised = floors.merging(highest > 0 ? [Floor.highest: highest] : [:]) { $1 }
        let leases = options.rules.respectsLeases ? try turn.refreshed().leases() : []
        let committed: Committed<Bool> = try commit { transaction throws(JournalError) in
            for (holder, _) in leases {
                guard let stored = try transaction.entry(for: Lease.key(holder)),
                    stored.entry.operation == .put,
                    var lease = Lease(value: stored.entry.value), !lease.expired
                else { continue }
                if lease.isLive(at: transaction.clock) {
                    if lease.commit < highest { return false }
                } else if lease.commit < highest {
                    lease.expired = true
                    try transaction.put(
                        Lease.key(holder), value: lease.value, firstSeen: stored.entry.firstSeen)
                }
            }
            for (zone, floor) in raised.sorted(by: { $0.key < $1.key }) {
                let old = try transaction.entry(for: Floor.key(zone: zone))
                let known = old.flatMap { Floor.commit($0.entry.value) } ?? 0
                if floor > known {
                    try transaction.put(
                        Floor.key(zone: zone), value: Floor.value(floor), firstSeen: old?.entry.firstSeen)
                }
            }
            return true
        }
        return committed.result
    }
}

extension Lease {
    /// Whether the lease still holds at a log clock.
    public func isLive(at clock: Int64) -> Bool { !expired && until > clock }
}

extension CompactionReport {
    /// The number of entries that went.
    var dropped: Int { versions + tombstones + others }

    /// Adds what another merge did.
    mutating func add(_ other: CompactionReport) {
        segments += other.segments
        bytesBefore += other.bytesBefore
        bytesAfter += other.bytesAfter
        entries += other.entries
        versions += other.versions
        tombstones += other.tombstones
        others += other.others
        kept.olderPut += other.kept.olderPut
        kept.lease += other.kept.lease
        kept.retention += other.kept.retention
        kept.sourceFloor += other.kept.sourceFloor
        for damage in other.damages { note(damage) }
    }
}
