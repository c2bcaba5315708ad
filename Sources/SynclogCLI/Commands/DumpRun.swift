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
    private var last: DumpEntry?

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
            let line = "-- cursor: \(last.address.cursor.text)"
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

    private func wants(_ entry: Entry) -> Bool {
        guard !request.zones.isEmpty else { return true }
        if entry.key.space == .record { return zoneNumbers.contains(entry.key.zone) }
        return ZoneNumbers.name(in: entry.key).map { request.wants(zone: $0) } ?? false
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
            try turned { add throws(CommandFailure) in try backward(limit: count, add) }
        case (.oldest(let count), true):
            try turned { add throws(CommandFailure) in try forward(limit: count, add) }
        }
    }

    /// Collects entries and prints them the other way round.
    private func turned(
        _ read: ((DumpEntry) throws(CommandFailure) -> Void) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var entries: [DumpEntry] = []
        try read { entry throws(CommandFailure) in entries.append(entry) }
        for entry in entries.reversed() { try print(entry) }
    }

    /// The entries after the cursor, oldest first; with `-r` those before it.
    private func forward(
        limit: Int, _ use: (DumpEntry) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let lower = request.reverse ? JournalPosition.start : lowerBound
        let upper = request.reverse ? upperBound : nil
        try read(from: lower, through: upper, limit: limit, use)
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

    private func read(
        from lower: JournalPosition, through upper: JournalPosition?, limit: Int,
        _ use: (DumpEntry) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var left = limit
        var reader = try SynclogCLI.journal { () throws(JournalError) in
            try journal.read(after: lower, filter: filter)
        }
        reader.onDamage = { [self] damage in met(damage) }
        while left > 0, let commit = try next(&reader) {
            for entry in commit.entries where wants(entry) {
                if let upper, JournalPosition(commit: commit.info.number, index: entry.index) >= upper {
                    return
                }
                try use(try make(entry, commit.info))
                left -= 1
                if left == 0 { return }
            }
        }
    }

    private func backward(
        limit: Int, _ use: (DumpEntry) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var left = limit
        let upper = request.reverse ? upperBound : nil
        let lower = request.reverse ? nil : request.cursor.map { _ in lowerBound }
        var reader = try SynclogCLI.journal { () throws(JournalError) in
            try journal.readBackward(before: upper, filter: filter)
        }
        reader.onDamage = { [self] damage in met(damage) }
        while left > 0, let commit = try next(&reader) {
            for entry in commit.entries.reversed() where wants(entry) {
                if let lower, JournalPosition(commit: commit.info.number, index: entry.index) <= lower {
                    return
                }
                try use(try make(entry, commit.info))
                left -= 1
                if left == 0 { return }
            }
        }
    }

    private func next(_ reader: inout JournalReader) throws(CommandFailure) -> Commit? {
        do throws(JournalError) { return try reader.next() } catch { throw CommandFailure(error) }
    }

    private func make(_ entry: Entry, _ commit: CommitInfo) throws(CommandFailure) -> DumpEntry {
        do throws(JournalError) { return try maker.entry(entry, in: commit) } catch {
            throw CommandFailure(error)
        }
    }

    private func print(_ entry: DumpEntry) throws(CommandFailure) {
        var out: [UInt8] = []
        format.append(entry, to: &out)
        try console.write(out)
        last = entry
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
