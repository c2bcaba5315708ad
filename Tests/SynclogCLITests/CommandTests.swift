import Glibc
import TestLanes
import TestSupport
import Testing

@testable import SynclogCLI

@Suite(.long) struct CommandTests {
    @Test func `fields are put, kept, cleared and printed`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let first = try must(["put", "shopping", "milk", "--type", "Item", "title=Milk", "count:=2"], path)
        #expect(first.error == "made zone 'shopping'\n")
        #expect(first.output.isEmpty)
        try must(
            ["put", "shopping", "milk", "-"], path, input: Array(#"{"count":null,"shop":"corner"}"#.utf8))
        let line = try must(["get", "shopping", "milk", "--json"], path).text
        #expect(line.contains(#""fields":{"shop":"corner","title":"Milk"},"types":{}}"#))
        #expect(line.contains(#""recordType":"Item""#))
        #expect(
            try must(["get", "shopping", "milk"], path).lines.suffix(2) == ["shop=corner", "title=Milk"])
        #expect(try must(["list", "shopping"], path).lines.count == 1)
        #expect(try must(["zones"], path).lines == ["_defaultZone", "shopping"])
        try must(["delete", "shopping", "milk"], path)
        #expect(try must(["list", "shopping", "--json"], path).output.isEmpty)
        try must(["zone", "delete", "shopping"], path)
        #expect(try must(["zones"], path).lines == ["_defaultZone"])
    }

