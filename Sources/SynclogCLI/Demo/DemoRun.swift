import Glibc
import SynclogJournal
import SynclogRecords

/// The demo: publishes releases while a follower is killed, provokes a conflict, and compares everything.
final class DemoRun {
    private let directory: String
    private let releases: [String]
    private let seed: UInt64
    private let console: Console
    private let processes: DemoProcesses
    private var authority: String { directory + "/authority" }
    private var copy: String { directory + "/follower" }

    /// The zones that are published, with the type of line that goes there.
    private static let zones = [("zones", "Zone"), ("links", "Link")]
    private static let types = "tzif:bytes,target:reference@zones,location:location"
    private static let killsMin = 5

    init(directory: String, releases: [String], seed: UInt64, console: Console) throws(CommandFailure) {
        self.directory = directory
        self.releases = releases
        self.seed = seed
        self.console = console
        processes = try DemoProcesses(directory: directory)
    }

    func run() async throws(CommandFailure) {
        let started = monotonicMilliseconds()
        processes.handleSignals()
        defer { processes.killAll() }
        try say("directory  \(directory)")
        try say("seed       \(seed)")
        _ = try processes.run(["-D", authority, "init", "--container", "demo", "--owner", "demo"])
        let source =
            "exec:"
            + [processes.executable, "-D", authority, "serve", "--stdio"].map(Self.quoted).joined(
                separator: " ")
        var follower = DemoFollower(processes, source: source, path: copy, seed: seed)
        try publish(&follower)
        try await compareWithLastRelease()
        let conflict = try provokeConflict()
        let head = try Self.head(authority)
        try follower.start()
        try follower.waitUntil(head: head, milliseconds: 20000)
        try follower.stop(by: SIGTERM)
        for path in [authority, copy] { _ = try processes.run(["-D", path, "verify"]) }
        let compared = try await compareCopies()
        try report(
            kills: follower.headsAfterKills, head: head, conflict: conflict, compared: compared,
            milliseconds: monotonicMilliseconds() - started)
    }

    private func say(_ text: String) throws(CommandFailure) {
        try console.line(text)
        try console.flush()
    }

