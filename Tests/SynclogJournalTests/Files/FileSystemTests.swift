import Glibc
import SynclogJournal
import TestSupport
import Testing

/// The file system in memory answers as the real one does.
@Suite struct FileSystemTests {
    /// A file system, and a directory in it to work in.
    private struct Place {
        let system: any FileSystem
        let base: String
        let keep: TemporaryDirectory?

        init(real: Bool) throws {
            keep = real ? TemporaryDirectory() : nil
            system = real ? PosixFileSystem() : MemoryFileSystem()
            base = keep?.path ?? "/base"
            if !real { try system.makeDirectory(base) }
        }

        func path(_ name: String) -> String { "\(base)/\(name)" }
    }

    private func write(_ file: any File, _ bytes: [UInt8], at offset: UInt64) throws {
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
    }

    private func read(_ file: any File, _ count: Int, at offset: UInt64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let got = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        return Array(bytes[..<got])
    }

    @Test(arguments: [true, false])
    func `files are made, written, cut and read`(real: Bool) throws {
        let place = try Place(real: real)
        #expect(throws: FileError(call: "open", path: place.path("a"), code: ENOENT)) {
            try place.system.open(place.path("a"), .read)
        }
        let file = try place.system.open(place.path("a"), .createNew)
        #expect(throws: FileError(call: "open", path: place.path("a"), code: EEXIST)) {
            try place.system.open(place.path("a"), .createNew)
        }
        try write(file, [1, 2, 3], at: 0)
        try write(file, [9], at: 5)
        #expect(try read(file, 10, at: 0) == [1, 2, 3, 0, 0, 9])
        #expect(try read(file, 2, at: 1) == [2, 3])
        #expect(try read(file, 2, at: 100) == [])
        try file.truncate(to: 2)
        #expect(try file.status().size == 2)
        try file.truncate(to: 4)
        #expect(try read(file, 10, at: 0) == [1, 2, 0, 0])
        #expect(throws: FileError.self) {
            try write(try place.system.open(place.path("a"), .read), [1], at: 0)
        }
        #expect(try place.system.status(place.path("a"))?.inode == file.status().inode)
        #expect(try place.system.status(place.path("b")) == nil)
    }

    @Test(arguments: [true, false])
    func `names are renamed, replaced and removed`(real: Bool) throws {
        let place = try Place(real: real)
        try write(try place.system.open(place.path("a"), .create), [1], at: 0)
        try write(try place.system.open(place.path("b"), .create), [2], at: 0)
        #expect(throws: FileError(call: "rename", path: place.path("a"), code: EEXIST)) {
            try place.system.rename(place.path("a"), to: place.path("b"), replacing: false)
        }
        let open = try place.system.open(place.path("b"), .read)
        try place.system.rename(place.path("a"), to: place.path("b"), replacing: true)
        #expect(try place.system.list(place.base) == ["b"])
        #expect(try read(open, 1, at: 0) == [2])
        #expect(try read(try place.system.open(place.path("b"), .read), 1, at: 0) == [1])
        try place.system.rename(place.path("b"), to: place.path("c"), replacing: false)
        try place.system.makeDirectory(place.path("d"))
        #expect(try place.system.list(place.base).sorted() == ["c", "d"])
        #expect(throws: FileError.self) { try place.system.makeDirectory(place.path("d")) }
        try place.system.remove(place.path("c"))
        #expect(throws: FileError(call: "unlink", path: place.path("c"), code: ENOENT)) {
            try place.system.remove(place.path("c"))
        }
        try place.system.syncDirectory(place.base)
        #expect(place.system.counts.syncs == 1)
    }

    @Test(arguments: [true, false])
    func `a lock belongs to one open file and goes with it`(real: Bool) throws {
        let place = try Place(real: real)
        let first = try place.system.open(place.path("LOCK"), .create)
        var second: (any File)? = try place.system.open(place.path("LOCK"), .readWrite)
        #expect(try first.tryLock())
        #expect(try first.tryLock())
        #expect(try second?.tryLock() == false)
        first.unlock()
        #expect(try second?.tryLock() == true)
        #expect(try first.tryLock() == false)
        second = nil
        #expect(try first.tryLock())
    }

    @Test(.timeLimit(.minutes(1)), arguments: [true, false])
    func `a watch returns after a change, after a wake, and after its timeout`(real: Bool) throws {
        let place = try Place(real: real)
        let file = try place.system.open(place.path("a"), .create)
        let watch = try place.system.watch(place.base)
        watch.wait(timeout: .zero)
        try write(file, [1], at: 0)
        watch.wait(timeout: .seconds(3600))
        watch.wake()
        watch.wait(timeout: .seconds(3600))
        _ = try place.system.open(place.path("b"), .create)
        watch.wait(timeout: .seconds(3600))
        watch.wait(timeout: .milliseconds(1))
    }

    @Test func `only what was synced survives a loss of power`() throws {
        let system = MemoryFileSystem(tracksDurability: true)
        try system.makeDirectory("/d")
        try system.syncDirectory("/")
        let file = try system.open("/d/a", .create)
        try write(file, [1, 2], at: 0)
        try file.syncData()
        #expect(system.afterPowerLoss().image(of: "/d").isEmpty)
        try system.syncDirectory("/d")
        try write(file, [3], at: 1)
        #expect(system.afterPowerLoss().contents("/d/a") == [1, 2])
        try system.rename("/d/a", to: "/d/b", replacing: false)
        #expect(system.afterPowerLoss().image(of: "/d").keys.sorted() == ["a"])
        try file.syncData()
        #expect(system.afterPowerLoss().contents("/d/a") == [1, 3])
        #expect(system.afterPowerLoss().bootID() != system.bootID())
    }

    @Test func `a planned failure hits the call it is meant for`() throws {
        let system = MemoryFileSystem()
        let file = try system.open("/a", .create)
        system.setFailures(
            FailurePlan([.init([.write], skipping: 1, times: 1, code: ENOSPC, bytesBefore: 1)]))
        try write(file, [1, 2], at: 0)
        #expect(throws: FileError(call: "pwrite", path: "/a", code: ENOSPC)) {
            try write(file, [8, 9], at: 2)
        }
        try write(file, [7], at: 3)
        #expect(system.contents("/a") == [1, 2, 8, 7])
    }
}
