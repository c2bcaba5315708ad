import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

@testable import SynclogCLI

@Suite struct DumpFormatTests {
    /// 2023-11-14 22:13:49.123456 UTC, 29.001 s after the session's label.
    private static let entry: DumpEntry = {
        let position = JournalPosition(commit: 300, index: 2)
        let cursor = Cursor(
            kind: .journal, journal: JournalID(high: 1, low: 2), session: 0xABCD, position: position)
        var entry = DumpEntry()
        entry.address = DumpEntry.Address(
            position: position, cursor: cursor, wall: 1_700_000_029_123_456, monotonic: 29_001_000)
        entry.text.append("shopping/Item[300]")
        entry.endSubject()
        entry.add("MESSAGE", "saved milk")
        entry.add("PRIORITY", "6".utf8.span)
        entry.add("FIELD_TYPES", #"{"dueDate":"string"}"#)
        let fields: [(String, [[UInt8]])] = [
            ("dueDate", [Array("a/b\tc".utf8)]), ("list", [Array("x".utf8), [], Array("y".utf8)]),
            ("blob", [[0, 127, 255]]), ("lines", [Array("a\nb".utf8)]), ("del", [[0x61, 0x7F]]),
        ]
        for (key, values) in fields {
            entry.begin(user: key.utf8.span)
            for value in values {
                entry.text += value
                entry.endValue()
            }
        }
        return entry
    }()

    private func text(_ format: String, _ entries: [DumpEntry] = [entry]) throws -> String {
        var format = try #require(DumpFormats.format(format, clock: .utc))
        var out: [UInt8] = []
        for entry in entries { format.append(entry, to: &out) }
        return String(decoding: out, as: UTF8.self)
    }

    @Test(arguments: [
        ("short", "Nov 14 22:13:49"), ("short-full", "Tue 2023-11-14 22:13:49 UTC"),
        ("short-iso", "2023-11-14T22:13:49+00:00"), ("short-iso-precise", "2023-11-14T22:13:49.123456+00:00"),
        ("short-precise", "Nov 14 22:13:49.123456"), ("short-monotonic", "[   29.001000]"),
        ("short-unix", "1700000029.123456"), ("short-delta", "[   29.001000               ]"),
    ])
    func `a short form begins with its time`(_ format: String, _ time: String) throws {
        #expect(try text(format) == "\(time) local shopping/Item[300]: saved milk\n")
    }

    @Test func `a delta counts from the entry before, and is marked across sessions`() throws {
        var later = Self.entry
        later.address.monotonic += 1_000_000
        var other = later
        other.address.cursor.session = 7
        other.address.monotonic = 5_000_000
        let lines = try text("short-delta", [Self.entry, later, other]).split(separator: "\n")
        #expect(lines[1].hasPrefix("[   30.001000 <    1.000000 >] local"))
        #expect(lines[2].hasPrefix("[    5.000000 <    5.000000*>] local"))
    }

    @Test func `cat prints messages only`() throws {
        #expect(try text("cat") == "saved milk\n")
    }

    @Test func `verbose prints every field, bytes by their number`() throws {
        #expect(
            try text("verbose") == """
                Tue 2023-11-14 22:13:49.123456 UTC [\(Self.entry.address.cursor.text)]
                    MESSAGE=saved milk
                    PRIORITY=6
                    FIELD_TYPES={"dueDate":"string"}
                    .dueDate=a/b\tc
                    .list=x
                    .list=
                    .list=y
                    .blob=[3B blob data]
                    .lines=a
                           b
                    .del=[2B blob data]

                """)
    }

    @Test func `json prints sorted strings, bytes as numbers, repeated fields as arrays`() throws {
        #expect(
            try text("json")
                == #"{"__CURSOR":"\#(Self.entry.address.cursor.text)","__SEQNUM":"300","__INDEX":"2","#
                + #""__SEQNUM_ID":"00000000000000010000000000000002","__REALTIME_TIMESTAMP":"1700000029123456","#
                + #""__MONOTONIC_TIMESTAMP":"29001000","_BOOT_ID":"0000000000000000000000000000abcd","#
                + #""FIELD_TYPES":"{\"dueDate\":\"string\"}","F_BLOB":[0,127,255],"F_DEL":[97,127],"#
                + #""F_DUE_44ATE":"a/b\tc","F_LINES":"a\nb","F_LIST":["x","","y"],"MESSAGE":"saved milk","#
                + #""PRIORITY":"6"}"# + "\n")
    }