    /// A word for the shell.
    private static func quoted(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    // MARK: Publishing

    /// Publishes each release as a snapshot, one process a zone, and keeps killing the follower meanwhile.
    private func publish(_ follower: inout DemoFollower) throws(CommandFailure) {
        for release in releases {
            var results: [String] = []
            for (zone, type) in Self.zones {
                let process = try processes.start([
                    "-D", authority, "import", zone, release, "--key", "name", "--type-field", "type",
                    "--types",
                    Self.types, "--where", "type=\(type)", "--snapshot",
                ])
                while true {
                    if let ended = try processes.ended(process) {
                        guard ended.status == 0 else { throw DemoProcesses.failure(ended) }
                        let counts =
                            String(decoding: ended.output, as: UTF8.self).split(separator: "\n").first ?? ""
                        results.append("\(zone): \(counts)")
                        break
                    }
                    try follower.tick()
                    pause(milliseconds: 1)
                }
            }
            let name = release.split(separator: "/").last.map { $0.split(separator: ".")[0] } ?? ""
            let first = results[0] + String(repeating: " ", count: max(1, 62 - results[0].utf8.count))
            try say("\(name)   \(first)\(results[1])")
        }
        while follower.headsAfterKills.count < Self.killsMin {
            try follower.tick()
            pause(milliseconds: 1)
        }
    }

    // MARK: A conflict

    private struct Conflict {
        var record: String
        var winner: String
        var client: String
        var server: String
    }

    /// Two processes save the same record, both based on the same version.
    private func provokeConflict() throws(CommandFailure) -> Conflict {
        let name = "Europe/Berlin"
        let output = try processes.run(["-D", authority, "get", "zones", name, "--json"])
        guard case .string(let tag)? = (try? JSONParser.parse(output))?.member("changeTag") else {
            throw different("record '\(name)' in zone 'zones' shows no change tag")
        }
        let editors = ["Ann", "Bob"]
        var running: [DemoProcesses.Running] = []
        for editor in editors {
            running.append(
                try processes.start([
                    "-D", authority, "put", "zones", name, "--if-tag", tag, "comment=edited by \(editor)",
                ]))
        }
        var ended: [DemoProcesses.Ended] = []
        for process in running { ended.append(try processes.wait(process)) }
        guard let winner = ended.firstIndex(where: { $0.status == 0 }),
            let loser = ended.firstIndex(where: { $0.status == 1 })
        else { throw DemoProcesses.failure(ended[0].status == 0 ? ended[1] : ended[0]) }
        let versions = try? JSONParser.parse(ended[loser].output)
        func comment(_ side: String) -> String? {
            guard case .string(let text)? = versions?.member(side)?.member("fields")?.member("comment") else {
                return nil
            }
            return text
        }
        guard let client = comment("client"), let server = comment("server"), client.contains(editors[loser]),
            server.contains(editors[winner])
        else { throw different("the conflict of record '\(name)' does not show both versions") }
        return Conflict(record: name, winner: editors[winner], client: client, server: server)
    }

    private func different(_ text: String) -> CommandFailure {
        CommandFailure(.damage, text, next: "the directory \(directory) was kept")
    }

    // MARK: Comparing

    /// The authority must hold exactly what the last release says.
    private func compareWithLastRelease() async throws(CommandFailure) {
        guard let last = releases.last else { return }
        for (zone, type) in Self.zones {
            let lines = ImportLines(
                zone: zone, key: "name", typeField: "type", kinds: try KindTable(option: Self.types),
                conditions: [("type", type)], merges: false)
            var wanted: [String] = []
            try await lines.read(try InputReader(last)) { wish throws(CommandFailure) in
                guard case .save(let type, let fields, _) = wish.action else { return }
                var record = Record(
                    recordType: type ?? "",
                    recordID: Record.ID(recordName: wish.name, zoneID: RecordZone.ID(zoneName: zone)))
                for field in fields { record[field.field] = field.value }
                wanted.append(JSONWriter.text(RecordLine.json(record)))
            }
            var found: [String] = []
            for record in try await Self.records(authority, zone) {
                var plain = Record(recordType: record.recordType, recordID: record.recordID)
                for key in record.allKeys() { plain[key] = record[key] }
                found.append(JSONWriter.text(RecordLine.json(plain)))
            }
            guard wanted.count == found.count, zip(wanted, found).allSatisfy({ sameBytes($0, $1) }) else {
                throw different("zone '\(zone)' does not equal the last release")
            }
        }
    }

    /// The follower must hold the authority's records, tags included.
    private func compareCopies() async throws(CommandFailure) -> Int {
        var count = 0
        for (zone, _) in Self.zones {
            let ours = try await Self.records(authority, zone)
            let theirs = try await Self.records(copy, zone)
            guard ours.count == theirs.count else {
                throw different("zone '\(zone)' has \(ours.count) records, its copy \(theirs.count)")
            }
            for (own, other) in zip(ours, theirs) {
                let same = sameBytes(
                    JSONWriter.text(RecordLine.json(own)), JSONWriter.text(RecordLine.json(other)))
                guard same else {
                    throw different(
                        "record '\(shown(own.recordID.recordName))' in zone '\(zone)' differs in the copy")
                }
            }
            count += ours.count
        }
        return count
    }

    private static func records(_ path: String, _ zone: String) async throws(CommandFailure) -> [Record] {
        try await database { () throws(SyncError) in
            let opened = try JournalDatabase.open(at: path, mode: .readOnly)
            defer { opened.close() }
            return try await opened.allRecords(inZoneWith: RecordZone.ID(zoneName: zone))
        }
    }

    private static func head(_ path: String) throws(CommandFailure) -> UInt64 {
        try SynclogCLI.journal { () throws(JournalError) in
            let opened = try Journal.open(at: path, mode: .readOnly)
            defer { opened.close() }
            return try opened.head().commit
        }
    }

    // MARK: What happened

    private func report(
        kills: [UInt64], head: UInt64, conflict: Conflict, compared: Int, milliseconds: Int
    ) throws(CommandFailure) {
        let facts = try SynclogCLI.journal { () throws(JournalError) in
            let opened = try Journal.open(at: authority, mode: .readOnly)
            defer { opened.close() }
            _ = try opened.head()
            var saves = 0
            var deletions = 0
            var commits = 0
            var reader = try opened.read()
            while let commit = try reader.next() {
                commits += 1
                for entry in commit.entries where entry.key.space == .record {
                    if entry.operation == .put { saves += 1 }
                    if entry.operation == .delete { deletions += 1 }
                }
            }
            return (try opened.statistics(), saves, deletions, commits)
        }
        let (numbers, saves, deletions, commits) = facts
        let between = kills.filter { $0 > 0 && $0 < head }.count
        let ratio = Double(numbers.rawBytes) / Double(max(1, numbers.storedBytes))
        let tenths = Int((ratio * 10).rounded())
        try console.line("")
        try console.line("commits    \(commits) (head \(head)), \(saves) records saved, \(deletions) deleted")
        try console.line(
            "follower   killed \(kills.count) times, \(between) of them between start and end; heads then:")
        for line in HelpText.wrap(kills.map(String.init).joined(separator: " "), to: 69) {
            try console.line("           \(line)")
        }
        try console.line("conflict   1: \(conflict.record), \(conflict.winner) saved first;")
        try console.line("           the other was shown \"\(conflict.client)\" and \"\(conflict.server)\"")
        try console.line("verified   both journals; \(compared) records are the same on both sides")
        try console.line(
            "bytes      \(numbers.rawBytes) raw, \(numbers.storedBytes) on disk in \(numbers.segments) files"
                + " (\(tenths / 10).\(tenths % 10) : 1)")
        try console.line("time       \(milliseconds / 1000).\(padded(milliseconds % 1000 / 100, 1)) s")
        try console.line("")
        try console.line("Look inside:")
        try console.line("  synclog -D \(authority) dump -n 20")
        try console.line("  synclog -D \(authority) dump -u zones -o json | grep '\"OP\":\"delete\"'")
        try console.line("  synclog -D \(copy) get zones \(conflict.record)")
        try console.line("  lz4 -dc \(copy)/*.lz4 | head -c 300")
        try console.line("Remove it: rm -r \(directory)")
    }
}
