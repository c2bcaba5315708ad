import TestSupport
import Testing

@testable import SynclogJournal

/// Index checkpoints: with a group, at the end of a session, and crashes in both.
@Suite struct CheckpointTests {
    /// The story: after 150 kills a follower's copy had a segment that `verify` called damaged.
    ///
    /// The group with the checkpoint was written, but its writer was killed before HEAD. The next one copied its commits to
    /// a segment of their own and was killed too, before it closed the old one. The third closed that behind the
    /// checkpoint, which no block that counts follows. A checkpoint counts only with the block written with it.
    @Test func `a segment is closed before a checkpoint whose group was moved`() throws {
        let system = MemoryFileSystem()
        var options = JournalOptions.test(system, segmentSize: 256 * 1024)
        options.checkpointInterval = 16 * 1024
        var model = JournalModel()
        var workload = Workload(seed: 51, entriesMax: 4, valueSizeMax: 300)
        let journal = try Journal.create(at: "/j", options: options)
        var head: [UInt8] = []
        let path = try #require(system.segments(of: "/j").first)
        var checkpoint: JournalFiles.Frame?
        while checkpoint == nil {
            head = try #require(system.contents("/j/HEAD"))
            model.commits.append(try journal.apply(workload.next()))
            checkpoint = JournalFiles.frames(try #require(system.contents(path))).first { $0.kind == 0x51 }
        }
        journal.close()
        // The first kill: the group is there, HEAD does not know it.
        try system.setContents("/j/HEAD", head)
        let end = try #require(system.head(of: "/j")).end
        #expect(checkpoint?.offset == end)
        // The second: the old segment was not closed yet.
        system.setFailures(FailurePlan([FailurePlan.Rule([.truncate], pathContains: path, code: 5)]))
        #expect(throws: JournalError.self) {
            try Journal.open(at: "/j", options: .test(system, seed: 52)).commits()
        }
        system.setFailures(FailurePlan())
        #expect(system.segments(of: "/j").count == 2)

        #expect(try recovered(system) == model.commits)
        let closed = JournalFiles.frames(try #require(system.contents(path)))
        #expect(!closed.contains { $0.offset == checkpoint?.offset && $0.kind == 0x51 })
        #expect(closed.last?.kind == 0x52)
        let report = try Journal.verify(at: "/j", options: .test(system))
        #expect(report.isSound, "\(report.damages)")
        let again = try Journal.open(at: "/j", options: .test(system, seed: 53))
        model.commits.append(try again.apply(workload.next()))
        #expect(try again.commits() == model.commits)
        for key in model.keys { #expect(try again.entry(for: key) == model.entry(for: key)) }
        again.close()
    }

    /// A journal that one long session wrote, with an index of its end, and HEAD as it was before that.
    private struct LongSession {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 54, entriesMax: 4, valueSizeMax: 300)
        var options: JournalOptions
        let path: String
        let headBefore: [UInt8]
        let last: JournalFiles.Frame

        init(padsGroups: Bool = false) throws {
            options = JournalOptions.test(system, segmentSize: 2 << 20)
            options.checkpointInterval = 16 * 1024
            options.padsGroups = padsGroups
            let journal = try Journal.create(at: "/j", mode: .exclusive, options: options)
            // The distance is a 64th of the segment's size: several checkpoints, and a long tail behind the last.
            path = try #require(system.segments(of: "/j").first)
            try fill(journal, &model, &workload, count: 150)
            while true {
                try fill(journal, &model, &workload, count: 1)
                let frames = JournalFiles.frames(try #require(system.contents(path)))
                let last = try #require(frames.last { $0.kind == 0x51 })
                if try #require(system.head(of: "/j")).end > last.offset + last.size + 18 * 1024 { break }
            }
            headBefore = try #require(system.contents("/j/HEAD"))
            journal.close()
            let frames = JournalFiles.frames(try #require(system.contents(path)))
            last = try #require(frames.last { $0.kind == 0x51 })
        }

        /// Opens, compares all, writes on and compares again.
        func expectUse(_ comment: Comment) throws {
            var (model, workload) = (model, workload)
            var options = options
            options.random = JournalOptions.test(system, seed: 55).random
            let journal = try Journal.open(at: "/j", mode: .exclusive, options: options)
            #expect(try journal.commits() == model.commits, comment)
            for key in model.keys { #expect(try journal.entry(for: key) == model.entry(for: key), comment) }
            try fill(journal, &model, &workload, count: 60)
            #expect(try journal.commits() == model.commits, comment)
            journal.close()
            let reader = try Journal.open(at: "/j", mode: .readOnly, options: options)
            #expect(try reader.commits() == model.commits, comment)
            for key in model.keys { #expect(try reader.entry(for: key) == model.entry(for: key), comment) }
            reader.close()
        }
    }

    @Test(arguments: [false, true])
    func `whoever comes after a long session reads no blocks to open`(padsGroups: Bool) throws {
        let session = try LongSession(padsGroups: padsGroups)
        let bytes = try #require(session.system.contents(session.path))
        #expect(session.last.offset + session.last.size == bytes.count)
        session.system.resetCounts()
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: session.options)
        #expect(try reader.head().commit == session.model.commits.last?.info.number)
        let indexes = JournalFiles.frames(bytes).filter { $0.kind == 0x51 }.count
        #expect(session.system.counts.bytesRead < (indexes + 4) * 4096 + 4096)
        reader.close()
        #expect(try Journal.verify(at: "/j", options: session.options).isSound)
        try session.expectUse("as it was closed")
        let report = try Journal.verify(at: "/j", options: session.options)
        #expect(report.isSound, "\(report.damages)")
    }

    /// The story: a fuzzer cleared a word of a filter and made the checksum right again. A look-up found an older version, and
    /// `verify` called the journal sound, for it compared rows of sealed indexes only.
    @Test func `an index with good checksums that lies is damage, in a checkpoint and in a seal`() throws {
        let live = try LongSession()
        try expectAllLiesFound(live.system, live.path, live.options)
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 57, names: 60, valueSizeMax: 300)
        let journal = try Journal.create(at: "/j", options: .test(system))
        while system.segments(of: "/j").count < 3 { try fill(journal, &model, &workload, count: 1) }
        journal.close()
        try expectAllLiesFound(system, system.segments(of: "/j")[1], .test(system))
    }

    private func expectAllLiesFound(
        _ system: MemoryFileSystem, _ path: String, _ options: JournalOptions
    ) throws {
        let bytes = try #require(system.contents(path))
        let salt = bytes.word64(at: 3960)
        let frames = JournalFiles.frames(bytes).filter { $0.kind == 0x51 }
        #expect(!frames.isEmpty)
        #expect(try Journal.verify(at: "/j", options: options).isSound)
        for page in frames.flatMap({ stride(from: $0.offset + 8, to: $0.offset + $0.size, by: 4096) }) {
            // The first place of an earlier index is looked at in each run.
            for offset in [97] + stride(from: 3, to: 4092, by: everyByte ? 1 : 211) {
                var changed = bytes
                changed[page + offset] ^= 0x10
                changed.setWord32(
                    changed.placedCRC(page..<page + 4092, salt: salt, offset: UInt64(page)), at: page + 4092)
                try system.setContents(path, changed)
                let report = try Journal.verify(at: "/j", options: options)
                #expect(!report.isSound, "page at \(page), byte \(offset)")
            }
        }
        try system.setContents(path, bytes)
    }

    @Test(arguments: [false, true])
    func `a kill before HEAD knows the last checkpoint costs nothing`(padsGroups: Bool) throws {
        let session = try LongSession(padsGroups: padsGroups)
        let bytes = try #require(session.system.contents(session.path))
        for size in stride(from: session.last.offset, through: bytes.count, by: everyByte ? 1 : 509) {
            try session.system.setContents("/j/HEAD", session.headBefore)
            try session.system.setContents(session.path, Array(bytes[..<size]))
            let reader = try Journal.open(at: "/j", mode: .readOnly, options: session.options)
            #expect(try reader.commits() == session.model.commits)
            reader.close()
        }
        for written in [0, 9, session.last.size / 2, session.last.size - 1, session.last.size] {
            let size = session.last.offset + written
            try session.system.setContents("/j/HEAD", session.headBefore)
            for path in session.system.segments(of: "/j") where path != session.path {
                try session.system.remove(path)
            }
            try session.system.setContents(session.path, Array(bytes[..<size]))
            try session.expectUse("cut at \(size) of \(bytes.count)")
        }
    }

    @Test func `a last checkpoint that rots costs only time`() throws {
        let session = try LongSession()
        var bytes = try #require(session.system.contents(session.path))
        bytes[session.last.offset + 8 + 100] ^= 4
        try session.system.setContents(session.path, bytes)
        #expect(try !Journal.verify(at: "/j", options: session.options).isSound)
        try session.expectUse("with a damaged checkpoint")
    }

    @Test func `without HEAD the last checkpoint is cut off and nothing else`() throws {
        let session = try LongSession()
        try session.system.remove("/j/HEAD")
        try session.expectUse("without HEAD")
        let report = try Journal.verify(at: "/j", options: session.options)
        #expect(report.isSound, "\(report.damages)")
    }

    @Test func `a reader that stays goes on behind the checkpoint of the last session`() throws {
        let session = try LongSession()
        var (model, workload) = (session.model, session.workload)
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: session.options)
        for _ in 0..<3 {
            let writer = try Journal.open(at: "/j", mode: .exclusive, options: session.options)
            for _ in 0..<40 {
                try fill(writer, &model, &workload, count: 1)
                #expect(try reader.head().commit == model.commits.last?.info.number)
            }
            writer.close()
            #expect(try reader.commits() == model.commits)
        }
        for key in model.keys { #expect(try reader.entry(for: key) == model.entry(for: key)) }
        reader.close()
    }

    @Test func `small indexes become one when there are seven and one more comes`() {
        let distance: UInt64 = 100
        var ends: [UInt64] = []
        var most = 0
        var written = 0
        for number in 1...640 {
            let kept = Checkpoint.partsKept(ends, start: 50, distance: distance)
            #expect(kept == ends.count || ends.count - kept >= 7)
            written += number * 100 - Int(kept == 0 ? 0 : ends[kept - 1] - 50)
            ends = ends.prefix(kept) + [50 + UInt64(number) * distance]
            most = max(most, ends.count)
        }
        // 640 pages of which none is written more than twice, and a look-up asks a few of them.
        #expect(most == 640 / 8 + 6)
        #expect(written <= 2 * 64_000)
    }
}
