import Glibc
import TestLanes
import TestSupport
import Testing

@testable import SynclogCLI

/// What was reported of other tools about names, values and locales in their output.
@Suite(.long) struct ReportTests {
    /// Names that look alike, that Swift's strings partly call equal.
    private static let alike = [
        "\u{E9}", "e\u{301}", "\u{C5}", "\u{212B}", "A\u{30A}", "❤", "❤\u{FE0F}", "👨\u{200D}👩\u{200D}👧",
        "👨👩👧",
        "🇩🇪", "\u{1F1E9}\u{200B}\u{1F1EA}",
    ]
    /// Names that are awkward to print.
    private static let odd = [
        "a\nb", "a\tb", "\"", "'", "\\", "..", "../x", "/", " ", "\u{7F}", "\u{1B}[31m", "\u{0}x", "\u{202E}",
        "-",
        "a=b", "\u{FEFF}",
    ]

    private func names(_ path: String, _ zone: String) throws -> [[UInt8]] {
        try must(["list", zone, "--json"], path).lines.map { line in
            guard case .string(let name)? = try JSONParser.parse(line).member("recordName") else { return [] }
            return Array(name.utf8)
        }
    }

    private func bytes(_ names: [String]) -> [[UInt8]] {
        names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// A journal with all of these names, written as lines of JSON.
    private func filled(_ directory: TemporaryDirectory) throws -> String {
        let path = try newJournal(directory)
        for (zone, all) in [("alike", Self.alike), ("odd", Self.odd)] {
            var lines: [UInt8] = []
            for name in all {
                lines += Array(
                    JSONWriter.text(
                        .object([
                            JSONMember(key: "id", value: .string(name)),
                            JSONMember(key: "text", value: .string("of " + name)),
                        ])
                    ).utf8)
                lines.append(10)
            }
            try must(["import", zone, "-", "--key", "id"], path, input: lines)
        }
        return path
    }

    /// Canonically equal names became one record, somewhere on the way.
    @Test func `names that look alike stay apart through put, compaction, a copy, dump and import`() throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        for (place, name) in Self.alike.enumerated() {
            try must(["put", "alike", name, "place:=\(place)"], path)
        }
        try must(["compact"], path)
        let copy = directory("copy")
        try must(["replicate", path], copy)
        let again = try newJournal(directory, "again")
        try must(["import", "-"], again, input: try must(["export"], path).output)
        let replayed = try newJournal(directory, "replayed")
        try must(
            ["import", "-", "--format", "export"], replayed,
            input: try must(["dump", "-o", "export"], path).output)
        for place in [path, copy, again, replayed] {
            #expect(try names(place, "alike") == bytes(Self.alike), "\(place)")
            #expect(try names(place, "odd") == bytes(Self.odd), "\(place)")
            for (number, name) in Self.alike.enumerated() {
                #expect(try must(["get", "alike", name], place).lines.contains("place:=\(number)"))
            }
        }
    }

