import SynclogJournal

/// Reads the journal as a request asks, and prints.
final class DumpRun {
    private let journal: Journal
    private let request: DumpRequest
    private var format: any DumpFormat
    private let console: Console
    private var maker: DumpEntryMaker
    private var zoneNumbers: Set<UInt64> = []
    private var zonesScanned: UInt64 = 0
    private var firstDamage: Damage?
    private var recoveryReported = false
    /// Where the entry that was printed last is.
    private var last: DumpEntry.Address?
    /// Both are filled again for each entry.
    private var entry = DumpEntry()
    private var line: [UInt8] = []

    init(journal: Journal, request: DumpRequest, format: any DumpFormat, console: Console) {
        self.journal = journal
        self.request = request
        self.format = format
        self.console = console
        maker = DumpEntryMaker(journal: journal)
    }

    /// Prints what is there, then follows if asked for, then tells of damage.
    func show() throws(CommandFailure) {
        var lost: CommandFailure?
        var end: UInt64 = 0
        do throws(CommandFailure) {
            end = try head()
        } catch {
            // Entries around damage are still worth showing.
            guard error.code == .damage else { throw error }
            lost = error
        }
        try SynclogCLI.journal { () throws(JournalError) in
            if let cursor = request.cursor { try journal.validate(cursor.cursor) }
            if !request.zones.isEmpty { try learnZones(through: end) }
        }
        try printStored()
        if last == nil, !request.follows, !request.quiet, !format.isForPrograms {
            console.notice("-- No entries --")
        }
        if request.follows, lost == nil { try follow(after: end) }
        if request.showsCursor, let last {
            let line = "-- cursor: \(last.cursor.text)"
            if format.isForPrograms { console.notice(line) } else { try console.line(line) }
        }
        if let lost { throw lost }
        if let firstDamage {
            throw CommandFailure(
                .damage, "damage was met: \(CommandFailure.text(firstDamage))",
                next: "run 'synclog verify' for all of it")
        }
    }

    private func head() throws(CommandFailure) -> UInt64 {
        let head = try SynclogCLI.journal { () throws(JournalError) in try journal.head() }
        if head.recoveryPending, !recoveryReported {
            recoveryReported = true
            console.notice(OpenedDatabase.recoveryNotice)
        }
        maker.head = head.commit
        return head.commit
    }

    private func learnZones(through end: UInt64) throws(JournalError) {
        guard end > zonesScanned || zonesScanned == 0 else { return }
        zoneNumbers.formUnion(
            try ZoneNumbers.numbers(journal, after: zonesScanned) { request.wants(zone: $0) })
        zonesScanned = end
    }

    private var filter: ReadFilter {
        var filter = ReadFilter(wall: request.wall)
        if !request.zones.isEmpty {
            filter.zones = zoneNumbers
            filter.spaces = [.record, .zone]
        }
        return filter
    }

    private func wants(_ view: borrowing EntryView) -> Bool {
        guard !request.zones.isEmpty else { return true }
        if view.space == .record { return zoneNumbers.contains(view.zone) }
        return ZoneNumbers.name(in: view.copy().key).map { request.wants(zone: $0) } ?? false
    }

    // MARK: What is stored

    private func printStored() throws(CommandFailure) {
        switch (request.count, request.reverse) {
        case (.newest(0), _), (.oldest(0), _): return
        case (.all, false): try forward(limit: .max, print)
        case (.oldest(let count), false): try forward(limit: count, print)
        case (.all, true): try backward(limit: .max, print)
        case (.newest(let count), true): try backward(limit: count, print)
        case (.newest(let count), false):
            var first: JournalPosition?
            var found = 0
            try backward(limit: count) { view throws(CommandFailure) in
                first = view.position
                found += 1
            }
            guard let first else { return }
            try read(from: Self.predecessor(first), through: nil, limit: found, quietly: true, print)
        case (.oldest(let count), true):
            var last: JournalPosition?
            var found = 0
            try forward(limit: count) { view throws(CommandFailure) in
                last = view.position
                found += 1
            }
            guard let last else { return }
            try readBackward(before: Self.successor(last), downTo: nil, limit: found, quietly: true, print)
        }
    }

    private typealias Use = (borrowing EntryView) throws(CommandFailure) -> Void

    /// The entries after the cursor, oldest first; with `-r` those before it.
    private func forward(limit: Int, _ use: Use) throws(CommandFailure) {
        let lower = request.reverse ? JournalPosition.start : lowerBound
        let upper = request.reverse ? upperBound : nil
        try read(from: lower, through: upper, limit: limit, use)
    }

