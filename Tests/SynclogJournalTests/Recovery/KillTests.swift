import Glibc
import SynclogJournal
import SynclogTestKit
import TestLanes
import TestSupport
import Testing

/// Real processes on the real file system, killed with SIGKILL at a system call that a seed chooses.
///
/// Some dozen of them, 2,000 with `SYNCLOG_EVERY_BYTE=1`.
@Suite(.long) struct KillTests {
    @Test(arguments: 1...(everyByte ? 250 : 4) as ClosedRange<UInt64>)
    func `after each kill every acknowledged commit is there and writing goes on`(seed: UInt64) async throws {
        let directory = TemporaryDirectory()
        var history = try KilledHistory(directory)
        var generator = SeededGenerator(seed: seed)
        for round in 1...8 {
            let seed = generator.next()
            await #expect(processExitsWith: .signal(SIGKILL), "seed \(seed) in round \(round)") {
                [path = directory.path as String, seed = seed as UInt64, round = round as Int] in
                try KilledWriter(directory: path, seed: seed, round: round).runTellingErrors()
            }
            let failed = try? PosixFileSystem.shared.list(directory.path).filter { $0.hasPrefix("failed") }
            #expect(failed == [], "seed \(seed) in round \(round)")
            try history.check(round: round, "seed \(seed) in round \(round)")
        }
    }
}

/// What commits of which rounds a journal must hold, checked after each kill.
private struct KilledHistory {
    private let directory: TemporaryDirectory
    /// The round in which each commit was made, beginning with the first.
    private var rounds: [Int] = []

    init(_ directory: TemporaryDirectory) throws {
        self.directory = directory
        let options = KilledWriter.options(PosixFileSystem.shared)
        try Journal.create(at: directory("j"), options: options).close()
    }

    private var model: JournalModel {
        var model = JournalModel()
        for (place, round) in rounds.enumerated() {
            let entries = KilledWriter.entries(of: place + 1, round: round).enumerated().map { index, plan in
                Entry(
                    operation: plan.operation, index: UInt32(index), key: plan.key, firstSeen: 0,
                    value: plan.value)
            }
            let info = CommitInfo(number: UInt64(place + 1), clock: 0, wall: 0, device: 0, zones: [])
            model.commits.append(Commit(info: info, entries: entries))
        }
        return model
    }

    mutating func check(round: Int, _ what: String) throws {
        let options = KilledWriter.options(PosixFileSystem.shared)
        var said = (began: 0, acknowledged: 0)
        if access(directory("said"), F_OK) == 0 {
            said = try SaidFile(directory.path, writing: false).last()
        }
        let acknowledged = max(said.acknowledged, rounds.count)
        let reader = try Journal.open(at: directory("j"), mode: .readOnly, options: options)
        let seen = try countedTo(reader)
        #expect(seen >= acknowledged && seen <= max(said.began, acknowledged), "\(what), by a reader")
        reader.close()

        let journal = try Journal.open(at: directory("j"), options: options)
        defer { journal.close() }
        let count = try countedTo(journal)
        #expect(count >= acknowledged && count <= max(said.began, acknowledged), "\(what)")
        try #require(count >= rounds.count, "\(what)")
        rounds += Array(repeating: round, count: count - rounds.count)
        try compare(journal, what)
        #expect(try journal.verify().isSound, "\(what)")

        rounds.append(-round)
        try journal.apply(KilledWriter.entries(of: rounds.count, round: -round))
        try compare(journal, "\(what), written on")
    }

    private func compare(_ journal: Journal, _ what: String) throws {
        let model = model
        for key in KilledWriter.keys {
            let expected = model.entry(for: key)?.entry
            let found = try journal.entry(for: key)?.entry
            if expected?.operation == .delete, found == nil { continue }
            #expect(
                found?.operation == expected?.operation && found?.value == expected?.value,
                "\(what): \(String(decoding: key.name, as: UTF8.self))")
        }
    }
}