    /// A name with a line feed made two entries, one with an escape sequence coloured the terminal.
    @Test(arguments: DumpFormats.names)
    func `odd names are printed so that an entry stays an entry`(format: String) throws {
        let directory = TemporaryDirectory()
        let path = try filled(directory)
        let dump = try must(["dump", "-u", "odd", "-o", format], path)
        switch format {
        case "json":
            // Text with control bytes is an array of its bytes, as journalctl has it.
            let seen = try dump.lines.compactMap { line -> [UInt8]? in
                switch try JSONParser.parse(line).member("RECORD") {
                case .string(let name)?: return Array(name.utf8)
                case .array(let bytes)?:
                    return bytes.compactMap { if case .number(let byte) = $0 { UInt8(byte) } else { nil } }
                default: return nil
                }
            }
            #expect(seen.sorted { $0.lexicographicallyPrecedes($1) } == bytes(Self.odd))
        case "export":
            let again = try newJournal(directory, "again")
            try must(["import", "-", "--format", "export"], again, input: dump.output)
            #expect(try names(again, "odd") == bytes(Self.odd))
        case "verbose":
            #expect(dump.lines.filter { $0.hasPrefix("    MESSAGE=") }.count == Self.odd.count + 1)
        default:
            #expect(dump.lines.count == Self.odd.count + 1, "one for the zone and one for each record")
            #expect(
                !dump.output.contains { $0 < 0x20 && $0 != 10 || $0 == 0x7F },
                "control bytes go to the terminal")
        }
    }

    /// Fields beyond four kilobytes were null, or cut.
    @Test(arguments: [4095, 4096, 4097, 65_535, 65_536, 900_000])
    func `a large value is whole in every form for programs`(size: Int) throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        let text = String(repeating: "v", count: size - 1) + "!"
        try must(["put", "z", "r", "-"], path, input: Array(#"{"text":"\#(text)"}"#.utf8))
        let line = try must(["dump", "-u", "z", "-n", "1", "-o", "json"], path).lines[0]
        #expect(try JSONParser.parse(line).member("F_TEXT") == .string(text))
        let record = try JSONParser.parse(try must(["get", "z", "r", "--json"], path).text)
        #expect(record.member("fields")?.member("text") == .string(text))
        #expect(try must(["dump", "-o", "export"], path).text.contains("\nF_TEXT=\(text)\n"))
    }

    /// The locale decided what could be seen: an em dash became blob data.
    @Test func `every locale and every time zone's name gives the same bytes`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        try must(["put", "z", "r", "text=one — two", "lines=a\nb\r\nc", "tab=\t"], path)
        for words in [
            ["dump", "-o", "verbose", "--utc"], ["dump", "-o", "json"], ["dump", "--utc"], ["get", "z", "r"],
        ] {
            let all = try [
                [], ["LANG=C", "LC_ALL=C"], ["LC_ALL=C.UTF-8"], ["LC_ALL=de_DE.UTF-8"], ["LC_ALL=xx"],
            ]
            .map { try synclog(words, directory: path, environment: $0) }
            #expect(all.allSatisfy { $0.status == 0 && $0.output == all[0].output }, "\(words)")
            #expect(all[0].text.contains("one — two") || words == ["dump", "--utc"])
        }
        // Each entry is one line for programs, whatever its values hold.
        #expect(try must(["dump", "-u", "z", "-o", "json"], path).lines.count == 2)
        #expect(try must(["dump", "-u", "z"], path).lines.count == 2)
    }

    /// Midnight of 1970 lies before the epoch in zones east of Greenwich, and was refused.
    @Test(arguments: ["Asia/Tokyo", "Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
    func `a time before the epoch in the local zone is a time`(zone: String) throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        try must(["put", "z", "r", "a=1"], path)
        for (since, until, count) in [
            ("1970-01-01", "now", 2), ("1900-01-01", "1970-01-01", 0), ("-100y", "+1d", 2),
        ] {
            let dump = try synclog(
                ["dump", "-u", "z", "-S", since, "-U", until, "-o", "cat"], directory: path,
                environment: ["TZ=\(zone)"])
            #expect(dump.status == 0 && dump.lines.count == count, "\(since): \(dump.error)")
        }
    }

    /// A cursor at the end gave its own entry once more, in another tool the first match of a filter was lost.
    @Test func `a cursor at the end gives nothing and one before a filter's first match gives it`() throws {
        let directory = TemporaryDirectory()
        let path = try newJournal(directory)
        try must(["put", "a", "first", "x=1"], path)
        let end = try must(["dump", "--show-cursor", "-o", "cat"], path).lines.last ?? ""
        let cursor = String(end.dropFirst(11))
        for format in DumpFormats.names {
            #expect(
                try must(["dump", "-q", "--after-cursor", cursor, "-o", format], path).output.isEmpty,
                "\(format)")
        }
        for name in ["second", "third"] { try must(["put", "b", name, "x=1"], path) }
        let after = try must(["dump", "-u", "b", "--after-cursor", cursor, "-o", "cat"], path)
        #expect(after.lines == ["made zone b", "saved second", "saved third"])
        #expect(try must(["dump", "-u", "a", "--after-cursor", cursor, "-q"], path).output.isEmpty)
    }
}
