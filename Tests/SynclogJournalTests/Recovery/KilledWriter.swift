import Glibc
import SynclogJournal
import SynclogTestKit
import TestSupport

/// What a process does until it is killed: numbered commits, each known by its number and the round it was made in.
///
/// It tells what it begins and what is acknowledged in a file beside the journal, by plain writes that outlive it.
struct KilledWriter {
    /// The directory with the journal and the file.
    let directory: String
    let seed: UInt64
    let round: Int

    /// The key that every commit writes its number to.
    static let counter = EntryKey(space: .state, name: Array("counter".utf8))
    /// All keys of records.
    static let keys = (0..<15).map { recordKey("name-\($0)", zone: UInt64($0 % 3 + 1)) }
    private static let operationsMax = 400

    /// The entries of a commit.
    static func entries(of number: Int, round: Int) -> [PlannedEntry] {
        var generator = SeededGenerator(seed: UInt64(number))
        var writer = CBORWriter()
        writer.unsigned(UInt64(number))
        var entries = [PlannedEntry(.put, counter, value: writer.bytes)]
        let first = Int.random(in: 0..<keys.count, using: &generator)
        for place in 0..<Int.random(in: 1...4, using: &generator) {
            let key = keys[(first + place) % keys.count]
            let size = Int.random(in: 0..<700, using: &generator)
            let text = "\(number) in round \(round) " + hexadecimalNoise(size, &generator)
            let deletes = Int.random(in: 0..<6, using: &generator) == 0
            entries.append(
                deletes
                    ? PlannedEntry(.delete, key, value: [0x80])
                    : PlannedEntry(.put, key, value: textValue(text)))
        }
        return entries
    }

    private static func hexadecimalNoise(_ count: Int, _ generator: inout SeededGenerator) -> String {
        String(decoding: generator.bytes(count).map { 0x61 + $0 % 16 }, as: UTF8.self)
    }

    /// Small segments and blocks, so that a few commits roll.
    static func options(_ files: any FileSystem) -> JournalOptions {
        var options = JournalOptions()
        options.segmentSize = 16 * 1024
        options.blockSize = 1024
        options.checkpointInterval = 16 * 1024
        options.fileSystem = files
        return options
    }

    /// Does it; an error becomes the name of a file, for the other process sees nothing but the end of this one.
    func runTellingErrors() throws -> Never {
        do { try run() } catch {
            let text = "\(error)".map { $0 == "/" ? "|" : $0 }
            _ = try PosixFileSystem.shared.open(
                directory + "/failed: \(getpid()) " + String(text.prefix(200)), .createNew)
            throw error
        }
    }

    /// Commits, merges and opens again until the process is killed.
    private func run() throws -> Never {
        var generator = SeededGenerator(seed: seed)
        let calls = Int.random(in: 0..<3, using: &generator) == 0 ? 60 : 600
        let moments = KillingFileSystem.Moment.allCases
        let files = KillingFileSystem(
            calls: Int.random(in: 1...calls, using: &generator),
            moments[Int.random(in: 0..<moments.count, using: &generator)])
        let mode: JournalMode = Bool.random(using: &generator) ? .shared : .exclusive
        let said = try SaidFile(directory, writing: true)
        func open() throws(JournalError) -> Journal {
            try Journal.open(at: directory + "/j", mode: mode, options: Self.options(files))
        }
        var journal = try open()
        var number = try countedTo(journal)
        for _ in 0..<Self.operationsMax {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: try compact(journal, everything: Bool.random(using: &generator))
            case 1:
                journal.close()
                journal = try open()
            case 2, 3:
                let last = number + Int.random(in: 2...5, using: &generator)
                try together(journal, number + 1...last, said)
                number = last
            case 4...5 where mode == .exclusive:
                for _ in 0..<3 {
                    number += 1
                    said.write(.began, number)
                    _ = try journal.commitRelaxed(decision(number))
                }
                try journal.sync()
                said.write(.acknowledged, number)
            default:
                number += 1
                said.write(.began, number)
                try journal.apply(Self.entries(of: number, round: round))
                said.write(.acknowledged, number)
            }
        }
        killThisProcess()
    }

    /// Merges, if the journal does not just do it by itself.
    private func compact(_ journal: Journal, everything: Bool) throws(JournalError) {
        do throws(JournalError) { _ = try journal.compact(everything: everything) } catch {
            guard case .busy(pid: nil) = error else { throw error }
        }
    }

    private func together(_ journal: Journal, _ numbers: ClosedRange<Int>, _ said: SaidFile) throws {
        said.write(.began, numbers.upperBound)
        let outcomes = journal.commitTogether(numbers.map(decision))
        for (number, outcome) in zip(numbers, outcomes) {
            _ = try outcome.get()
            said.write(.acknowledged, number)
        }
    }

    private func decision(
        _ number: Int
    ) -> @Sendable (inout CommitTransaction) throws(JournalError) -> Void {
        let planned = Self.entries(of: number, round: round)
        return { (transaction: inout CommitTransaction) throws(JournalError) in
            try Self.add(planned, to: &transaction)
        }
    }

    private static func add(
        _ planned: [PlannedEntry], to transaction: inout CommitTransaction
    ) throws(JournalError) {
        for plan in planned {
            if plan.operation == .delete {
                try transaction.delete(plan.key, value: plan.value)
            } else {
                try transaction.put(plan.key, value: plan.value)
            }
        }
    }
}

/// The number of the last commit that a journal holds.
func countedTo(_ journal: Journal) throws -> Int {
    guard let entry = try journal.entry(for: KilledWriter.counter)?.entry else { return 0 }
    var reader = CBORReader(entry.value)
    return Int(try reader.unsigned())
}

/// A file in which a process tells what it does, a byte for the word and eight for the number.
final class SaidFile {
    enum Word: UInt8 {
        case began = 1
        case acknowledged = 2
    }

    private let descriptor: Int32

    init(_ directory: String, writing: Bool) throws {
        let flags = writing ? O_WRONLY | O_CREAT | O_APPEND : O_RDONLY
        descriptor = Glibc.open(directory + "/said", flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(call: "open", path: directory, code: errno) }
    }

    deinit { close(descriptor) }

    func write(_ word: Word, _ number: Int) {
        let bytes = [word.rawValue] + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// The highest number of each word; 0 without one.
    func last() -> (began: Int, acknowledged: Int) {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = max(0, read(descriptor, &bytes, bytes.count))
        var last = (began: 0, acknowledged: 0)
        for place in stride(from: 0, to: count - 8, by: 9) {
            let number = (0..<8).reduce(0) { $0 | Int(bytes[place + 1 + $1]) << ($1 * 8) }
            switch Word(rawValue: bytes[place]) {
            case .began: last.began = max(last.began, number)
            case .acknowledged: last.acknowledged = max(last.acknowledged, number)
            case nil: break
            }
        }
        return last
    }
}
