internal import SynclogJournal

/// The journal as a long-lived process has it open, with the default options.
final class JournalEngine: Engine {
    let journal: Journal
    /// Counts what this engine alone does with files.
    let files: PosixFileSystem
    private static let zone: UInt64 = 1
    private static let filter = ReadFilter(zones: [zone], spaces: [.record])

    init(_ path: String, mode: JournalMode = .exclusive, files: PosixFileSystem = PosixFileSystem()) throws {
        self.files = files
        var options = JournalOptions()
        options.fileSystem = files
        if RawLoops.files(in: path, suffix: ".lz4").isEmpty {
            journal = try Journal.create(at: path, mode: mode, options: options)
        } else {
            journal = try Journal.open(at: path, mode: mode, options: options)
        }
    }

    func commit(_ records: ArraySlice<Workload.Record>) throws -> Int {
        let made = try journal.commit { transaction throws(JournalError) in
            for record in records {
                try transaction.put(
                    EntryKey(space: .record, zone: Self.zone, name: record.name), value: record.value)
            }
        }
        return Int(made.commit?.number ?? 0)
    }

    func walk(after commit: Int) throws -> Walk {
        var walk = Walk()
        var reader = try journal.read(
            after: commit == 0 ? .start : .end(of: UInt64(commit)), filter: Self.filter)
        try reader.forEachEntry { entry in
            walk.add(entry.name, entry.value)
            return true
        }
        return walk
    }

    func get(_ name: [UInt8]) throws -> Int? {
        let key = EntryKey(space: .record, zone: Self.zone, name: name)
        guard let value = try journal.entry(for: key)?.entry.value, value.last != nil else { return nil }
        return value.count
    }

    func compact() throws { _ = try journal.compact(everything: true) }

    func settle() {}

    /// The bytes of a commit's blocks in the file.
    func storedSize(ofCommit number: Int) throws -> Int {
        let blocks = try journal.blocks(after: UInt64(number - 1), sizeMax: 1)
        return blocks.reduce(0) { $0 + 64 + $1.payload.count }
    }

    func close() { journal.close() }
}