    /// The entries after the cursor, newest first; with `-r` those before it.
    private func backward(limit: Int, _ use: Use) throws(CommandFailure) {
        let upper = request.reverse ? upperBound : nil
        let lower = request.reverse ? nil : request.cursor.map { _ in lowerBound }
        try readBackward(before: upper, downTo: lower, limit: limit, use)
    }

    /// Strictly after this place, for reading on from the cursor.
    private var lowerBound: JournalPosition {
        guard let (cursor, inclusive) = request.cursor else { return .start }
        return inclusive ? Self.predecessor(cursor.position) : cursor.position
    }

    /// Strictly before this place, for reading back from the cursor.
    private var upperBound: JournalPosition? {
        guard let (cursor, inclusive) = request.cursor else { return nil }
        return inclusive ? Self.successor(cursor.position) : cursor.position
    }

    private static func predecessor(_ position: JournalPosition) -> JournalPosition {
        if position.index > 0 { return JournalPosition(commit: position.commit, index: position.index - 1) }
        return position.commit > 0 ? .end(of: position.commit - 1) : .start
    }

    private static func successor(_ position: JournalPosition) -> JournalPosition {
        position.index < .max
            ? JournalPosition(commit: position.commit, index: position.index + 1)
            : JournalPosition(commit: position.commit + 1, index: 0)
    }

    /// Reads forward; `quietly` where the same damage was told of before.
    private func read(
        from lower: JournalPosition, through upper: JournalPosition?, limit: Int, quietly: Bool = false,
        _ use: Use
    ) throws(CommandFailure) {
        let reader = try SynclogCLI.journal { () throws(JournalError) in
            try journal.read(after: lower, filter: filter)
        }
        try read(
            reader, limit: limit, quietly: quietly, until: { place in upper.map { place >= $0 } ?? false },
            use)
    }

    /// Reads backward; `quietly` where the same damage was told of before.
    private func readBackward(
        before upper: JournalPosition?, downTo lower: JournalPosition?, limit: Int, quietly: Bool = false,
        _ use: Use
    ) throws(CommandFailure) {
        let reader = try SynclogCLI.journal { () throws(JournalError) in
            try journal.readBackward(before: upper, filter: filter)
        }
        try read(
            reader, limit: limit, quietly: quietly, until: { place in lower.map { place <= $0 } ?? false },
            use)
    }

    private func read(
        _ reader: consuming JournalReader, limit: Int, quietly: Bool, until isEnd: (JournalPosition) -> Bool,
        _ use: Use
    ) throws(CommandFailure) {
        var reader = reader
        reader.onDamage = quietly ? { _ in } : { [self] damage in met(damage) }
        var left = limit
        var failure: CommandFailure?
        do throws(JournalError) {
            try reader.forEachEntry { view in
                guard wants(view) else { return true }
                if isEnd(view.position) { return false }
                do throws(CommandFailure) {
                    try use(view)
                } catch {
                    failure = error
                    return false
                }
                left -= 1
                return left > 0
            }
        } catch {
            throw CommandFailure(error)
        }
        if let failure { throw failure }
    }

    private func print(_ view: borrowing EntryView) throws(CommandFailure) {
        do throws(JournalError) { try maker.fill(&entry, with: view) } catch { throw CommandFailure(error) }
        line.removeAll(keepingCapacity: true)
        format.append(entry, to: &line)
        try console.write(line)
        last = entry.address
    }

    private func met(_ damage: Damage) {
        if firstDamage == nil { firstDamage = damage }
        console.notice("synclog: damage: \(CommandFailure.text(damage))")
    }

    // MARK: What comes

    /// How long one wait may last; only a look at whether anything changed follows it.
    private static let waitMax = Duration.seconds(3600)

    private func follow(after commit: UInt64) throws(CommandFailure) {
        var done = commit
        try console.flush()
        while true {
            let end = try head()
            if end > done {
                try SynclogCLI.journal { () throws(JournalError) in
                    if !request.zones.isEmpty { try learnZones(through: end) }
                }
                try read(from: .end(of: done), through: nil, limit: .max, print)
                done = end
                try console.flush()
            }
            _ = try SynclogCLI.journal { () throws(JournalError) in
                try journal.waitForChange(after: done, timeout: Self.waitMax)
            }
        }
    }
}
