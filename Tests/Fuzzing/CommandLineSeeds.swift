#if DEBUG || FUZZING
    import SynclogJournal
    import SynclogRecords
    import SynclogTestKit

    @testable import SynclogCLI

    /// Numbers that whoever reads numbers must take or refuse.
    private let someNumbers = [
        "0", "7", "-0", "+1", "-1", "", "-", "+", "a", "1a", "\u{E9}", "255", "65535", "1000000", "1000001",
        "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "99999999999999999999",
        "1.5", "-0.0", "1e5", "1e400", "0x10", "00000000000000000000001",
    ]

    /// Every text with each number in place of `#`.
    private func filled(_ texts: [String]) -> [String] {
        texts.flatMap { text in
            guard let place = text.firstIndex(of: "#") else { return [text] }
            return someNumbers.map { text[..<place] + $0 + text[text.index(after: place)...] }
        }
    }

    /// Every command with each of its options, with and without a value, attached and not.
    private func optionTexts() -> [String] {
        SynclogCommand.commands.flatMap { command in
            command.allOptions.flatMap { option -> [String] in
                let long = "\(command.name) --\(option.name)"
                let forms = [
                    long, long + "=#", long + " # x", "\(command.name) --\(option.name.dropLast()) 5",
                ]
                guard let letter = option.letter else { return forms }
                return forms + [
                    "\(command.name) -\(letter)#", "\(command.name) -\(letter) #", "-\(letter)\(letter)",
                ]
            }
        }
    }

    private let someSpans = [
        "us", "\u{B5}s", "\u{3BC}s", "usec", "ms", "msec", "s", "sec", "second", "seconds", "m", "min",
        "minutes",
        "h", "hr", "hours", "d", "days", "w", "weeks", "M", "months", "y", "years", "", "x", "\u{E9}",
    ]

    private func timeTexts() -> [String] {
        let spans = someSpans.flatMap { ["+1\($0)", "-1.5 \($0)", "3\($0) ago", "2 \($0) 1s left"] }
        let days = CalendarNames.weekdays + CalendarNames.longWeekdays
        let months = CalendarNames.months.flatMap { ["\($0) 3", "\($0.lowercased())  31 18:00", "\($0) #"] }
        return spans + months + days.flatMap { ["\($0) 2026-11-30", "\($0), 26-11-30 18:00:01.123456 UTC"] }
            + [
                "now", "today", "yesterday", "tomorrow", "today UTC", "now Europe/London",
                "today Nowhere/Else",
                "2026-02-29", "2024-02-29", "2100-02-29", "2000-02-29 CET", "2026-3-29 02:30 Europe/Berlin",
                "2026-10-25 02:30 CEST", "1-1-1", "69-1-1", "68-12-31", "9999-12-31 23:59:59.999999", "24:00",
                "23:60",
                "1:2", "1:02:3", "1:02:60", "1:02:03.", "2026-13-01", "2026-00-01", "2026-11-00",
                "2026-11-31T",
                "2026-11-30T18", "@", "@-1.5", "@1.", "@#", "+#s", "-# h", "# y ago", "2026-11-30T00:00:#Z",
                "0000-01-01T00:00:00Z", "2026-11-30t18:17:16z", "2026-11-30 18:17:16-23:59",
                "2026-11-30T24:00:00Z",
                "2026-02-30T00:00:00Z", "2026-11-30T00:00:60Z", "2026-11-30T00:00:00+24:00", "#", "nan",
                "-inf", "Infinity",
                "+0000-01-01T00:00:00.1234567Z",
            ]
    }

    private func scriptTexts() -> [String] {
        let counted = ["put", "delete", "group", "relaxed", "age", "lease", "kill"]
        let plain = [
            "sync", "compact", "compact-all", "make-zone", "drop-zone", "follow", "promote", "reopen", "read",
        ]
        return counted.flatMap { ["\($0) #\n", "processes 3\n@2 \($0) 1 1\n", "\($0)"] }
            + plain.flatMap { ["\($0)\n", "processes 2\n@2 \($0)", "\($0) 1"] }
            + MemoryFileSystem.Call.allCases.map { "processes 2\n@2 fail \($0) 5 1\n" } + [
                "fail sync # 1", "fail lock 5 #", "fail x 1 1", "fail sync 1", "processes #",
                "processes 3\n@# sync",
                "exclusive\nprocesses 2", "exclusive 1", "@", "@1", "\u{85}put\u{2003}1\u{2028}",
                "# \n \n put 1 # x",
                "pu\u{301}t 1",
            ]
    }

    private let fieldTexts = [
        "=b", "a", "a=", "a:=#", "a:=[#]", "a:=[1,#]", "a:=[1.5,#]", "a:=[\"x\",#]", "a:={\"x\":#}",
        "a:=true",
        "a:=null", "a:=\"\\u00e9\"", "a:int64=#", "a:double=#", "a:date=#", "a:date=2026-11-30",
        "a:location=#",
        "a:location=1,#", "a:location=1,2,#", "a:location=91,181", "a:bytes=#", "a:bytes=AA==",
        "a:reference=r",
        "a:reference@z=r", "a:reference@=r", "a:string=x", "a:unknown=1", "a:other=1", "a:int64[]=1,#",
        "a:double[]=1.5,#",
        "a:string[]=a,b", "a:date[]=2026-11-30T18:17:16.123Z,#", "a:bytes[]=AA==,", "a:location[]=1,2",
        "a:reference[]=a,b", "a:reference@z[]=a", "a:string[]=", "a:int64:=#", "a:date:=#",
        "a:bytes:=\"AA==\"",
        "a:location:={\"latitude\":1,\"longitude\":#}", "a:reference:={\"recordName\":\"r\",\"zone\":\"z\"}",
        "_a=1", "1=1", "\u{E9}=1", "a b=1", "a@file", "a:=@file", "a\u{301}=e\u{301}\u{7F}\u{1}\n",
    ]

    private let jsonTexts = [
        "#", "[#]", "{\"a\":#}", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\b\\f\\r\\t\\/\\\\\\\"\"",
        "\"\\x\"", "\"\u{1}\"", "[1,]",
        "[1 2]", "{\"a\" 1}", "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":2}", "tru", "nul", "falsy", " [ ] ",
        "[[[[[[]]]]]]",
        "{\"recordName\":\"n\",\"recordType\":\"T\",\"zone\":\"z\",\"fields\":{\"a\":#}}",
        "{\"recordName\":\"n\",\"recordType\":\"T\",\"fields\":{\"a\":[\"x\",null]},\"types\":{\"a\":\"string[]\"}}",
        "{\"recordName\":1}", "{\"recordType\":1}", "{\"fields\":1}",
        "{\"recordName\":\"n\",\"deleted\":true}",
        "{\"latitude\":52.5,\"longitude\":#}", "{\"latitude\":1,\"longitude\":2,\"x\":3}",
        "{\"recordName\":\"r\",\"zone\":#}", "1.0e", "1.", ".5", "01", "-", "1E+5", "\u{FEFF}1",
        "\"\u{7F}\u{2028}\u{E9}\"",
    ]

    func commandLineSeeds() -> [[UInt8]] {
        func seeds(_ kind: Kind, _ texts: [String]) -> [[UInt8]] {
            let first = Kind.allCases.firstIndex(of: kind).map { UInt8($0) } ?? 0
            return texts.map { [first] + Array($0.utf8) }
        }
        let cursor = Cursor(
            kind: .journal, journal: JournalID(high: 1, low: 2), session: 3,
            position: JournalPosition(commit: 4, index: 5))
        let words = someValues.map { FieldArgument.text("field", $0) }
        let lines = someValues.map { value -> String in
            var record = Record(recordType: "T", recordID: Record.ID(recordName: "n"))
            record["f"] = value
            return JSONWriter.text(RecordLine.json(record, zone: "z"))
        }
        return someValues.map { [0] + $0.cbor }
            + seeds(
                .json,
                lines + filled(jsonTexts) + [
                    "[true,false,null,-1.5e-3,\"\\ud83d\\ude00\\n\"]", "{\"a\":[1.5],\"b\":{\"c\":[]}}",
                ])
            + seeds(
                .field,
                words + filled(fieldTexts) + [
                    "a=b", "a:=null", "a:=1", "a:date=2026-11-30T18:17:16.123Z", "a:location=1,2,3",
                    "a:bytes=AAE=",
                ])
            + seeds(
                .kinds,
                [
                    "a:string,b:int64[],c:reference@z", "reference@zones[]", "unknown", "a:double,b:bytes[]",
                    "a:date,b:date[]", "a:location[],b:location", "a:,b:x", ",", "a", "int64", "double[]",
                    "string[]",
                    "reference", "reference@\u{E9}", "a:reference@z:int64", "a:int64,a:double", "A:int64[][]",
                ])
            + seeds(
                .time,
                filled(timeTexts()) + [
                    "2026-11-30T18:17:16.123456+01:00", "-000001-01-01T00:00:00Z",
                    "+292278994-08-17T07:12:55.807Z", "NaN",
                    "1e300", "@1700000000.5", "-3 days 2h", "5min ago", "yesterday",
                    "Mon 2026-11-30 18:00:01.5 CET",
                    "Nov 3", "18:00", "12-1-2 Europe/London", "2 weeks left", "+1y",
                ])
            + seeds(.cursor, [cursor.text])
            + seeds(
                .tag,
                [
                    "9-1-0000abcd", "18446744073709551615-4294967295-ffffffff", "0-0-00000000",
                    "1-4294967296-00000000",
                    "18446744073709551616-1-00000000", "1-1-0000ABCD", "1-1-000000001", "01-1-00000000",
                    "1-1", "1--1-1",
                ])
            + seeds(
                .base64,
                ["AAECAw==", "/+8=", "AAA=", "AAAA", "A", "AA=A", "AA==AA==", "AB==", "====", "-_==", ""])
            + seeds(
                .script,
                filled(scriptTexts()) + [
                    "processes 3\nput 1\n@2 delete 2 # why\n@3 group 4\ncompact\nfail syncData 5 1\nkill 9\n",
                    "exclusive\nrelaxed 3\nsync\ncompact-all\nmake-zone\ndrop-zone\nage 3\nlease 2\nfollow\npromote\nreopen\nread\n",
                ])
            + seeds(
                .options,
                filled(optionTexts()) + [
                    "-D dir --lock-timeout=3 -- a b", "--help", "-hD x", "ssh://me@[::1]:22/~/a%20b",
                    "exec:cat", "ssh://h:#/x", "ssh://h:#", "ssh://", "ssh://@h/x", "ssh://[::1/x",
                    "ssh://h/%2f%zz", "exec:", "a:b", "-",
                    "ssh://me:pw@h/x", "http://h/x", "ssh://-oX/x", "./a:b", "\u{E9}", "dump -o\u{E9}",
                    "dump -x", "dump --",
                    "-S yesterday -n20 --json", "",
                ])
    }
#endif
