import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// Every byte of every segment file, flipped one at a time: reported with file and offset, or provably padding.
///
/// All bytes with `SYNCLOG_EVERY_BYTE=1 swift test -c release -Xswiftc -enable-testing`, some eight minutes on two cores; else a part.
@Suite(.long) struct DamageTests {
    /// About 100 KB of journal, sealed segments and an active one, and what must be read from it.
    struct Sample: Sendable {
        let system: MemoryFileSystem
        let model: JournalModel
        let segments: [String]

        static let shared = Sample()

        init() {
            let system = MemoryFileSystem()
            var model = JournalModel()
            var workload = Workload(seed: 2, names: 60, entriesMax: 8, valueSizeMax: 300)
            do {
                let journal = try Journal.create(at: "/j", options: .test(system))
                while system.segments(of: "/j").count < 6 {
                    model.commits.append(try journal.apply(workload.next()))
                }
                for _ in 0..<6 { model.commits.append(try journal.apply(workload.next())) }
                journal.close()
            } catch {
                preconditionFailure("the sample could not be made: \(error)")
            }
            self.system = system
            self.model = model
            segments = system.segments(of: "/j")
            frameHeads = Dictionary(
                uniqueKeysWithValues: segments.map { path in
                    let frames = JournalFiles.frames(system.contents(path) ?? [])
                    return (path, frames.map { $0.offset..<$0.offset + 8 })
                })
        }

        /// The first eight bytes of all frames, by path.
        let frameHeads: [String: [Range<Int>]]

        /// Where a flip may go unnoticed: the content of filler frames and what lies above the durable end.
        func padding(_ segment: String) -> [Range<Int>] {
            guard let bytes = system.contents(segment) else { return [] }
            return JournalFiles.frames(bytes).filter { $0.kind == 0x5F }.map {
                $0.offset + 8..<$0.offset + $0.size
            }
        }
    }

