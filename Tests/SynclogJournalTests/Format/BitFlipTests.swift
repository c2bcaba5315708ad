import SynclogJournal
import TestSupport
import Testing

/// Every bit of every header, footer and index page, and every byte of payload, of a journal of 200 KB with merged, sealed and
/// live segments, flipped one at a time: told with the file, or provably without effect.
///
/// All of them with `SYNCLOG_EVERY_BYTE=1 swift test -c release -Xswiftc -enable-testing`; else a part from a seed.
@Suite struct BitFlipTests {
    /// What a place in a file is for.
    enum Part: Hashable, CaseIterable {
        case head, blockHeader, payload, index, footer, filler, headFile
    }

    /// A flip: a bit of a byte of a file.
    struct Flip: CustomStringConvertible {
        var path: String
        var offset: Int
        var mask: UInt8
        var part: Part
        var description: String { "\(part), byte \(offset) of \(path), mask \(mask)" }
    }

    /// The journal, and what reading it gives.
    struct Sample: Sendable {
        let system = MemoryFileSystem()
        let commits: [Commit]
        let lookups: [(key: EntryKey, found: StoredEntry?)]
        let keepsNothingBack: Bool
        let mergedPath: String

        static let shared: Sample = {
            do { return try Sample() } catch { preconditionFailure("the sample could not be made: \(error)") }
        }()

        static func options(_ system: MemoryFileSystem) -> JournalOptions {
            .test(system, segmentSize: 32 << 10, blockSize: 2048)
        }

        init() throws {
            var workload = Workload(seed: 2, names: 120, entriesMax: 8, valueSizeMax: 700)
            let journal = try Journal.create(at: "/j", options: Self.options(system))
            var keys: Set<EntryKey> = []
            let files = system
            func grow(to segments: Int) throws {
                while files.segments(of: "/j").count < segments {
                    keys.formUnion(try journal.apply(workload.next()).entries.map(\.key))
                }
            }
            try grow(to: 6)
            _ = try journal.compact()
            mergedPath = system.segments(of: "/j")[0]
            try grow(to: files.segments(of: "/j").count + 2)
            for _ in 0..<14 { try journal.apply(workload.next()) }
            commits = try journal.commits()
            lookups = try keys.sorted { $0.name.lexicographicallyPrecedes($1.name) }.prefix(40).map {
                ($0, try journal.entry(for: $0))
            }
            keepsNothingBack = try journal.verify().isSound
            journal.close()
        }

        /// The parts of a file.
        func parts(of path: String) -> [(range: Range<Int>, part: Part)] {
            guard let bytes = system.contents(path) else { return [] }
            if path.hasSuffix("HEAD") { return [(0..<bytes.count, .headFile)] }
            var parts: [(Range<Int>, Part)] = [(0..<4096, .head)]
            for frame in JournalFiles.frames(bytes) {
                let end = min(frame.offset + frame.size, bytes.count)
                switch frame.kind {
                case 0x50:
                    parts.append((frame.offset..<frame.offset + 64, .blockHeader))
                    parts.append((frame.offset + 64..<end, .payload))
                case 0x51: parts.append((frame.offset..<end, .index))
                case 0x52: parts.append((frame.offset..<end, .footer))
                default:
                    parts.append((frame.offset..<frame.offset + 8, .index))
                    parts.append((frame.offset + 8..<end, .filler))
                }
            }
            return parts
        }

        /// All flips of a file: each bit, of payload one bit of each byte.
        func flips(of path: String) -> [Flip] {
            parts(of: path).flatMap { range, part in
                range.flatMap { offset -> [Flip] in
                    let bits = part == .payload || part == .filler ? [offset % 8] : Array(0..<8)
                    return bits.map { Flip(path: path, offset: offset, mask: 1 << UInt8($0), part: part) }
                }
            }
        }

        /// Two flips of each part, whatever its size.
        func someFlips(of path: String, _ generator: inout SeededGenerator) -> [Flip] {
            let parts = parts(of: path)
            return Part.allCases.flatMap { part -> [Flip] in
                let ranges = parts.filter { $0.part == part && !$0.range.isEmpty }.map(\.range)
                return (0..<2).compactMap { _ in
                    guard
                        let offset = ranges.randomElement(using: &generator)?.randomElement(using: &generator)
                    else { return nil }
                    let bit = UInt8.random(in: 0..<8, using: &generator)
                    return Flip(path: path, offset: offset, mask: 1 << bit, part: part)
                }
            }
        }
    }

    @Test func `the sample has all kinds of segments and parts`() throws {
        let sample = Sample.shared
        let segments = sample.system.segments(of: "/j")
        let sizes = segments.map { sample.system.contents($0)?.count ?? 0 }
        #expect(sizes.reduce(0, +) > 190_000)
        #expect(!sample.mergedPath.hasSuffix("-0000.lz4") && segments.contains(sample.mergedPath))
        #expect(segments.filter { $0.hasSuffix("-0000.lz4") }.count >= 3)
        let parts = segments.map { Set(sample.parts(of: $0).map(\.part)) }
        for sealed in parts.dropLast() {
            #expect(sealed.isSuperset(of: [.blockHeader, .payload, .index, .footer]))
        }
        #expect(try #require(parts.last).isSuperset(of: [.blockHeader, .payload]))
        #expect(parts.last?.contains(.footer) == false)
        for (path, size) in zip(segments, sizes) {
            let covered = sample.parts(of: path).reduce(0) { $0 + $1.range.count }
            #expect(covered == size, "\(path) has bytes that belong to no part")
        }
        #expect(sample.keepsNothingBack)
        let all = (segments + ["/j/HEAD"]).flatMap(sample.parts)
        let counts = Part.allCases.map { part in
            let bytes = all.filter { $0.part == part }.reduce(0) { $0 + $1.range.count }
            return "\(part) \(bytes * (part == .payload || part == .filler ? 1 : 8))"
        }
        print("flips: \(counts.joined(separator: ", "))")
    }

