internal import SynclogJournal

/// The journal as a long-lived process has it open.
final class JournalEngine: Engine {
    let journal: Journal
    private static let zone: UInt64 = 1

    init(_ path: String, mode: JournalMode = .exclusive) throws {
        var options = JournalOptions()
        options.compacts = false
        do {
            journal = try Journal.open(at: path, mode: mode, options: options)
        } catch {
            guard mode != .readOnly else { throw error }
            journal = try Journal.create(at: path, mode: mode, options: options)
        }
    }

    func commit(_ records: ArraySlice<Workload.Record>, number: Int) throws {
        _ = try journal.commit { transaction throws(JournalError) in
            for record in records {
                try transaction.put(
                    EntryKey(space: .record, zone: Self.zone, name: record.name), value: record.value)
            }
        }
    }

    func scan(after commit: Int) throws -> (count: Int, bytes: Int) {
        var count = 0
        var bytes = 0
        var reader = try journal.read(
            after: commit == 0 ? .start : .end(of: UInt64(commit)),
            filter: ReadFilter(zones: [Self.zone], spaces: [.record]))
        while let commit = try reader.next() {
            for entry in commit.entries {
                count += 1
                bytes += entry.key.name.count + entry.value.count
            }
        }
        return (count, bytes)
    }

    func get(_ name: [UInt8]) throws -> Int? {
        try journal.entry(for: EntryKey(space: .record, zone: Self.zone, name: name))?.entry.value.count
    }

    func compact() throws { _ = try journal.compact(everything: true) }

    func close() { journal.close() }
}