    @Test func `export prints text as lines and everything else with its size`() throws {
        var out: [UInt8] = []
        ExportFormat().append(Self.entry, to: &out)
        var expected = Array(
            """
            __CURSOR=\(Self.entry.address.cursor.text)
            __SEQNUM=300
            __INDEX=2
            __SEQNUM_ID=00000000000000010000000000000002
            __REALTIME_TIMESTAMP=1700000029123456
            __MONOTONIC_TIMESTAMP=29001000
            _BOOT_ID=0000000000000000000000000000abcd
            MESSAGE=saved milk
            PRIORITY=6
            FIELD_TYPES={"dueDate":"string"}
            F_DUE_44ATE=a/b\tc
            F_LIST=x
            F_LIST=
            F_LIST=y

            """.utf8)
        expected += Array("F_BLOB\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0, 0, 127, 255, 10]
        expected += Array("F_LINES\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("a\nb\n".utf8)
        expected += Array("F_DEL\n".utf8) + [2, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x7F, 10] + [10]
        #expect(out == expected)
    }

    @Test(arguments: [("due", "F_DUE"), ("dueDate", "F_DUE_44ATE"), ("a_1", "F_A_5F1"), ("X", "F__58")])
    func `names of fields become names that importers keep`(_ key: String, _ name: String) {
        #expect(UserFieldName.encode(key) == name)
        #expect(UserFieldName.decode(name) == key)
    }

    @Test(arguments: ["MESSAGE", "F_a", "F__5", "F__5G", "F__FF", "_F_A"])
    func `a name that is not ours is nobody's field`(_ name: String) {
        #expect(UserFieldName.decode(name) == nil)
    }

    @Test(arguments: [
        ("zones", "zones", true), ("zones", "zone", false), ("z*", "zones", true), ("*s", "zones", true),
        ("z?nes", "zones", true), ("?", "", false), ("*", "", true), ("**a*", "banana", true),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "axxbyy", false), ("[z]", "z", false), ("\u{E9}", "e\u{301}", false),
    ])
    func `a pattern fits`(_ pattern: String, _ text: String, _ fits: Bool) {
        #expect(GlobPattern(pattern).matches(text) == fits)
    }

    @Test(arguments: [
        ("MESSAGE", "this is not the journal export format"), ("OP=save\n\n", "ZONE is missing"),
        ("OP=save\nZONE=z\n\n", "RECORD is missing"),
        ("OP=save\nZONE=z\nRECORD=r\n\n", "TYPE or FIELD_TYPES is missing"),
        ("lower=x\n\n", "this is not the journal export format"),
        ("OP=save\nZONE=z\nRECORD=r\nTYPE=T\nFIELD_TYPES=[]\n\n", "FIELD_TYPES is no JSON object"),
        (
            "OP=save\nZONE=z\nRECORD=r\nTYPE=T\nFIELD_TYPES={\"n\":\"int64\"}\nF_N=x\n\n",
            "is not a whole number"
        ),
        ("OP=save\nZONE=z\nRECORD=r\nTYPE=T\nFIELD_TYPES={\"n\":\"int64\"}\n\n", "has 0 values"),
        (
            "OP=save\nZONE=z\nRECORD=r\nTYPE=T\nFIELD_TYPES={\"n\":\"asset\"}\nF_N=x\n\n",
            "has an unknown type"
        ),
        ("F_A\n\u{3}\0\0\0\0\0\0\0abcd\n\n", "another length"), ("F_A\n\u{3}\0", "ends inside a field"),
        ("F_A\n\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}", "too long"),
    ])
    func `a stream that is none is refused by entry`(_ stream: String, _ reason: String) async {
        let input = InputReader(bytes: Array(stream.utf8), name: "'in'")
        var failure: CommandFailure?
        do throws(CommandFailure) {
            try await ExportStream().read(input) { _ throws(CommandFailure) in }
        } catch {
            failure = error
        }
        if stream == "MESSAGE" {
            #expect(failure?.message == "'in', entry 1: the stream ends inside a field")
        } else {
            #expect(failure?.message.contains(reason) == true, "\(String(describing: failure))")
        }
        #expect(failure?.code == .usage)
    }
}
