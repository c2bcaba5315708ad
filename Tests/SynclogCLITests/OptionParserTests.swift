import Testing

@testable import SynclogCLI

@Suite struct OptionParserTests {
    private static let table = [
        Option("follow", "f", help: ""), Option("force", help: ""), Option("reverse", "r", help: ""),
        Option("lines", "n", .optional("N", follows: { Int($0) != nil }), help: ""),
        Option("output", "o", .required("MODE"), help: ""), Option("zone", "u", .required("ZONE"), help: ""),
    ]

    private func parsed(_ words: [String]) throws -> String {
        let (result, _) = try OptionParser(options: Self.table).parse(words)
        let options = result.all.map { found in found.value.map { "\(found.name)=\($0)" } ?? found.name }
        return (options + ["|"] + result.operands).joined(separator: " ")
    }

    @Test(arguments: [
        (["-f"], "follow |"), (["-fr"], "follow reverse |"), (["-fn20"], "follow lines=20 |"),
        (["-n", "20", "a"], "lines=20 | a"), (["-n", "x"], "lines | x"), (["-n"], "lines |"),
        (["--lines"], "lines |"), (["--lines=7"], "lines=7 |"), (["--lines", "7"], "lines=7 |"),
        (["-o", "json"], "output=json |"), (["-ojson"], "output=json |"),
        (["-fojson"], "follow output=json |"),
        (["--output=json"], "output=json |"), (["--output", "json"], "output=json |"),
        (["--out=a=b"], "output=a=b |"), (["--rev"], "reverse |"), (["-u", "-x"], "zone=-x |"),
        (["a", "-f", "b"], "follow | a b"), (["--", "-f", "--", "b"], "| -f -- b"), (["-"], "| -"),
        (["--output="], "output= |"), (["-u", "a", "--zone", "b"], "zone=a zone=b |"),
    ])
    func `words become options and operands`(_ words: [String], _ expected: String) throws {
        #expect(try parsed(words) == expected)
    }

    @Test(arguments: [
        (["-x"], "unknown option '-x'"), (["--nothing"], "unknown option '--nothing'"),
        (["--fo"], "option '--fo' may be --follow, --force"), (["-o"], "option '-o' needs a value: MODE"),
        (["--output"], "option '--output' needs a value: MODE"), (["-fx"], "unknown option '-x'"),
        (["--follow=yes"], "option '--follow' takes no value"), (["--=x"], "unknown option '--'"),
    ])
    func `a wrong word is a usage error that names it`(_ words: [String], _ message: String) {
        let failure = #expect(throws: CommandFailure.self) { try parsed(words) }
        #expect(failure?.message == message)
        #expect(failure?.code == .usage)
    }

    @Test func `the last value of an option counts, and all can be had`() throws {
        let (result, _) = try OptionParser(options: Self.table).parse(["-u", "a", "-u", "b"])
        #expect(result.value("zone") == "b")
        #expect(result.values("zone") == ["a", "b"])
    }

    @Test func `an exact name wins over longer ones`() throws {
        let table = [Option("since", help: ""), Option("since-start", help: "")]
        #expect(try OptionParser(options: table).parse(["--since"]).0.has("since"))
    }
}
