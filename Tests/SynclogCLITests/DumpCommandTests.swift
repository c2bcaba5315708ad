import Glibc
import SynclogJournal
import TestLanes
import TestSupport
import Testing

@testable import SynclogCLI

@Suite(.long) struct DumpCommandTests {
    /// A journal with records a, b, c in zone one and d, e in zone two, one commit each.
    private func filled(_ directory: TemporaryDirectory) throws -> String {
        let path = try newJournal(directory)
        for name in ["a", "b", "c"] { try must(["put", "one", name, "x=\(name)"], path) }
        for name in ["d", "e"] { try must(["put", "two", name, "x=\(name)"], path) }
        return path
    }

    private func saved(_ words: [String], _ path: String) throws -> String {
        try must(["dump", "-o", "cat"] + words, path).lines.filter { $0.hasPrefix("saved") }
            .map { String($0.dropFirst(6)) }.joined()
    }

    @Test func `entries are picked and ordered`() throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        #expect(try saved([], path) == "abcde")
        #expect(try saved(["-r"], path) == "edcba")
        #expect(try saved(["-u", "one"], path) == "abc")
        #expect(try saved(["-u", "t*"], path) == "de")
        #expect(try saved(["-u", "one", "-u", "two"], path) == "abcde")
        #expect(try saved(["-u", "one", "-n", "2"], path) == "bc")
        #expect(try saved(["-u", "one", "-n2", "-r"], path) == "cb")
        #expect(try saved(["-u", "one", "-n", "+3"], path) == "ab")
        #expect(try saved(["-u", "one", "-n", "+3", "-r"], path) == "ba")
        #expect(try saved(["-u", "one", "-n", "0"], path) == "")
        #expect(try saved(["-u", "one", "-n", "all"], path) == "abc")
        #expect(try saved(["-S", "2000-01-01", "-U", "now", "-u", "one", "-n", "1"], path) == "c")
        #expect(try saved(["-S", "+1d"], path) == "")
        #expect(try saved(["-U", "2000-01-01"], path) == "")
        let none = try must(["dump", "-u", "nothing"], path)
        #expect(none.output.isEmpty)
        #expect(none.error == "-- No entries --\n")
        #expect(try must(["dump", "-u", "nothing", "-o", "json"], path).error.isEmpty)
    }

    /// The story: a zone without an entry was looked for in all segments, of which there were thousands.
    @Test func `the name of a zone is looked for where it was made and nowhere else`() throws {
        let system = MemoryFileSystem()
        var options = JournalOptions()
        options.fileSystem = system
        options.segmentSize = 16 << 10
        options.compacts = false
        let journal = try Journal.create(at: "/j", mode: .exclusive, options: options)
        while try system.list("/j").count < 60 {
            _ = try journal.commit { transaction throws(JournalError) in
                for number in 0..<40 {
                    let key = EntryKey(
                        space: .record, zone: 1, name: Array("\(transaction.number) \(number)".utf8))
                    try transaction.put(
                        key, value: [0x58, 200] + [UInt8](repeating: UInt8(number), count: 200))
                }
            }
        }
        journal.close()
        let opened = try Journal.open(at: "/j", mode: .readOnly, options: options)
        system.resetCounts()
        var zones = ZoneNumbers(journal: opened)
        #expect(try zones.name(of: 1) == nil)
        #expect(system.counts.opens < 20, "\(system.counts)")
    }

    @Test func `a cursor starts after its entry, at it, or before it`() throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        let line = try must(["dump", "-u", "one", "-n", "+2", "-o", "json"], path).lines[1]
        #expect(line.contains(#""RECORD":"a""#))
        guard case .string(let cursor)? = try JSONParser.parse(line).member("__CURSOR") else {
            Issue.record("no cursor in \(line)")
            return
        }
        #expect(cursor.utf8.count == 80)
        #expect(try saved(["-c", cursor], path) == "abcde")
        #expect(try saved(["--after-cursor", cursor], path) == "bcde")
        #expect(try saved(["--after-cursor", cursor, "-u", "two"], path) == "de")
        #expect(try saved(["--after-cursor", cursor, "-n", "1", "-u", "one"], path) == "c")
        #expect(try saved(["-r", "-c", cursor], path) == "a")
        #expect(try saved(["-r", "--after-cursor", cursor], path) == "")
        let end = try must(["dump", "--show-cursor", "-o", "cat"], path).lines.last ?? ""
        #expect(end.hasPrefix("-- cursor: "))
        let head = String(end.dropFirst(11))
        let after = try must(["dump", "--after-cursor", head, "-o", "json", "--show-cursor"], path)
        #expect(after.output.isEmpty)
        let machine = try must(["dump", "-n", "1", "-o", "json", "--show-cursor"], path)
        #expect(machine.lines.count == 1)
        #expect(machine.error == end + "\n")
    }

    @Test func `a cursor that cannot be used has a status of its own`() throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        let other = try newJournal(directory, "other")
        let end = try must(["dump", "--show-cursor", "-o", "cat"], path).lines.last ?? ""
        let cursor = String(end.dropFirst(11))
        let foreign = try synclog(["dump", "--after-cursor", cursor], directory: other)
        #expect(foreign.status == 3)
        #expect(foreign.error.contains("another journal"))
        var flipped = Array(cursor.utf8)
        flipped[40] = flipped[40] == 0x41 ? 0x42 : 0x41
        let malformed = try synclog(
            ["dump", "-c", String(decoding: flipped, as: UTF8.self)], directory: path)
        #expect(malformed.status == 2)
        // The copy goes on from before: the cursor's commit exists there with another history.
        let early = try must(["dump", "-n", "+1", "-o", "json"], path).text
        #expect(!early.isEmpty)
        #expect(try synclog(["dump", "-c", ""], directory: path).status == 2)
        #expect(try synclog(["dump", "-c", cursor, "--after-cursor", cursor], directory: path).status == 2)
        #expect(try synclog(["dump", "-f", "-r"], directory: path).status == 2)
    }

    @Test func `following prints what comes, each once and in order`() throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let pid = try #require(
            ChildProcess.spawn(
                [synclogPath, "-D", path, "dump", "-f", "-u", "on*", "-o", "cat", "-n", "1"], output: ends[1])
        )
        defer {
            kill(pid, SIGKILL)
            _ = ChildProcess.wait(pid)
        }
        close(ends[1])
        let lines = try InputReader("/proc/self/fd/\(ends[0])")
        close(ends[0])
        func next() throws -> String { String(decoding: try #require(try lines.line()), as: UTF8.self) }
        #expect(try next() == "saved c")
        try must(["put", "one", "f", "x=1"], path)
        #expect(try next() == "saved f")
        try must(["put", "two", "unseen", "x=1"], path)
        // A zone that is made while the dump runs fits its pattern too.
        try must(["put", "only", "g", "x=1"], path)
        #expect(try next() == "made zone only")
        #expect(try next() == "saved g")
        try must(["delete", "one", "f"], path)
        #expect(try next() == "deleted f")
    }

    @Test func `an entry has all its fields`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        try must(["put", "z", "r", "--type", "Item", "title=Milk", "photo:bytes=AP8="], path)
        let line = try must(["dump", "-u", "z", "-o", "json"], path).lines.last ?? ""
        let json = try JSONParser.parse(line)
        let expected: [(String, String)] = [
            ("__SEQNUM", "3"), ("__INDEX", "0"), ("MESSAGE", "saved r"), ("PRIORITY", "6"),
            ("KIND", "change"),
            ("ZONE", "z"), ("RECORD", "r"), ("TYPE", "Item"), ("OP", "save"), ("DEVICE", "0"),
            ("F_TITLE", "Milk"),
            ("FIELD_TYPES", #"{"photo":"bytes","title":"string"}"#),
        ]
        for (name, value) in expected { #expect(json.member(name) == .string(value), "\(name)") }
        #expect(json.member("F_PHOTO") == .array([.number("0"), .number("255")]))
        guard case .string(let tag)? = json.member("TAG") else {
            throw JSONError(line: 0, column: 0, reason: "no TAG")
        }
        #expect(try must(["list", "z"], path).text == "r\tItem\t\(tag)\n")
        try must(["delete", "z", "r", "--if-tag", tag], path)
        let deletion = try JSONParser.parse(
            try must(["dump", "-u", "z", "-n", "1", "-o", "json"], path).lines[0])
        #expect(deletion.member("BASE_TAG") == .string(tag))
        #expect(deletion.member("OP") == .string("delete"))
        #expect(deletion.member("TYPE") == .string("Item"))
    }

    @Test func `damage is shown and entries around it are`() throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        let segment = try #require(try image(path).first { $0.key.hasSuffix(".lz4") })
        var bytes = segment.value
        // The payload of the fourth commit, behind its block header.
        let starts = bytes.indices.dropFirst(4096).filter { place in
            place + 4 <= bytes.count && Array(bytes[place..<place + 4]) == [0x50, 0x2A, 0x4D, 0x18]
        }
        bytes[starts[3] + 64 + 20] ^= 0xFF
        writeFile("\(path)/\(segment.key)", bytes)
        let dump = try synclog(["dump", "-o", "cat"], directory: path)
        #expect(dump.status == 4)
        #expect(dump.error.contains(segment.key))
        #expect(dump.lines.contains("saved a"))
        let verify = try synclog(["verify"], directory: path)
        #expect(verify.status == 4)
        #expect(verify.text.hasPrefix("FAIL: \(segment.key) (offset \(starts[3])"))
    }
}