    @Test(arguments: Sample.shared.segments.indices)
    func `a flipped byte is reported or is padding`(segment: Int) throws {
        let sample = Sample.shared
        let path = sample.segments[segment]
        let bytes = try #require(sample.system.contents(path))
        let padding = sample.padding(path)
        var silent = 0
        for offset in stride(from: segment, to: bytes.count, by: everyByte ? 1 : 101) {
            for mask in offset % 5 == 0 ? [0xFF, 0x01, 0x80] : [0xFF] as [UInt8] {
                let system = sample.system.copy()
                try system.flip(path, at: offset, with: mask)
                let finding = inspect(system, sample, offset: offset, path: path)
                switch finding {
                case .reported: break
                case .silent:
                    silent += 1
                    #expect(
                        padding.contains { $0.contains(offset) },
                        "nothing reported for byte \(offset) of \(path), mask \(mask)")
                case .wrong(let what):
                    Issue.record("byte \(offset) of \(path), mask \(mask): \(what)")
                }
            }
        }
        let paddingSize = padding.reduce(0) { $0 + $1.count }
        #expect(silent <= 2 * paddingSize)
    }

    enum Finding {
        case reported
        case silent
        case wrong(String)
    }

    /// Opens, reads, looks up and verifies; wrong is a missing or other entry that nobody reported.
    private func inspect(_ system: MemoryFileSystem, _ sample: Sample, offset: Int, path: String) -> Finding {
        let journal: Journal
        do {
            journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        } catch {
            return names(error, path, offset) ? .reported : .wrong("open: \(error)")
        }
        defer { journal.close() }
        var damages: [Damage] = []
        do {
            let found = try journal.commits { damages.append($0) }
            let expected = Dictionary(uniqueKeysWithValues: sample.model.commits.map { ($0.info.number, $0) })
            for commit in found {
                guard let original = expected[commit.info.number], commit.info == original.info,
                    Set(commit.entries).isSubset(of: Set(original.entries))
                else { return .wrong("reading gave a commit that was never made") }
            }
            if damages.isEmpty, found != sample.model.commits {
                return .wrong("reading lost entries in silence")
            }
        } catch {
            if !names(error, path, offset) { return .wrong("read: \(error)") }
            damages.append(Damage(file: path, offset: UInt64(offset), reason: "thrown"))
        }
        for key in sample.model.keys.shuffled().prefix(3) {
            do {
                if try journal.entry(for: key) != sample.model.entry(for: key) {
                    return .wrong("look-up of a key")
                }
            } catch {
                if !names(error, path, offset) { return .wrong("look-up: \(error)") }
            }
        }
        do {
            let report = try journal.verify()
            if let lost = report.lost, !names(lost, path, offset) { return .wrong("verify: \(lost)") }
            damages = report.damages
            for damage in damages where !fits(damage, path, offset) { return .wrong("verify: \(damage)") }
            return damages.isEmpty && report.lost == nil ? .silent : .reported
        } catch {
            return names(error, path, offset) ? .reported : .wrong("verify: \(error)")
        }
    }

    /// Whether an error names the file and a place at or before the flipped byte, near it.
    private func names(_ error: JournalError, _ path: String, _ offset: Int) -> Bool {
        switch error {
        case .corrupted(let damage): fits(damage, path, offset)
        case .lostData(let acknowledged, let found): found.file == path || acknowledged.file == path
        case .unsupported(let file, _): file == path
        default: false
        }
    }

    private func fits(_ damage: Damage, _ path: String, _ offset: Int) -> Bool {
        // A wrong magic or size at the head of a frame may show only where the next one should be.
        let heads = Sample.shared.frameHeads[path] ?? []
        if damage.file == path, heads.contains(where: { $0.contains(offset) }) { return true }
        // An index is named by its first page, eight bytes behind the beginning of its frame.
        return damage.file == path && damage.offset <= UInt64(offset) + 8
            && UInt64(offset) < damage.offset + 20_000
    }

    @Test func `a writer on a damaged journal loses and removes nothing`() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<(everyByte ? 3000 : 150) {
            let path = Sample.shared.segments.randomElement(using: &generator)!
            let size = Sample.shared.system.contents(path)!.count
            try writeOnDamage(path, at: Int.random(in: 0..<size, using: &generator))
        }
    }

    private func writeOnDamage(_ path: String, at offset: Int) throws {
        let sample = Sample.shared
        let system = sample.system.copy()
        try system.flip(path, at: offset)
        do {
            let journal = try Journal.open(at: "/j", options: .test(system, seed: 9))
            let extra = try journal.apply([put("after", "x")])
            var damages: [Damage] = []
            let found = try journal.commits { damages.append($0) }
            if damages.isEmpty {
                #expect(found == sample.model.commits + [extra], "byte \(offset) of \(path)")
            }
            journal.close()
        } catch {
            #expect(names(error, path, offset), "byte \(offset) of \(path): \(error)")
        }
        let files = system.segments(of: "/j")
        #expect(Set(files).isSuperset(of: sample.segments), "byte \(offset) of \(path)")
        for file in sample.segments.dropLast() where file != path {
            #expect(system.contents(file) == sample.system.contents(file))
        }
    }

    @Test
    func `without HEAD, damage that later blocks prove to be in acknowledged commits is told all the same`()
        throws
    {
        let sample = Sample.shared
        let path = sample.segments.last!
        let blocks = JournalFiles.frames(try #require(sample.system.contents(path))).filter {
            $0.kind == 0x50
        }
        try #require(blocks.count > 2)
        for block in blocks.dropLast(2) {
            for offset in [block.offset, block.offset + 20, block.offset + 70, block.offset + block.size - 1]
            {
                let system = sample.system.copy()
                try system.remove("/j/HEAD")
                try system.flip(path, at: offset)
                let finding = inspect(system, sample, offset: offset, path: path)
                if case .reported = finding {} else { Issue.record("byte \(offset): \(finding)") }
                let before = system.image(of: "/j")
                let error = #expect(throws: JournalError.self) {
                    try Journal.open(at: "/j", options: .test(system, seed: 5)).apply([put("a", "b")])
                }
                if let error { #expect(names(error, path, offset), "byte \(offset): \(error)") }
                #expect(Set(system.image(of: "/j").keys).isSuperset(of: before.keys))
            }
        }
    }

    /// Found by the fuzzer: without HEAD the last but one segment may wait for its seal, but not one that compaction made.
    @Test func `without HEAD, a damaged index of a merged segment is told all the same`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 31)
        try fill(journal, &model, &workload, count: 120)
        _ = try journal.compact(everything: true)
        try journal.apply([put("after", "x")])
        journal.close()
        try system.remove("/j/HEAD")
        #expect(try Journal.verify(at: "/j", options: .test(system)).isSound)
        let segments = system.segments(of: "/j")
        try #require(segments.count == 2)
        let bytes = try #require(system.contents(segments[0]))
        let index = try #require(JournalFiles.frames(bytes).first { $0.kind == 0x51 })
        for offset in index.offset..<index.offset + 8 {
            let changed = system.copy()
            try changed.flip(segments[0], at: offset)
            let report = try Journal.verify(at: "/j", options: .test(changed))
            #expect(!report.isSound, "offset \(offset)")
        }
    }

    /// Found by the fuzzer: an index row whose checksum is right may still name a block that ends before it begins.
    @Test(arguments: [[0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0]] as [[UInt8]])
    func `an index that is wrong under a right checksum is told, and takes no reader down`(_ value: [UInt8])
        throws
    {
        let sample = Sample.shared
        let path = sample.segments[1]
        let bytes = try #require(sample.system.contents(path))
        let index = try #require(JournalFiles.frames(bytes).first { $0.kind == 0x51 })
        let page = index.offset + 8
        let place = (0..<8).map { UInt8(truncatingIfNeeded: page >> (8 * $0)) }
        let salt = Array(bytes[3960..<3968])
        let keys = sample.model.keys.sorted { $0.name.lexicographicallyPrecedes($1.name) }.prefix(5)
        // The root, and the rows of the first two blocks.
        for offset in stride(from: page, to: page + 192, by: 4)
        where Array(bytes[offset..<offset + 4]) != value {
            let system = sample.system.copy()
            var changed = bytes
            changed.replaceSubrange(offset..<offset + 4, with: value)
            let sum = crc32c(Array(changed[page..<page + 4092]), seed: crc32c(salt + place))
            for byte in 0..<4 {
                changed[page + 4092 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte)))
            }
            try system.setContents(path, changed)
            let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
            #expect(try !journal.verify().isSound, "offset \(offset - page)")
            // Each gives what it finds or a typed error.
            _ = try? journal.statistics()
            _ = try? journal.commits()
            _ = try? journal.commitsBackward()
            for key in keys { _ = try? journal.entry(for: key) }
        }
    }

    /// Found by the fuzzer: recovery sealed a segment anew whose header has another number than its file, and a merge trapped.
    @Test func `recovery does not seal a segment whose header belongs to another file`() throws {
        let system = Sample.shared.system.copy()
        let path = Sample.shared.segments[Sample.shared.segments.count - 2]
        var bytes = try #require(system.contents(path))
        let index = try #require(JournalFiles.frames(bytes).last { $0.kind == 0x51 })
        bytes[index.offset + 100] ^= 1
        bytes[3888] = 0x70
        let sum = crc32c(Array(bytes[3840..<4092]))
        for byte in 0..<4 { bytes[4092 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))) }
        try system.setContents(path, bytes)
        try system.remove("/j/HEAD")
        #expect(throws: JournalError.self) { try Journal.open(at: "/j", options: .test(system)) }
        #expect(system.contents(path) == bytes)
    }

    /// Found by the fuzzer: readers stopped with an error at what `verify` took for a tail that was never acknowledged.
    @Test func `damage behind an old HEAD that later blocks prove to be acknowledged is told by verify`()
        throws
    {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        try journal.apply([put("a", "x")])
        let head = try #require(system.contents("/j/HEAD"))
        for name in ["b", "c", "d"] { try journal.apply([put(name, "y")]) }
        let last = try journal.head().commit
        journal.close()
        try system.setContents("/j/HEAD", head)
        let path = try #require(system.segments(of: "/j").last)
        let whole = try Journal.verify(at: "/j", options: .test(system))
        #expect(whole.isSound)
        // The last one is proven by nothing.
        #expect(whole.segments.last?.commits?.upperBound == last - 1)
        let blocks = JournalFiles.frames(try #require(system.contents(path))).filter { $0.kind == 0x50 }
        for (place, block) in blocks.suffix(3).enumerated() {
            let damaged = system.copy()
            try damaged.flip(path, at: block.offset + 70)
            let isProven = place < 2
            let report = try Journal.verify(at: "/j", options: .test(damaged))
            #expect(report.damages.map(\.offset) == (isProven ? [UInt64(block.offset)] : []))
            let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(damaged))
            let isRead = (try? reader.commits()) != nil
            #expect(isRead != isProven)
        }
    }

    /// A number that nobody can count on from is not believed, whatever its checksum.
    @Test func `a header behind the end that names the highest number does not stop a writer`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        try journal.apply([put("a", "x")])
        journal.close()
        let path = try #require(system.segments(of: "/j").last)
        let end = try #require(system.head(of: "/j")).end
        var bytes = Array(try #require(system.contents(path))[..<end])
        let block = try #require(JournalFiles.frames(bytes).last { $0.kind == 0x50 })
        var header = Array(bytes[block.offset..<block.offset + 64])
        for place in 24..<32 { header[place] = 0xFF }
        let place = (0..<8).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) }
        let sum = crc32c(Array(header[..<60]), seed: crc32c(Array(bytes[3960..<3968]) + place))
        for byte in 0..<4 { header[60 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))) }
        bytes += header + [1, 2, 3]
        try system.setContents(path, bytes)
        let again = try Journal.open(at: "/j", options: .test(system, seed: 2))
        let made = try again.apply([put("b", "y")])
        #expect(made.info.number < 10)
        #expect(try again.verify().isSound)
    }

    @Test func `a header with huge sizes takes no memory and is refused`() throws {
        let sample = Sample.shared
        let path = sample.segments.last!
        let bytes = try #require(sample.system.contents(path))
        let block = try #require(JournalFiles.frames(bytes).last { $0.kind == 0x50 })
        let salt = Array(bytes[3960..<3968])
        for field in [8, 12, 16, 24, 32] {
            for value in [UInt8(0xFF), 0x7F, 0x80] {
                let system = sample.system.copy()
                var changed = bytes
                for place in 0..<4 { changed[block.offset + field + place] = value }
                // The checksum is made right again: only the limits stand in the way now.
                let place = (0..<8).map { UInt8(truncatingIfNeeded: block.offset >> (8 * $0)) }
                let sum = crc32c(Array(changed[block.offset..<block.offset + 60]), seed: crc32c(salt + place))
                for byte in 0..<4 {
                    changed[block.offset + 60 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte)))
                }
                try system.setContents(path, changed)
                let finding = inspect(system, sample, offset: block.offset + field, path: path)
                if case .reported = finding {
                } else {
                    Issue.record("field \(field), value \(value): \(finding)")
                }
            }
        }
    }
}