    @Test func `a stale tag is a conflict that shows both versions`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let saved = try must(["put", "z", "r", "a=1", "--json"], path)
        guard case .string(let tag)? = try JSONParser.parse(saved.text).member("changeTag") else {
            Issue.record("no tag in \(saved.text)")
            return
        }
        try must(["put", "z", "r", "--if-tag", tag, "a=2"], path)
        for words in [
            ["put", "z", "r", "--if-tag", tag, "a=3"], ["put", "z", "r", "--if-tag", "none", "a=3"],
        ] {
            let refused = try synclog(words, directory: path)
            #expect(refused.status == 1)
            let versions = try JSONParser.parse(refused.text)
            #expect(versions.member("client")?.member("fields")?.member("a") == .string("3"))
            #expect(versions.member("server")?.member("fields")?.member("a") == .string("2"))
            #expect(refused.error.hasPrefix("synclog: conflict: record 'r' in zone 'z'"))
        }
        let deletion = try synclog(["delete", "z", "r", "--if-tag", tag], directory: path)
        #expect(deletion.status == 1)
        #expect(
            try JSONParser.parse(deletion.text).member("server")?.member("fields")?.member("a")
                == .string("2"))
        let missing = try synclog(["put", "z", "other", "--if-tag", tag, "a=3"], directory: path)
        #expect(missing.status == 1)
        #expect(try JSONParser.parse(missing.text).member("server") == .null)
        try must(["put", "z", "other", "--if-tag", "none", "a=3"], path)
    }

    @Test func `an import makes records equal to lines, and a second one changes nothing`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let file = directory("lines")
        writeFile(
            file,
            Array(
                #"{"id":"a","kind":"T","n":1,"x":"y"}"#.utf8 + [10] + #"{"id":"b","kind":"T"}"#.utf8 + [
                    10, 10,
                ]))
        let words = ["import", "z", file, "--key", "id", "--type-field", "kind"]
        #expect(try must(words, path).text == "new 2, changed 0, deleted 0, unchanged 0\n")
        let before = try image(path)
        #expect(try must(words + ["--snapshot"], path).text == "new 0, changed 0, deleted 0, unchanged 2\n")
        #expect(try image(path) == before)
        writeFile(file, Array(#"{"id":"a","kind":"T","n":2}"#.utf8))
        #expect(
            try must(words + ["--merge", "--json"], path).text
                == #"{"new":0,"changed":1,"deleted":0,"unchanged":0}"# + "\n")
        #expect(try must(["get", "z", "a", "--json"], path).text.contains(#""fields":{"n":2,"x":"y"}"#))
        #expect(try must(words + ["--snapshot"], path).text == "new 0, changed 1, deleted 1, unchanged 0\n")
        #expect(try must(["get", "z", "a", "--json"], path).text.contains(#""fields":{"n":2}"#))
        writeFile(file, Array(#"{"id":"c","kind":"U","n":2}"#.utf8))
        #expect(
            try must(words + ["--where", "kind=T"], path).text == "new 0, changed 0, deleted 0, unchanged 0\n"
        )
        #expect(
            try must(words + ["--where", "n=2"], path).text == "new 1, changed 0, deleted 0, unchanged 0\n")
        #expect(
            try must(["import", "z", "-", "--key", "id"], path, input: Array(#"{"id":"c","n":2}"#.utf8)).text
                == "new 0, changed 0, deleted 0, unchanged 1\n")
    }

    @Test func `more than one request's worth of records is imported`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        var lines: [UInt8] = []
        for number in 0..<1001 { lines += Array("{\"id\":\"n\(number)\",\"n\":\(number)}\n".utf8) }
        let big = String(repeating: "x", count: 900_000)
        for number in 0..<5 { lines += Array("{\"id\":\"big\(number)\",\"text\":\"\(big)\"}\n".utf8) }
        // The same name again: the later line counts.
        lines += Array("{\"id\":\"n7\",\"n\":-7}\n".utf8)
        #expect(
            try must(["import", "z", "-", "--key", "id"], path, input: lines).text
                == "new 1006, changed 1, deleted 0, unchanged 0\n")
        #expect(try must(["list", "z"], path).lines.count == 1006)
        #expect(try must(["get", "z", "n7"], path).lines.last == "n:=-7")
    }

    @Test func `export and dump carry everything into a new journal`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        for (place, row) in ValueTests.table.enumerated() where row.kind != "unknown" {
            try must(["put", "values", "v\(place)", FieldArgument.text("v", row.value)], path)
        }
        for name in ["\u{E9}", "e\u{301}", "🦀", "a\nb", "a b", "-", String(repeating: "n", count: 255)] {
            try must(["put", "names", "--", name, "x=\(name)"], path)
        }
        try must(["put", "gone", "r", "a=1"], path)
        try must(["zone", "delete", "gone"], path)
        try must(["put", "gone", "s", "a=1"], path)
        try must(["put", "names", "deleted", "a=1"], path)
        try must(["delete", "names", "deleted"], path)

        func lists(_ path: String) throws -> [[String]] {
            try ["values", "names", "gone", "_defaultZone"].map { zone in
                try must(["list", zone, "--json"], path).lines.map { line in
                    guard case .object(let members) = try JSONParser.parse(line) else { return line }
                    return JSONWriter.text(.object(members.filter { $0.key != "changeTag" }))
                }
            }
        }
        let export = try must(["export"], path).output
        let again = try newJournal(directory, "again")
        try must(["import", "-"], again, input: export)
        let stream = try must(["dump", "-o", "export"], path).output
        let replayed = try newJournal(directory, "replayed")
        let counts = try must(["import", "-", "--format", "export"], replayed, input: stream)
        #expect(counts.text.contains("deleted 1,"))
        #expect(try lists(again) == lists(path))
        #expect(try lists(replayed) == lists(path))
        #expect(
            try must(["dump", "-u", "gone", "-o", "cat"], replayed).lines == [
                "made zone gone", "saved r", "deleted zone gone", "made zone gone", "saved s",
            ])
        // A part of it: only one zone.
        let part = try newJournal(directory, "part")
        try must(["import", "names", "-", "--format", "export"], part, input: stream)
        #expect(try must(["zones"], part).lines == ["_defaultZone", "names"])
        #expect(try must(["list", "names"], part).lines.count == 7)
    }

    @Test func `a copy is made, goes on, and cannot be written`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let copy = directory("copy")
        try must(["put", "z", "r", "a=1"], path)
        let source = "exec:exec '\(synclogPath)' -D '\(path)' serve --stdio"
        try must(["replicate", source], copy)
        try must(["put", "z", "s", "a=1"], path)
        try must(["replicate", path], copy)
        #expect(try must(["list", "z", "--json"], copy).text == must(["list", "z", "--json"], path).text)
        let refused = try synclog(["put", "z", "t", "a=1"], directory: copy)
        #expect(refused.status == 3)
        #expect(try must(["zones"], copy).lines == ["_defaultZone", "z"])
        #expect(try must(["verify"], copy).text.hasPrefix("PASS: "))
    }

    @Test func `a remote database takes every command that works on records`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let remote = "exec:exec '\(synclogPath)' -D '\(path)' serve --stdio"
        try must(["put", "z", "r", "a=1"], remote)
        try must(["zone", "create", "y"], remote)
        #expect(try must(["zones"], remote).lines == ["_defaultZone", "y", "z"])
        #expect(try must(["get", "z", "r"], remote).lines.last == "a=1")
        let export = try must(["export"], remote).output
        #expect(try must(["export"], path).output == export)
        #expect(
            try must(["import", "-"], remote, input: export).text
                == "new 0, changed 0, deleted 0, unchanged 1\n")
        try must(["delete", "z", "r"], remote)
        #expect(try must(["list", "z"], path).output.isEmpty)
        let refused = try synclog(["dump"], directory: remote)
        #expect(refused.status == 2)
    }

    @Test func `a closed pipe ends the tool silently, a full device with a text`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        writeFile(directory("err"), [])
        let error = open(directory("err"), O_WRONLY | O_CLOEXEC)
        let pid = try #require(
            ChildProcess.spawn([synclogPath, "-D", path, "zones"], output: ends[1], error: error))
        close(ends[1])
        close(error)
        #expect(ChildProcess.wait(pid) == 128 + SIGPIPE)
        #expect(try readFile(directory("err")).isEmpty)

        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        let second = open(directory("err"), O_WRONLY | O_CLOEXEC)
        let other = try #require(
            ChildProcess.spawn([synclogPath, "-D", path, "zones"], output: full, error: second))
        close(full)
        close(second)
        #expect(ChildProcess.wait(other) == 3)
        #expect(
            String(decoding: try readFile(directory("err")), as: UTF8.self).contains(
                "No space left on device"))
    }

    @Test func `the variable names the directory, and the option wins`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let other = try newJournal(directory, "other")
        try must(["zone", "create", "here"], path)
        #expect(try synclog(["zones"], environment: ["SYNCLOG_DIR=\(path)"]).lines.contains("here"))
        #expect(
            try !synclog(["zones"], directory: other, environment: ["SYNCLOG_DIR=\(path)"]).lines.contains(
                "here"))
        #expect(try synclog(["zones", "-D", path], directory: other).lines.contains("here"))
    }
}
