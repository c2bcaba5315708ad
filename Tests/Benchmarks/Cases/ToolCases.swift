internal import Glibc
internal import SynclogJournal
internal import SynclogRecords
internal import SynclogReplication
internal import TestSupport

extension BenchmarkRun {
    /// After how many bytes the raw loop syncs.
    private static let followBatch = 1 << 20

    /// A follower that copies over a pipe from another process, and `cat` over a pipe into a synced file.
    mutating func measureFollow(_ stores: [Store]) throws {
        guard let store = stores.first(where: { $0.engine is JournalEngine }) else { return }
        store.engine.close()
        let directory = TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let address = SourceAddress.command(
            "exec '\(ChildProcess.own)' --child serve synclog '\(store.path)'")
        var done: Follower.Report?
        let time = try Self.seconds {
            done = try Follower(at: directory.path + "/copy", source: try address.source()).run()
        }
        guard let report = done, report.entries >= store.count else {
            throw BenchmarkError("the follower has \(done?.entries ?? 0) entries of \(store.count)")
        }
        // Both bring the same journal over, so both are told as the size of its files.
        let files = RawLoops.files(in: store.path, suffix: ".lz4")
        measurements.add("follow", "synclog", Double(RawLoops.size(of: files)) / time / 1e6)
        for (name, batch) in [("raw", Self.followBatch), ("raw-one-sync", .max)] {
            var bytes = 0
            let time = try Self.seconds {
                bytes = try RawLoops.copy(files, to: directory.path + "/" + name, batch: batch)
            }
            measurements.add("follow", name, Double(bytes) / time / 1e6)
        }
        try store.reopen()
    }

    mutating func measureTools() throws {
        guard let tool = toolPath() else {
            for name in ["put-cold", "dump-json"] where options.wants(name) {
                measurements.skip(
                    name, "synclog", "no program synclog beside this one; build it or give --tool PATH")
            }
            return
        }
        if tools == nil { tools = try ToolStores(tool, options) }
        guard let tools else { return }
        if options.wants("put-cold") { try measureColdPut(tools) }
        if options.wants("dump-json") { try measureDump(tools) }
    }

    private func toolPath() -> String? {
        if let tool = options.tool { return tool }
        var path = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/exe", &path, 4095) > 0 else { return nil }
        let own = path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        let beside = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/synclog"
        return access(beside, X_OK) == 0 ? beside : nil
    }

    private mutating func measureColdPut(_ tools: ToolStores) throws {
        let raw = tools.directory.path + "/raw"
        close(try RawLoops.create(raw))
        for _ in 0..<15 {
            let name = Workload.name(using: &generator)
            let time = try Self.seconds {
                try ChildProcess.run([tools.tool, "-D", tools.store, "put", "notes", name, "text=Buy milk"])
            }
            measurements.add("put-cold", "synclog", time * 1000)
            let append = try Self.seconds {
                try ChildProcess.run([
                    "dd", "if=/dev/zero", "of=" + raw, "bs=512", "count=1", "conv=notrunc",
                    "oflag=append,dsync",
                ])
            }
            measurements.add("put-cold", "raw", append * 1000)
            guard let database = tools.sqlite else { continue }
            let insert = "INSERT INTO record VALUES(1, '\(name)', 9999999, 'Buy milk')"
            let other = try Self.seconds {
                try ChildProcess.run(["sqlite3", database, "PRAGMA synchronous=FULL; \(insert)"])
            }
            measurements.add("put-cold", "sqlite", other * 1000)
        }
        if tools.sqlite == nil, Contestant.peersAreThere, !options.alone {
            measurements.skip("put-cold", "sqlite", "no program sqlite3: apt-get install sqlite3")
        }
    }

    private mutating func measureDump(_ tools: ToolStores) throws {
        let words = [tools.tool, "-D", tools.dumpStore, "dump", "-o", "json"]
        for _ in 0..<2 {
            let time = try Self.seconds { try ChildProcess.run(words) }
            measurements.add("dump-json", "synclog", Double(tools.entries) / time)
            switch tools.journalFile {
            case .success(let file):
                let time = try Self.seconds {
                    try ChildProcess.run(["journalctl", "--file", file, "-o", "json", "--no-pager"])
                }
                measurements.add("dump-json", "journalctl", Double(tools.entries) / time)
            case .failure(let error): measurements.skip("dump-json", "journalctl", error.text)
            }
        }
    }
}

