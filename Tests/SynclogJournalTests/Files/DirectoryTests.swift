import Glibc
import SynclogJournal
import TestSupport
import Testing

/// Directories that are missing, foreign, read-only, on a network, or full of other things.
@Suite struct DirectoryTests {
    @Test(arguments: [JournalMode.readOnly, .shared, .exclusive])
    func `a missing directory is not found and not made`(mode: JournalMode) throws {
        let system = MemoryFileSystem()
        #expect(throws: JournalError.notFound(path: "/nowhere")) {
            try Journal.open(at: "/nowhere", mode: mode, options: .test(system))
        }
        #expect(system.image(of: "/").isEmpty)
    }

    @Test(arguments: [JournalMode.readOnly, .shared, .exclusive])
    func `a directory of another program is no journal and stays as it is`(mode: JournalMode) throws {
        let system = MemoryFileSystem()
        try system.makeDirectory("/other")
        try system.setContents("/other/notes.txt", Array("hello".utf8))
        try system.setContents("/other/data.lz4", Array("not ours".utf8))
        let before = system.image(of: "/")
        #expect(throws: JournalError.notAJournal(path: "/other")) {
            try Journal.open(at: "/other", mode: mode, options: .test(system))
        }
        #expect(system.image(of: "/") == before)
        #expect(throws: JournalError.notEmpty(path: "/other")) {
            try Journal.create(at: "/other", options: .test(system))
        }
        #expect(system.image(of: "/") == before)
    }

    @Test func `making a journal twice is refused and harms nothing`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        let commit = try journal.apply([put("a", "1")])
        let before = system.image(of: "/")
        #expect(throws: JournalError.alreadyExists(path: "/j")) {
            try Journal.create(at: "/j", options: .test(system))
        }
        #expect(system.image(of: "/") == before)
        #expect(try journal.commits() == [commit])
    }

    @Test func `a read-only directory can be read and verified, and refuses writing by name`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 401)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 80)
        made.close()
        system.setReadOnly(true)
        let before = system.image(of: "/j")
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        #expect(try reader.commits() == model.commits)
        #expect(try reader.verify().damages == [])
        #expect(try reader.head().recoveryPending == false)
        #expect(throws: JournalError.readOnly(path: "/j")) { try reader.apply([put("a", "1")]) }
        #expect(throws: JournalError.readOnly(path: "/j")) {
            let writer = try Journal.open(at: "/j", options: .test(system))
            try writer.apply([put("a", "1")])
        }
        #expect(system.image(of: "/j") == before)
    }

    @Test(arguments: ["NFS", "SMB2", "FUSE"])
    func `a network file system is refused for writing and can be read`(kind: String) throws {
        let system = MemoryFileSystem()
        let made = try Journal.create(at: "/j", options: .test(system))
        let commit = try made.apply([put("a", "1")])
        made.close()
        system.setNetworkKind(kind)
        let before = system.image(of: "/")
        for mode in [JournalMode.shared, .exclusive] {
            #expect(throws: JournalError.networkFileSystem(path: "/j", kind: kind)) {
                try Journal.open(at: "/j", mode: mode, options: .test(system))
            }
        }
        let error = #expect(throws: JournalError.self) {
            try Journal.create(at: "/k", options: .test(system))
        }
        guard case .networkFileSystem(_, kind) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(system.image(of: "/") == before)
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        #expect(try reader.commits() == [commit])
        // Whoever knows better may write.
        var forced = JournalOptions.test(system)
        forced.allowsNetworkFileSystem = true
        let writer = try Journal.open(at: "/j", options: forced)
        let second = try writer.apply([put("b", "2")])
        #expect(try writer.commits() == [commit, second])
        try Journal.create(at: "/k", options: forced).close()
    }

    @Test func `other names in the directory are left alone and named by verify`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 402)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 60)
        made.close()
        let strays = [
            "notes.txt", ".DS_Store", "0000000000000001.lz4", "0000000000000001-0000.lz4.bak",
            "zzzzzzzzzzzzzzzz-0000.lz4", "0000000000000001-0000.LZ4", "HEAD~", "café",
        ]
        var generator = SeededGenerator(seed: 403)
        for name in strays { try system.setContents("/j/\(name)", generator.bytes(300)) }
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 3))
        try fill(journal, &model, &workload, count: 60)
        #expect(try journal.commits() == model.commits)
        let report = try journal.verify()
        #expect(report.strays.sorted() == strays.sorted())
        #expect(report.damages == [])
        journal.close()
        for name in strays { #expect(system.contents("/j/\(name)")?.count == 300) }
    }

    /// Found by the fuzzer: a writer began a segment whose number the merged one stands for, and the next opening left it out with
    /// all that it had acknowledged.
    @Test func `the segment behind a merged one is missing, and HEAD too`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 405)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 200)
        _ = try made.compact(everything: true)
        made.close()
        let segments = system.segments(of: "/j")
        let live = try #require(segments.last)
        #expect(segments.count == 2 && live > "/j/0000000000000003")
        try system.remove(live)
        try system.remove("/j/HEAD")
        let before = system.image(of: "/j")
        let number = try #require(UInt64(live.dropFirst(3).prefix(16), radix: 16))
        for mode in [JournalMode.readOnly, .shared, .exclusive] {
            #expect(throws: JournalError.missingSegment(path: "/j", number: number)) {
                let journal = try Journal.open(at: "/j", mode: mode, options: .test(system, seed: 4))
                try journal.apply([put("a", "1")])
            }
        }
        #expect(throws: JournalError.missingSegment(path: "/j", number: number)) {
            try Journal.verify(at: "/j", options: .test(system))
        }
        #expect(system.image(of: "/j") == before)
    }

    @Test func `an unfinished file in tmp does no harm`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 404)
        let made = try Journal.create(at: "/j", options: .test(system))
        try fill(made, &model, &workload, count: 20)
        made.close()
        if try system.status("/j/tmp") == nil { try system.makeDirectory("/j/tmp") }
        try system.setContents("/j/tmp/0000000000000002-0000.lz4", [1, 2, 3])
        let journal = try Journal.open(at: "/j", options: .test(system, seed: 3))
        try fill(journal, &model, &workload, count: 200)
        #expect(try journal.commits() == model.commits)
        #expect(system.segments(of: "/j").count > 2)
    }

    @Test func `real files can be read without write permission`() throws {
        let directory = TemporaryDirectory()
        let path = directory("journal")
        let made = try Journal.create(at: path)
        let commit = try made.apply([put("a", "1")])
        made.close()
        let names = try PosixFileSystem.shared.list(path)
        for name in names where try PosixFileSystem.shared.status("\(path)/\(name)")?.isDirectory == false {
            #expect(chmod("\(path)/\(name)", 0o444) == 0)
        }
        #expect(chmod(path, 0o555) == 0)
        let reader = try Journal.open(at: path, mode: .readOnly)
        #expect(try reader.commits() == [commit])
        #expect(try reader.verify().damages == [])
        #expect(try PosixFileSystem.shared.list(path).sorted() == names.sorted())
    }

    @Test func `a note of three commits is a small file`() throws {
        let directory = TemporaryDirectory()
        let journal = try Journal.create(at: directory("journal"))
        for name in ["a", "b", "c"] { try journal.apply([put(name, "note")]) }
        journal.close()
        #expect(try sizeOfFiles(directory("journal")) < 64 * 1024)
    }

    private func sizeOfFiles(_ path: String) throws -> UInt64 {
        try PosixFileSystem.shared.list(path).reduce(0) {
            try $0 + (PosixFileSystem.shared.status("\(path)/\($1)")?.size ?? 0)
        }
    }
}
