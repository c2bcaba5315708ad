import TestSupport
import Testing

@testable import SynclogJournal

/// Fields that are wrong or of a newer version under checksums that are right.
@Suite struct RightChecksumTests {
    /// Sets a compatible flag that no version knows yet in the header of a segment.
    private func setFlag(of path: String, in system: MemoryFileSystem) throws {
        var bytes = try #require(system.contents(path))
        bytes[3860] = 2
        bytes.setWord32(bytes.crc(3840..<4092), at: 4092)
        try system.setContents(path, bytes)
    }

    private func journal(in system: MemoryFileSystem) throws -> JournalModel {
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 101)
        try fill(journal, &model, &workload, count: 180)
        journal.close()
        return model
    }

    private func expect(_ model: JournalModel, in journal: Journal) throws {
        #expect(try journal.verify().isSound)
        for key in model.keys {
            #expect(try journal.entry(for: key)?.position == model.entry(for: key)?.position)
        }
    }

    @Test func `a journal whose last segment a newer version marked is read and not written`() throws {
        let system = MemoryFileSystem()
        let model = try journal(in: system)
        let path = try #require(system.segments(of: "/j").last)
        try setFlag(of: path, in: system)
        let before = system.image(of: "/j")
        let refusal = JournalError.unsupported(path: path, feature: "compatible flags 2")
        #expect(throws: refusal) { try Journal.open(at: "/j", options: .test(system, seed: 102)) }
        #expect(system.image(of: "/j") == before)
        try expect(model, in: Journal.open(at: "/j", mode: .readOnly, options: .test(system, seed: 103)))
    }

    @Test
    func
        `a sealed segment that a newer version marked is read, left alone by tiers and refused by a whole merge`()
        throws
    {
        let system = MemoryFileSystem()
        var model = try journal(in: system)
        let path = try #require(system.segments(of: "/j").first)
        try setFlag(of: path, in: system)
        let marked = system.contents(path)
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 104))
        let refusal = JournalError.unsupported(path: path, feature: "compatible flags 2")
        #expect(throws: refusal) { try journal.compact(everything: true) }
        #expect(throws: refusal) { try journal.compact(dryRun: true) }
        var workload = Workload(seed: 105)
        let count = system.segments(of: "/j").count
        try fill(journal, &model, &workload, count: 600)
        _ = try journal.compact()
        #expect(system.segments(of: "/j").count < 4 * count)
        let isUntouched = system.contents(path) == marked
        #expect(isUntouched)
        try expect(model, in: journal)
    }

    /// A merge with the number 65,536 had a name with a digit more, which nobody took for a segment: its inputs were removed.
    @Test func `a segment that was merged many thousand times keeps its records at the next merge`() throws {
        let system = MemoryFileSystem()
        let model = try journal(in: system)
        try setGeneration(0xffff, of: try #require(system.segments(of: "/j").first), in: system)
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 106))
        for _ in 0..<2 { _ = try journal.compact(everything: true) }
        try expect(model, in: journal)
        try expect(model, in: Journal.open(at: "/j", mode: .readOnly, options: .test(system, seed: 107)))
    }

    @Test func `a segment with the highest generation is read and refused by a merge`() throws {
        let system = MemoryFileSystem()
        let model = try journal(in: system)
        let path = try setGeneration(.max, of: try #require(system.segments(of: "/j").first), in: system)
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 108))
        let refusal = JournalError.unsupported(path: path, feature: "generation 4294967296")
        #expect(throws: refusal) { try journal.compact(everything: true) }
        try expect(model, in: journal)
    }

    /// Found by the fuzzer: behind an old HEAD `verify` did not look at whether the blocks end where HEAD says, and readers did.
    @Test(arguments: [true, false])
    func `what readers stumble over in HEAD is told by verify`(isOld: Bool) throws {
        let system = MemoryFileSystem()
        _ = try journal(in: system)
        var head = try #require(system.contents("/j/HEAD"))
        if isOld {
            let writer = try Journal.open(at: "/j", options: .test(system, seed: 110))
            for number in 0..<4 { try writer.apply([put("late-\(number)", "x")]) }
            writer.close()
            #expect(system.contents("/j/HEAD") != head)
        }
        let newest = head.word64(at: 8) > head.word64(at: 520) ? 0 : 512
        head.replaceSubrange((512 - newest)..<(1024 - newest), with: [UInt8](repeating: 0, count: 512))
        var told = 0
        for offset in stride(from: newest + 8, to: newest + 128, by: 4) {
            let value = head.word32(at: offset)
            for other in [0, 1, value &+ 1, value &- 1, value &+ 57, .max] where other != value {
                var changed = head
                changed.setWord32(other, at: offset)
                changed.setWord32(changed.crc(newest..<newest + 508), at: newest + 508)
                let damaged = system.copy()
                try damaged.setContents("/j/HEAD", changed)
                let report = try? Journal.verify(at: "/j", options: .test(damaged))
                guard let report, report.isSound else {
                    told += 1
                    continue
                }
                let place = "offset \(offset - newest), value \(other)"
                do {
                    let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(damaged))
                    let isSame = try reader.commits() == reader.commitsBackward().reversed()
                    #expect(isSame, "\(place)")
                    try Journal.open(at: "/j", options: .test(damaged)).apply([put("after", "x")])
                } catch {
                    Issue.record("\(place): \(error)")
                }
            }
        }
        #expect(told > 20)
    }

    /// Found by the fuzzer: a header that begins its segment below the end of the sealed one before, which also names another
    /// generation of that, was called sound, and look-ups found what reading left out.
    @Test(arguments: [true, false], [true, false])
    func `what a segment's header tells wrongly is told by verify, or changes no answer`(
        keepsHead: Bool, namesPredecessor: Bool
    ) throws {
        let system = MemoryFileSystem()
        let model = try journal(in: system)
        let paths = system.segments(of: "/j")
        var told = 0
        for path in [paths[paths.count / 2], paths[paths.count - 1]] {
            let bytes = try #require(system.contents(path))
            // The flags at 3860, which make it one of a newer version, have tests of their own.
            for offset in stride(from: 3848, to: 3992, by: 4) where offset != 3860 {
                let value = bytes.word32(at: offset)
                for other in [0, value &- 1, value &+ 57, .max] where other != value {
                    var changed = bytes
                    if !namesPredecessor { changed.setWord32(7, at: 3924) }
                    changed.setWord32(other, at: offset)
                    changed.setWord32(changed.crc(3840..<4092), at: 4092)
                    let damaged = system.copy()
                    try damaged.setContents(path, changed)
                    if !keepsHead { try damaged.remove("/j/HEAD") }
                    let report = try? Journal.verify(at: "/j", options: .test(damaged))
                    guard let report, report.isSound else {
                        told += 1
                        continue
                    }
                    let place = "segment \(paths.firstIndex(of: path) ?? 0), offset \(offset), value \(other)"
                    let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(damaged))
                    let isSame = try model.keys.allSatisfy {
                        try reader.entry(for: $0)?.position == model.entry(for: $0)?.position
                    }
                    let isWhole = try reader.commits() == model.commits
                    #expect(isSame && isWhole, "\(place)")
                    let writer = try Journal.open(at: "/j", options: .test(damaged, seed: 109))
                    let number = try writer.apply([put("after", "x")]).info.number
                    #expect(number == model.commits.count + 1, "\(place)")
                }
            }
        }
        #expect(told > 40)
    }

    /// Gives a segment another generation, in its header and in its name.
    /// - Returns: Its new path.
    @discardableResult
    private func setGeneration(
        _ generation: UInt32, of path: String, in system: MemoryFileSystem
    ) throws -> String {
        var bytes = try #require(system.contents(path))
        bytes.setWord32(generation, at: 3896)
        bytes.setWord32(bytes.crc(3840..<4092), at: 4092)
        try system.setContents(path, bytes)
        let renamed = "/j/" + SegmentName(number: 1, generation: generation).text
        try system.rename(path, to: renamed, replacing: false)
        return renamed
    }

    /// Found by the fuzzer: `verify` trapped at a footer with more entries than a signed number can count.
    @Test func `a footer that is wrong under a right checksum is told, and takes no reader down`() throws {
        let system = MemoryFileSystem()
        _ = try journal(in: system)
        let path = try #require(system.segments(of: "/j").first)
        let bytes = try #require(system.contents(path))
        let footer = bytes.count - SegmentFooter.size
        let salt = bytes.word64(at: 3960)
        for offset in stride(from: footer + 8, to: footer + 156, by: 4) {
            for value in [UInt32.max, 0x8000_0000, 0] where bytes.word32(at: offset) != value {
                let damaged = system.copy()
                var changed = bytes
                changed.setWord32(value, at: offset)
                changed.setWord32(
                    changed.placedCRC(footer..<bytes.count - 4, salt: salt, offset: UInt64(footer)),
                    at: bytes.count - 4)
                try damaged.setContents(path, changed)
                let report = try Journal.verify(at: "/j", options: .test(damaged))
                #expect(!report.isSound, "offset \(offset - footer), value \(value)")
                let journal = try? Journal.open(at: "/j", mode: .readOnly, options: .test(damaged))
                _ = try? journal?.statistics()
                _ = try? journal?.commits()
                _ = try? journal?.commitsBackward()
            }
        }
    }
}
