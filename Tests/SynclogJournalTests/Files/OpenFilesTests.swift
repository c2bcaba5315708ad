import Glibc
import SynclogJournal
import TestSupport
import Testing

/// Journals of more segments than a process may have files open.
@Suite struct OpenFilesTests {
    private static let openMax = 8
    private static let count = 100

    /// Every segment that was ever read stayed open: with the usual limits a journal of a thousand segments could neither be
    /// dumped nor verified nor compacted.
    @Test func `a journal of more segments than files may be open is written, read, checked and compacted`()
        throws
    {
        let machine = MemoryFileSystem()
        // Besides those: inputs of a merge that are no longer counted, the live segment, locks, HEAD, the draft.
        let filesMax = Self.openMax * 3 / 2 + 6
        let process = machine.process { call in
            call.kind == .open && machine.openFiles.count >= filesMax ? .fails(code: EMFILE) : .goesOn
        }
        func options(_ seed: UInt64) -> JournalOptions { Self.options(process, seed) }
        var model = JournalModel()
        var generator = SeededGenerator(seed: 411)
        do {
            let writer = try Journal.create(at: "/j", options: options(412))
            // Most keys have a newer version in another run of the merge.
            for number in 0..<Self.count {
                let value = [0x59, 0x40, 0x00] + generator.bytes(0x4000)
                let key = put("k\(number % 60)", "").key
                model.commits.append(try writer.apply([PlannedEntry(.put, key, value: value)]))
            }
            #expect(machine.segments(of: "/j").count > Self.count)
            try expect(model, in: writer)
        }
        do {
            let reader = try Journal.open(at: "/j", mode: .readOnly, options: options(413))
            try expect(model, in: reader)
            let isSame = try reader.commits() == model.commits
            let isSameBackward = try reader.commitsBackward() == model.commits.reversed()
            #expect(isSame && isSameBackward)
            var copied = 0
            var after: UInt64 = 0
            while let last = try reader.blocks(after: after, sizeMax: 1 << 14).last {
                (after, copied) = (last.lastCommit, copied + 1)
            }
            #expect(after == model.commits.last?.info.number && copied > 50)
            #expect(try reader.verify().isSound && reader.statistics().segments == Self.count + 1)
            #expect(try reader.compact(dryRun: true).entries > Self.count)
        }
        do {
            let writer = try Journal.open(at: "/j", options: options(414))
            let report = try writer.compact(everything: true)
            #expect(report.versions == Self.count - 60 && machine.segments(of: "/j").count == 2)
            try expect(model, in: writer)
            #expect(try writer.verify().isSound)
        }
        #expect(machine.openFiles.isEmpty)
    }

    /// What was closed for others is opened again by a name that compaction took away meanwhile.
    @Test func `readers whose closed files are merged and removed go on with what took their place`() throws {
        let machine = MemoryFileSystem()
        var model = JournalModel()
        var generator = SeededGenerator(seed: 415)
        let writer = try Journal.create(at: "/j", options: Self.options(machine, 416))
        // Some to a segment, so that a reader stops in the middle of one.
        for number in 0..<Self.count {
            let value = [0x59, 0x18, 0x00] + generator.bytes(0x1800)
            model.commits.append(
                try writer.apply([PlannedEntry(.put, put("k\(number)", "").key, value: value)]))
        }
        #expect(machine.segments(of: "/j").count > 3 * Self.openMax)
        for backward in [false, true] {
            for stop in [1, 2, 50, 98] {
                let system = machine.copy()
                let options = Self.options(system, 418)
                let reading = try Journal.open(at: "/j", mode: .readOnly, options: options)
                var reader = try backward ? reading.readBackward() : reading.read()
                var found: [Commit] = []
                while found.count < stop, let commit = try reader.next() { found.append(commit) }
                // All others are opened and closed meanwhile.
                for _ in 0..<2 { try expect(model, in: reading) }
                _ = try Journal.open(at: "/j", options: options).compact(everything: true)
                #expect(system.segments(of: "/j").count == 2)
                while let commit = try reader.next() { found.append(commit) }
                let records = found.map { $0.entries.filter { $0.key.space == .record } }.filter {
                    !$0.isEmpty
                }
                let written = model.commits.map(\.entries)
                let isSame = records == (backward ? written.reversed() : written)
                #expect(isSame, "backward \(backward), stop \(stop)")
                try expect(model, in: reading)
            }
        }
    }

    private static func options(_ files: any FileSystem, _ seed: UInt64) -> JournalOptions {
        var options = JournalOptions.test(MemoryFileSystem(), segmentSize: 16 << 10, seed: seed)
        options.fileSystem = files
        options.openFilesMax = openMax
        options.compacts = false
        return options
    }

    private func expect(_ model: JournalModel, in journal: Journal) throws {
        let isSame = try model.keys.allSatisfy { try journal.entry(for: $0) == model.entry(for: $0) }
        #expect(isSame)
    }
}
