import Glibc
import SynclogJournal
import TestSupport
import Testing

@testable import SynclogTestKit

/// The simulated machine does to files what real ones may.
@Suite struct MachineTests {
    private let machine = MemoryFileSystem(tracksDurability: true)

    private func write(_ text: String, to path: String, sync: Bool) throws {
        let file = try machine.open(path, .create)
        try file.write(Array(text.utf8), at: 0)
        if sync { try file.sync() }
    }

    @Test func `a file that was synced is gone with its unsynced name`() throws {
        try write("content", to: "/a", sync: true)
        #expect(machine.afterPowerLoss().contents("/a") == nil)
        try machine.syncDirectory("/")
        #expect(machine.afterPowerLoss().contents("/a") == Array("content".utf8))
    }

    @Test func `after a rename the old name, the new one or both are there, never none`() throws {
        try write("content", to: "/a", sync: true)
        try machine.syncDirectory("/")
        try machine.rename("/a", to: "/b", replacing: false)
        var seen: Set<[Bool]> = []
        for seed in 0..<64 as Range<UInt64> {
            let left = machine.afterPowerLoss(.anySectors(seed: seed))
            seen.insert([left.contents("/a") != nil, left.contents("/b") != nil])
        }
        #expect(seen == [[true, false], [true, true], [false, true]])
    }

    @Test func `sectors of one write reach the disk each for itself`() throws {
        let file = try machine.open("/a", .create)
        try file.write([UInt8](repeating: 1, count: 2048), at: 0)
        try file.sync()
        try machine.syncDirectory("/")
        try file.write([UInt8](repeating: 2, count: 2048), at: 0)
        var seen: Set<[UInt8]> = []
        for seed in 0..<200 as Range<UInt64> {
            let bytes = try #require(machine.afterPowerLoss(.anySectors(seed: seed)).contents("/a"))
            #expect(bytes.count == 2048)
            for sector in 0..<4 {
                let part = bytes[sector * 512..<sector * 512 + 512]
                #expect(part.allSatisfy { $0 == part.first })
            }
            seen.insert((0..<4).map { bytes[$0 * 512] })
        }
        #expect(seen.count == 16)
    }

    @Test func `pages of a failed sync are readable, count as clean and never reach the disk`() throws {
        try write("old", to: "/a", sync: true)
        try machine.syncDirectory("/")
        // Calls 0 and 1 open and write; call 2 is the sync that fails.
        let process = machine.process { $0.number == 2 ? .fails(code: EIO) : .goesOn }
        let file = try process.open("/a", .readWrite)
        try file.write(Array("new".utf8), at: 0)
        #expect(throws: FileError.self) { try file.syncData() }
        try file.syncData()
        #expect(machine.contents("/a") == Array("new".utf8))
        #expect(machine.afterPowerLoss(.everything).contents("/a") == Array("old".utf8))
    }

    @Test func `a killed process gives its locks back and changes nothing more`() throws {
        let first = machine.process()
        let second = machine.process()
        let mine = try first.open("/lock", .create)
        let theirs = try second.open("/lock", .create)
        #expect(try mine.tryLock())
        #expect(try !theirs.tryLock())
        first.kill()
        #expect(try theirs.tryLock())
        #expect(throws: FileError.self) { try mine.write([1], at: 0) }
        #expect(machine.contents("/lock") == [])
    }

    @Test func `a process killed inside a write leaves a part of it in the page cache`() throws {
        let process = machine.process { $0.kind == .write ? .killed(bytesBefore: 3) : .goesOn }
        let file = try process.open("/a", .create)
        #expect(throws: FileError.self) { try file.write(Array("content".utf8), at: 0) }
        #expect(machine.contents("/a") == Array("con".utf8))
        #expect(process.process?.isAlive == false)
    }

    @Test func `open files are counted until they are dropped or their process ends`() throws {
        let machine = MemoryFileSystem()
        let process = machine.process()
        var mine: (any File)? = try machine.open("/a", .create)
        let theirs = try process.open("/a", .read)
        let watch = try machine.watch("/")
        #expect(machine.openFiles == ["/", "/a", "/a"])
        process.kill()
        #expect(machine.openFiles == ["/", "/a"])
        mine = nil
        #expect(machine.openFiles == ["/"])
        _ = (theirs, watch, mine)
    }

    @Test func `the machine that starts again has another boot id, a killed process does not change it`() {
        #expect(machine.copy().bootID() == machine.bootID())
        #expect(machine.afterPowerLoss().bootID() != machine.bootID())
    }

    @Test func `an image is written out as a directory`() throws {
        try machine.makeDirectory("/d")
        try machine.makeDirectory("/d/tmp")
        try write("content", to: "/d/a", sync: false)
        try write("inner", to: "/d/tmp/b", sync: false)
        let directory = TemporaryDirectory()
        try machine.write("/d", to: directory("out"))
        #expect(try TextFile.read(directory("out/a")) == "content")
        #expect(try TextFile.read(directory("out/tmp/b")) == "inner")
    }
}

/// The kit itself.
@Suite struct KitTests {
    /// A directory held the one above it through a rename that was not synced: every crash image stayed in memory, gigabytes in a minute.
    @Test func `nothing of a machine stays in memory`() throws {
        weak var root: MemoryNode?
        weak var copied: MemoryNode?
        do {
            let machine = MemoryFileSystem(tracksDurability: true)
            try machine.makeDirectory("/d")
            try machine.makeDirectory("/d/tmp")
            _ = try machine.open("/d/tmp/a", .create)
            try machine.rename("/d/tmp/a", to: "/d/a", replacing: false)
            let copy = machine.copy()
            root = machine.state.withLock { $0.find("/d") }
            copied = copy.state.withLock { $0.find("/d") }
            #expect(root != nil && copied != nil)
        }
        #expect(root == nil && copied == nil)
    }
}
