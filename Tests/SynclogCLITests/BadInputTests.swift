import Glibc
import TestLanes
import TestSupport
import Testing

@testable import SynclogCLI

@Suite(.long) struct BadInputTests {
    /// One wrong command line and what must come of it.
    struct Row: Sendable, CustomTestStringConvertible {
        var words: [String]
        var status: Int32
        var says: String
        var input = ""
        var testDescription: String { "\(words.joined(separator: " ").prefix(60)) \(input.prefix(30))" }

        init(_ words: [String], _ status: Int32, _ says: String, input: String = "") {
            self.words = words
            self.status = status
            self.says = says
            self.input = input
        }
    }

    private static let rows: [Row] = [
        Row(["frobnicate"], 2, "unknown command 'frobnicate'"),
        Row(["zones", "--frob"], 2, "unknown option '--frob'"),
        Row(["zones", "x"], 2, "'x' is too much"), Row(["get", "z"], 2, "get: something is missing"),
        Row(["list", "nowhere"], 1, "zone 'nowhere'"), Row(["export", "nowhere"], 1, "zone 'nowhere'"),
        Row(["get", "z", "nobody"], 1, "record 'nobody' in zone 'z' is not there"),
        Row(["get", "nowhere", "a"], 1, "nowhere"), Row(["delete", "z", "nobody"], 1, "'nobody'"),
        Row(["zone", "delete", "nowhere"], 1, "'nowhere'"),
        Row(["zone", "rename", "z"], 2, "neither create nor delete"),
        Row(["zone", "create", ""], 2, "name"), Row(["zone", "create", "_mine"], 2, "_"),
        Row(["put", "nowhere", "a", "x=1", "--no-create"], 1, "zone 'nowhere' is not there"),
        Row(["put", "z", "", "x=1"], 2, "name"),
        Row(["put", "z", String(repeating: "n", count: 256), "x=1"], 2, "255"),
        Row(["put", "z", "_a", "x=1"], 2, "_"), Row(["put", "z", "a", "word"], 2, "'word' is no field"),
        Row(["put", "z", "a", "x:={"], 2, "not JSON at column 2"),
        Row(["put", "z", "a", "x:colour=1"], 2, "colour"),
        Row(["put", "z", "a", "x=1", "--type", "1x"], 2, "type"),
        Row(["put", "z", "a", "--if-tag", "nonsense", "x=1"], 2, "--if-tag"),
        Row(["put", "z", "a", "-"], 2, "standard input, line 2, column 3", input: "{\n  x"),
        Row(["put", "z", "a", "-"], 2, "an array, not an object", input: "[]"),
        Row(["put", "z", "a", "-", "--types", "x:date"], 2, "'x'", input: #"{"x":"yesterday"}"#),
        Row(["import", "z", "/nonexistent/file", "--key", "id"], 3, "/nonexistent/file"),
        Row(["import", "z", "/", "--key", "id"], 3, "is a directory"),
        Row(
            ["import", "z", "-", "--key", "id"], 2, "line 3, column 7", input: "{\"id\":\"n\"}\n\n{\"id\":}\n"
        ),
        Row(
            ["import", "z", "-", "--key", "id"], 2, "line 2 lacks a name",
            input: "{\"id\":\"n\"}\n{\"x\":1}\n"),
        Row(["import", "z", "-", "--key", "id"], 2, "line 1: the record's name", input: "{\"id\":\"_n\"}\n"),
        Row(["import", "z", "-", "--key", "id"], 2, "'b-c'", input: "{\"id\":\"n\",\"b-c\":1}\n"),
        Row(
            ["import", "z", "-", "--key", "id", "--type-field", "t"], 2, "lacks a type",
            input: "{\"id\":\"n\"}\n"),
        Row(["import", "z", "-", "--key", "id", "--types", "x:asset"], 2, "asset", input: ""),
        Row(["import", "-", "--key", "id"], 2, "--key needs a zone"),
        Row(["import", "-"], 2, "--key", input: "{\"id\":1}\n"),
        Row(["import", "-"], 2, "lacks 'zone'", input: #"{"recordName":"a","fields":{}}"#),
        Row(["import", "-", "--format", "xml"], 2, "xml"),
        Row(["import", "-", "--format", "export"], 2, "entry 1", input: "x"),
        Row(
            ["import", "new", "-", "--key", "id", "--no-create"], 1, "'new' is not there",
            input: "{\"id\":\"n\"}\n"),
        Row(["import", "z", "-", "--key", "id", "--where", "x"], 2, "--where"),
        Row(["dump", "-c", "nonsense"], 2, "malformed"), Row(["dump", "-o", "xml"], 2, "short, short-full"),
        Row(["dump", "-n-1"], 2, "-n"), Row(["dump", "-n", "x"], 2, "'x'"),
        Row(["dump", "-S", "soon"], 2, "soon"),
        Row(["dump", "-S", "today", "-U", "yesterday"], 2, "--since is after --until"),
        Row(["dump", "-fr"], 2, "-f and -r"),
        Row(["replicate"], 2, "missing"), Row(["serve"], 2, "--stdio"),
        Row(["init"], 3, "holds a journal already"),
        Row(["zones", "--lock-timeout", "soon"], 2, "--lock-timeout"),
        Row(
            ["crashtest", "--script", "-"], 2, "line 2 is no step", input: "processes 2\nexclusive\nput 1\n"),
        Row(["demo", "--data", "/nonexistent"], 3, "/nonexistent"),
        Row(["zones", "-D", "/nonexistent"], 3, "synclog init"),
        Row(["zones", "-D", "/dev/null"], 3, "'/dev/null' is no journal"),
        Row(["init", "-D", "/nonexistent/deep"], 3, "mkdir: No such file or directory; check the path"),
        Row(["snapshot", "/nonexistent/deep"], 3, "mkdir: No such file or directory; check the path"),
        Row(["zones", "-D", "exec:exit 3"], 5, "exec:"),
        Row(["zones", "-D", "exec:printf nonsense"], 5, "exec:"),
        Row(["zones", "-D", "ssh://-oProxyCommand=x/y"], 2, "ssh://"),
        Row(["dump", "-D", "exec:true"], 2, "directory of this machine"),
    ]

    @Test(arguments: rows)
    func `one line says what is wrong, the status fits, nothing is written`(_ row: Row) throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        try must(["put", "z", "r", "a=1"], path)
        let before = try image(path)
        let ended = try synclog(row.words, directory: path, input: Array(row.input.utf8))
        #expect(ended.status == row.status, "\(ended.error)")
        #expect(ended.error.contains(row.says), "\(ended.error)")
        #expect(ended.error.hasPrefix("synclog: "), "\(ended.error)")
        #expect(ended.error.split(separator: "\n").count == 1, "\(ended.error)")
        #expect(ended.error.contains(";"), "no next step: \(ended.error)")
        #expect(ended.output.isEmpty)
        #expect(try image(path) == before)
        withExtendedLifetime(directory) {}
    }

    @Test func `a directory of another program is refused`() throws {
        let directory = TemporaryDirectory()
        writeFile(directory("notes.txt"), Array("mine".utf8))
        for words in [
            ["zones"], ["put", "z", "a", "x=1"], ["init"], ["verify"], ["dump"], ["stats"],
            ["replicate", directory.path],
        ] {
            let ended = try synclog(words, directory: directory.path)
            #expect(ended.status == 3, "\(words): \(ended.error)")
            #expect(ended.error.split(separator: "\n").count == 1)
        }
        #expect(try image(directory.path).keys.sorted() == ["notes.txt"])
    }

    @Test func `no command but init and replicate makes a directory`() throws {
        let directory = TemporaryDirectory()
        let path = directory("missing")
        for command in SynclogCommand.commands
        where !["init", "replicate", "demo", "crashtest"].contains(command.name) {
            let operands: [String: [String]] = [
                "zone": ["create", "z"], "put": ["z", "a", "x=1"], "get": ["z", "a"], "delete": ["z", "a"],
                "list": ["z"],
                "import": ["z", "-", "--key", "id"], "serve": ["--stdio"], "snapshot": [directory("copy")],
            ]
            let ended = try synclog([command.name] + (operands[command.name] ?? []), directory: path)
            #expect(ended.status == 3, "\(command.name): \(ended.error)")
            #expect(access(path, F_OK) != 0, "\(command.name)")
        }
        #expect(try synclog(["replicate", directory("nothing")], directory: path).status == 3)
        withExtendedLifetime(directory) {}
    }

    @Test func `without a directory every command is a usage error`() throws {
        let ended = try synclog(["zones"])
        #expect(ended.status == 2)
        #expect(ended.error == "synclog: no directory; give -D DIR or set SYNCLOG_DIR\n")
        #expect(try synclog([]).status == 2)
    }

    @Test func `a lock that another process holds is busy, and readers do not mind`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        try must(["put", "z", "r", "a=1"], path)
        let lock = open("\(path)/LOCK", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX) == 0)
        defer { close(lock) }
        let before = try image(path)
        let ended = try synclog(["put", "z", "r", "a=2", "--lock-timeout", "0.05"], directory: path)
        #expect(ended.status == 75)
        #expect(ended.error.contains("busy"))
        #expect(try synclog(["get", "z", "r"], directory: path).status == 0)
        #expect(try image(path) == before)
        withExtendedLifetime(directory) {}
    }
}
