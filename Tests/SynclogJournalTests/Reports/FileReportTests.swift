import Glibc
import SynclogJournal
import TestLanes
import TestSupport
import Testing

/// What was reported of other stores about their files: full disks, files that vanish under readers, descriptors of deleted
/// files, everything read at the start.
@Suite(.long) struct FileReportTests {
    /// The disk was full, and the store could neither be opened nor deleted from; another one was wiped at its restart.
    @Test func `a full disk can be read, keeps what it has, and takes commits again when there is room`()
        throws
    {
        let system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: 361, names: 10, valueSizeMax: 600)
        func options(_ files: MemoryFileSystem, seed: UInt64) -> JournalOptions {
            var options = JournalOptions.test(files, seed: seed)
            options.zeroFillSize = 4096
            return options
        }
        let journal = try Journal.create(at: "/j", options: options(system, seed: 1))
        try fill(journal, &model, &workload, count: 60)
        system.setCapacity(system.usedBytes + 700)
        var failures = 0
        while failures < 10 {
            do {
                model.commits.append(try journal.apply(workload.next()))
            } catch {
                failures += 1
                guard case .file(let failed) = error, failed.code == ENOSPC else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
        journal.close()
        system.setCapacity(system.usedBytes)
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: options(system, seed: 2))
        #expect(try reader.commits() == model.commits && reader.verify().isSound)
        reader.close()
        // Killed and started again on the full disk: nothing is lost, and what a merge frees can be written to.
        let full = system.afterPowerLoss()
        full.setCapacity(full.usedBytes)
        do throws(JournalError) {
            try Journal.open(at: "/j", options: options(full, seed: 3)).close()
        } catch {
            guard case .file(let failed) = error, failed.code == ENOSPC else { throw error }
        }
        // Readers see the last commit only after a writer has proved it.
        let seen = try Journal.open(at: "/j", mode: .readOnly, options: .test(full)).commits()
        #expect(model.commits.starts(with: seen) && seen.count >= model.commits.count - 1)
        full.setCapacity(full.usedBytes + 150_000)
        let writer = try Journal.open(at: "/j", options: options(full, seed: 4))
        _ = try writer.compact(everything: true)
        full.setCapacity(full.usedBytes + 9000)
        model.commits.append(try writer.apply([put("room", "again")]))
        for key in model.keys {
            #expect(try writer.entry(for: key)?.position == model.entry(for: key)?.position)
        }
        #expect(try writer.verify().isSound)
    }