    private static let slices = 8

    @Test(arguments: 0..<slices)
    func `a flipped bit is told or changes nothing`(slice: Int) async throws {
        let sample = Sample.shared
        let files = sample.system.segments(of: "/j") + ["/j/HEAD"]
        let all = everyByte
        let (runs, silent, problems) = await onOwnThread {
            var generator = SeededGenerator(seed: 900 + UInt64(slice))
            var runs: [Part: Int] = [:]
            var silent: [Part: Int] = [:]
            var problems: [String] = []
            for file in files {
                let flips = all ? sample.flips(of: file) : sample.someFlips(of: file, &generator)
                for (place, flip) in flips.enumerated()
                where (!all || place % Self.slices == slice) && problems.count < 20 {
                    runs[flip.part, default: 0] += 1
                    switch inspect(flip, sample, place) {
                    case .told: break
                    case .silent: silent[flip.part, default: 0] += 1
                    case .wrong(let what): problems.append("\(flip): \(what)")
                    }
                }
            }
            return (runs, silent, problems)
        }
        if all { print("slice \(slice): \(runs) flips; without effect: \(silent)") }
        #expect(runs.values.reduce(0, +) > 30)
        for problem in problems { Issue.record("seed \(900 + slice): \(problem)") }
    }

    private enum Finding {
        case told
        case silent
        case wrong(String)
    }

    /// Opens, reads, looks up and verifies a copy with one bit flipped.
    private func inspect(_ flip: Flip, _ sample: Sample, _ turn: Int) -> Finding {
        let system = sample.system.copy()
        do { try system.flip(flip.path, at: flip.offset, with: flip.mask) } catch {
            return .wrong("\(error)")
        }
        var isTold = false
        var wrong: String?
        func attempt(_ what: String, _ body: () throws(JournalError) -> Void) {
            do throws(JournalError) {
                try body()
            } catch {
                if names(error, flip.path) { isTold = true } else { wrong = wrong ?? "\(what): \(error)" }
            }
        }
        var opened: Journal?
        attempt("open") { () throws(JournalError) in
            opened = try Journal.open(at: "/j", mode: .readOnly, options: Sample.options(system))
        }
        guard let journal = opened else { return wrong.map { .wrong($0) } ?? .told }
        defer { journal.close() }
        attempt("read") { () throws(JournalError) in
            var damages: [Damage] = []
            let found =
                turn % 3 == 0
                ? Array(try journal.commitsBackward().reversed())
                : try journal.commits { damages.append($0) }
            isTold = isTold || damages.contains { $0.file == flip.path }
            if found == sample.commits { return }
            // Of HEAD nothing but the proof for the last commits is lost, and that is said.
            let isPending = try journal.head().recoveryPending
            let isBehind =
                flip.part == .headFile && isPending && sample.commits.starts(with: found)
            if isBehind { isTold = true }
            if damages.isEmpty, !isBehind { wrong = "reading lost or changed entries in silence" }
            if let made = found.first(where: { !isPart($0, of: sample.commits) }) {
                wrong = "reading gave a commit that was never made: \(made.info)"
            }
        }
        for offset in 0..<3 {
            let (key, expected) = sample.lookups[(turn + offset * 13) % sample.lookups.count]
            attempt("look-up") { () throws(JournalError) in
                let found = try journal.entry(for: key)
                if found != expected, flip.part != .headFile || !isTold {
                    wrong = wrong ?? "look-up of a key"
                }
            }
        }
        attempt("verify") { () throws(JournalError) in
            let report = try journal.verify()
            if let lost = report.lost { throw lost }
            for damage in report.damages where damage.file != flip.path { wrong = "verify: \(damage)" }
            isTold = isTold || !report.damages.isEmpty
        }
        if let wrong { return .wrong(wrong) }
        if isTold { return .told }
        let mayBeSilent = flip.part == .filler || flip.part == .headFile
        return mayBeSilent ? .silent : .wrong("nobody told")
    }

    private func names(_ error: JournalError, _ path: String) -> Bool {
        switch error {
        case .corrupted(let damage): damage.file == path
        case .lostData(let acknowledged, let found): found.file == path || acknowledged.file == path
        case .unsupported(let file, _): file == path
        default: false
        }
    }

    /// Whether a commit is one of others, perhaps with entries missing.
    private func isPart(_ commit: Commit, of commits: [Commit]) -> Bool {
        guard let original = commits.first(where: { $0.info.number == commit.info.number }) else {
            return false
        }
        return commit.info == original.info && commit.entries.allSatisfy(original.entries.contains)
    }
}