/// What the cases that run programs work on: databases as the tool makes them, with at most 100,000 records.
final class ToolStores {
    let tool: String
    let directory = TemporaryDirectory()
    let store: String
    let dumpStore: String
    /// The entries of `dumpStore`, as the tool prints them.
    private(set) var entries = 0
    /// The same entries as files of systemd's journal, or why there are none.
    private(set) var journalFile = Result<String, BenchmarkError>.failure(
        BenchmarkError("systemd-journal-remote is not installed: apt-get install systemd-journal-remote"))
    private(set) var sqlite: String?

    static let countMax = 100_000

    init(_ tool: String, _ options: BenchmarkOptions) throws {
        self.tool = tool
        store = directory("store")
        dumpStore = directory("dump")
        let count = min(options.scale, Self.countMax)
        if options.wants("put-cold") {
            try Self.fill(store, count, options.seed)
            if Contestant.peersAreThere, !options.alone, ChildProcess.find("sqlite3") != nil {
                try fillSQLite(Array(Workload(seed: options.seed, count: count).records))
            }
        }
        if options.wants("dump-json") {
            try Self.fill(dumpStore, count, options.seed)
            try makeJournalFile()
        }
    }

    /// Saves records through the authority, 400 a request, as `synclog import` does.
    private static func fill(_ path: String, _ count: Int, _ seed: UInt64) throws {
        let database = try JournalDatabase.create(at: path)
        defer { database.close() }
        let zone = RecordZone.ID(zoneName: "notes", ownerName: database.owner)
        _ = try database.perform(
            DatabaseRequest(.modifyRecordZones(saving: [zone], deleting: [], reason: .deleted)))
        var generator = SeededGenerator(seed: seed)
        for start in stride(from: 0, to: count, by: 400) {
            let saves = (start..<min(start + 400, count)).map { _ in
                let name = Workload.name(using: &generator)
                var record = Record(
                    recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
                for field in Workload.fields(using: &generator, size: 150) { record[field.key] = field.value }
                return RecordSave(record, policy: .ifServerRecordUnchanged)
            }
            let answer = try database.perform(
                DatabaseRequest(
                    .modifyRecords(
                        DatabaseRequest.ModifyRecords(
                            saves: saves, deletions: [], savePolicy: .ifServerRecordUnchanged,
                            atomically: true))))
            guard case .modifiedRecords(let results, _) = answer.body else {
                throw BenchmarkError("saving records had another answer")
            }
            for result in results { _ = try result.get() }
        }
    }

    private func fillSQLite(_ records: [Workload.Record]) throws {
        guard let contestant = Contestant.all.first(where: { $0.label == "sqlite by name" }) else { return }
        let path = directory("sqlite")
        guard mkdir(path, 0o755) == 0 else { throw BenchmarkError("\(path) cannot be made") }
        let engine = try contestant.open(path)
        for start in stride(from: 0, to: records.count, by: 250) {
            _ = try engine.commit(records[start..<min(start + 250, records.count)])
        }
        engine.close()
        sqlite = path + "/store.sqlite"
    }

    private func makeJournalFile() throws {
        let export = directory("export")
        let file = try RawLoops.create(export)
        try ChildProcess.run([tool, "-D", dumpStore, "dump", "-o", "export"], output: file)
        close(file)
        entries = try Self.lines(of: [tool, "-D", dumpStore, "dump", "-o", "json"])
        let remote = "/lib/systemd/systemd-journal-remote"
        guard access(remote, X_OK) == 0, ChildProcess.find("journalctl") != nil else { return }
        // It begins another file now and then.
        let files = directory("systemd")
        guard mkdir(files, 0o755) == 0 else { throw BenchmarkError("\(files) cannot be made") }
        try ChildProcess.run([remote, "-o", files + "/entries.journal", export])
        let made = files + "/*.journal"
        let theirs = try Self.lines(of: ["journalctl", "--file", made, "-o", "json", "--no-pager"])
        guard theirs == entries else {
            throw BenchmarkError("journalctl prints \(theirs) entries, synclog \(entries)")
        }
        journalFile = .success(made)
    }

    private static func lines(of words: [String]) throws -> Int {
        try ChildProcess.output(of: words).count { $0 == 0x0A }
    }
}