    /// On a full disk nothing could be deleted, for deleting needed room, and nothing compacted, which would have made it.
    @Test(arguments: [UInt64(371), 372, 373])
    func `on a full disk deleting and compacting find room, and puts take it afterwards`(seed: UInt64) throws
    {
        let system = MemoryFileSystem(tracksDurability: true)
        var model = JournalModel()
        var workload = Workload(seed: seed, names: 400, valueSizeMax: 600)
        var options = JournalOptions.test(system, segmentSize: 64 * 1024, seed: seed)
        var journal = try Journal.create(at: "/j", options: options)
        while system.segments(of: "/j").count < 10 { try fill(journal, &model, &workload, count: 1) }
        let ballast = try #require(system.contents("/j/BALLAST")?.count)
        #expect(ballast >= 4096 && ballast < system.usedBytes / 3)
        system.setCapacity(system.usedBytes)
        func refused(_ entries: [PlannedEntry]) -> Bool {
            do throws(JournalError) {
                model.commits.append(try journal.apply(entries))
                return false
            } catch {
                guard case .file(let failed) = error else { return false }
                return failed.code == ENOSPC
            }
        }
        #expect(refused([put("more", String(repeating: "x", count: 8000))]))
        #expect(system.contents("/j/BALLAST")?.count == ballast)
        // A second process comes to the full disk.
        journal.close()
        options.random = JournalOptions.test(system, seed: seed + 10).random
        journal = try Journal.open(at: "/j", options: options)
        let records = model.keys.filter {
            $0.space == .record && model.entry(for: $0)?.entry.operation == .put
        }
        #expect(records.count > 100)
        let before = system.usedBytes
        for key in records.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }).dropLast(5) {
            let deletion = [PlannedEntry(.delete, key, value: [0xF6])]
            if !refused(deletion) { continue }
            // The ballast is used up: what was deleted makes room.
            #expect(try journal.compact(everything: true).segments > 0)
            #expect(!refused(deletion))
        }
        #expect(try journal.compact(everything: true).segments > 0)
        #expect(system.usedBytes < before / 2)
        for number in 0..<20 { #expect(!refused([put("new\(number)", "room")])) }
        for key in model.keys {
            #expect(try journal.entry(for: key)?.position == model.entry(for: key)?.position)
        }
        #expect(try journal.verify().isSound)
        // There is room again, so there is ballast for the next time.
        #expect(system.contents("/j/BALLAST") != nil)
        journal.close()
        #expect(try Journal.open(at: "/j", options: options).commits().last == model.commits.last)
    }

    /// Readers by mapped memory died of SIGBUS when a file was truncated under them.
    @Test(arguments: [true, false])
    func `a segment is truncated or removed under a reader`(removed: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory("j")
        let files = PosixFileSystem()
        var options = JournalOptions.test(MemoryFileSystem())
        options.fileSystem = files
        var model = JournalModel()
        var workload = Workload(seed: 362, valueSizeMax: 600)
        let journal = try Journal.create(at: path, options: options)
        while try JournalFiles.segments(files.list(path)).count < 4 {
            try fill(journal, &model, &workload, count: 1)
        }
        let reader = try Journal.open(at: path, mode: .readOnly, options: options)
        var walk = try reader.read()
        var read: [Commit] = []
        for _ in 0..<3 { if let commit = try walk.next() { read.append(commit) } }
        for name in JournalFiles.segments(try files.list(path)).dropLast() {
            if removed {
                try files.remove("\(path)/\(name)")
            } else {
                try files.open("\(path)/\(name)", .readWrite).truncate(to: 5000)
            }
        }
        do throws(JournalError) {
            while let commit = try walk.next() { read.append(commit) }
            let all = try reader.commits()
            // Files that are open are there to their last reader.
            #expect(removed && all == model.commits)
        } catch {
            switch error {
            case .corrupted, .missingSegment, .file, .lostData: break
            default: Issue.record("\(error)")
            }
        }
        let fresh = #expect(throws: JournalError.self) {
            try Journal.open(at: path, mode: .readOnly, options: options).commits()
        }
        switch fresh {
        case .corrupted, .missingSegment: break
        default: Issue.record("\(String(describing: fresh))")
        }
        for commit in read where !commit.entries.contains(where: { $0.key.space == .session }) {
            #expect(model.commits.contains(commit))
        }
    }

    /// Files that compaction had deleted stayed open in readers for ever, and their space was not given back.
    @Test func `readers beside a hundred compactions keep no deleted file open`() throws {
        let directory = TemporaryDirectory()
        let path = directory("j")
        func options(_ seed: UInt64) -> JournalOptions {
            var options = JournalOptions.test(MemoryFileSystem(), segmentSize: 8 << 10, seed: seed)
            options.fileSystem = PosixFileSystem.shared
            return options
        }
        let journal = try Journal.create(at: path, options: options(1))
        let readers = try (0..<10).map { number in
            try Journal.open(at: path, mode: .readOnly, options: options(UInt64(number) + 10))
        }
        var workload = Workload(seed: 363, names: 10, valueSizeMax: 300)
        var counts: [Int] = []
        for round in 0..<100 {
            for _ in 0..<4 { try journal.apply(workload.next()) }
            _ = try journal.compact(everything: true)
            for reader in readers { _ = (try reader.head(), try reader.commits().count) }
            if round % 10 == 9 { counts.append(openFiles(below: path).count) }
        }
        #expect(counts.max() == counts.min(), "\(counts)")
        #expect(openFiles(below: path).filter { $0.hasSuffix("(deleted)") } == [])
        for reader in readers { reader.close() }
    }

    /// What this process's descriptors below a directory stand for.
    private func openFiles(below path: String) -> [String] {
        let names = (try? PosixFileSystem.shared.list("/proc/self/fd")) ?? []
        return names.compactMap { name in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = buffer.withUnsafeMutableBytes { bytes in
                readlink("/proc/self/fd/\(name)", bytes.bindMemory(to: CChar.self).baseAddress!, bytes.count)
            }
            let target = count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
            return target.hasPrefix(path) ? target : nil
        }
    }

    /// A store that was killed read all of itself at its next start.
    @Test func `after a kill the opening reads the last segment and little of the others`() throws {
        let system = MemoryFileSystem()
        let segmentSize = 32 << 10
        func options(_ files: MemoryFileSystem, seed: UInt64) -> JournalOptions {
            var options = JournalOptions.test(files, segmentSize: segmentSize, seed: seed)
            options.zeroFillSize = 8192
            return options
        }
        var workload = Workload(seed: 364, names: 400, entriesMax: 8, valueSizeMax: 900)
        let journal = try Journal.create(at: "/j", options: options(system, seed: 1))
        while system.segments(of: "/j").count < 40 { try journal.apply(workload.next()) }
        for _ in 0..<5 { try journal.apply(workload.next()) }
        let files = system.process {
            $0.kind == .write && $0.path.hasSuffix(".lz4") ? .killed(bytesBefore: 500) : .goesOn
        }
        let killed = try Journal.open(at: "/j", options: options(files, seed: 2))
        #expect(throws: JournalError.self) { try killed.apply(workload.next()) }
        for mode in [JournalMode.readOnly, .shared] {
            let left = system.copy()
            left.resetCounts()
            _ = try Journal.open(
                at: "/j", mode: mode, options: options(left, seed: 3))
            // A torn end is scanned more than once: what is whole, what headers lie in it, what goes aside.
            let limit = 4 * segmentSize + 8192 * 40
            #expect(left.counts.bytesRead <= limit, "\(mode): \(left.counts)")
            #expect(left.counts.bytesRead * 4 < left.usedBytes)
        }
    }

    /// Showing the last ten lines opened and read every file there was.
    @Test func `the newest ten entries of two hundred segments are read from the last files`() throws {
        let system = MemoryFileSystem()
        let options = JournalOptions.test(system, segmentSize: 5 << 10)
        var workload = Workload(seed: 365, names: 4000, valueSizeMax: 500)
        let journal = try Journal.create(at: "/j", options: options)
        while system.segments(of: "/j").count < 200 { try journal.apply(workload.next()) }
        journal.close()
        system.resetCounts()
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: options)
        var walk = try reader.readBackward()
        for _ in 0..<10 { #expect(try walk.next() != nil) }
        #expect(system.counts.opens < 30, "\(system.counts)")
        #expect(system.counts.bytesRead < 200_000, "\(system.counts)")
        // All of it is read once, whatever the number of files.
        system.resetCounts()
        var forward = try reader.read()
        while try forward.next() != nil {}
        #expect(system.counts.bytesRead < 2 * system.usedBytes, "\(system.counts)")
        #expect(system.counts.opens <= 2 * 200)
    }

    /// Opening and closing again and again made the file grow though nothing was written.
    @Test func `two thousand openings leave the files as they are`() throws {
        let system = MemoryFileSystem()
        var workload = Workload(seed: 366)
        let journal = try Journal.create(at: "/j", options: .test(system))
        for _ in 0..<20 { try journal.apply(workload.next()) }
        journal.close()
        let before = system.image(of: "/j").filter { $0.key != "LOCK" }
        for round in 0..<2000 {
            let mode = [JournalMode.shared, .exclusive, .readOnly][round % 3]
            try Journal.open(at: "/j", mode: mode, options: .test(system, seed: UInt64(round))).close()
        }
        #expect(system.image(of: "/j").filter { $0.key != "LOCK" } == before)
    }
}
