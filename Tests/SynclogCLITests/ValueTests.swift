import SynclogRecords
import TestSupport
import Testing

@testable import SynclogCLI

@Suite struct ValueTests {
    /// Values of every kind, with what `list` prints of them.
    static let table: [(value: RecordValue, json: String, kind: String?)] = [
        (.string(""), #""""#, nil), (.string("NUL \0, é"), #""NUL \u0000, é""#, nil),
        (
            .string("\u{1B}[31m \u{9B}31m \u{202E} \u{E0001}"),
            "\"\\u001b[31m \u{9B}31m \u{202E} \u{E0001}\"", nil
        ),
        (.string("5"), #""5""#, nil),
        (.int64(0), "0", nil), (.int64(-1), "-1", nil), (.int64(1 << 53), "9007199254740992", nil),
        (.int64((1 << 53) + 1), #""9007199254740993""#, "int64"),
        (.int64(-(1 << 53) - 1), #""-9007199254740993""#, "int64"),
        (.int64(.max), #""9223372036854775807""#, "int64"),
        (.int64(.min), #""-9223372036854775808""#, "int64"),
        (.double(5), "5.0", nil), (.double(-0.0), "-0.0", nil), (.double(0.1), "0.1", nil),
        (.double(.leastNonzeroMagnitude), "5e-324", nil), (.double(1e300), "1e+300", nil),
        (.double(1e16), "1e+16", nil),
        (.double(.nan), #""NaN""#, "double"), (.double(.infinity), #""inf""#, "double"),
        (.double(-.infinity), #""-inf""#, "double"), (.bytes([]), #""""#, "bytes"),
        (.bytes([0, 255, 10]), #""AP8K""#, "bytes"),
        (.date(milliseconds: 0), #""1970-01-01T00:00:00.000Z""#, "date"),
        (.date(milliseconds: -1), #""1969-12-31T23:59:59.999Z""#, "date"),
        (.date(milliseconds: -62_135_596_800_000), #""0001-01-01T00:00:00.000Z""#, "date"),
        (.date(milliseconds: .max), #""+292278994-08-17T07:12:55.807Z""#, "date"),
        (.date(milliseconds: .min), #""-292275055-05-16T16:47:04.192Z""#, "date"),
        (
            .location(Location(latitude: 1, longitude: -2.5)), #"{"latitude":1.0,"longitude":-2.5}"#,
            "location"
        ),
        (
            .location(
                Location(
                    latitude: 1, longitude: 2, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5,
                    course: 6,
                    speed: 7, timestampMilliseconds: 8)),
            #"{"latitude":1.0,"longitude":2.0,"altitude":3.0,"horizontalAccuracy":4.0,"verticalAccuracy":5.0,"#
                + #""course":6.0,"speed":7.0,"timestamp":"1970-01-01T00:00:00.008Z"}"#, "location"
        ),
        (.reference(Reference(recordName: "r")), #""r""#, "reference"),
        (
            .reference(Reference(recordName: "r", zoneName: "z")), #"{"zone":"z","recordName":"r"}"#,
            "reference@z"
        ),
        (
            .reference(Reference(recordName: "r", zoneName: "a,b[]")), #"{"zone":"a,b[]","recordName":"r"}"#,
            "reference"
        ),
        (.list(.strings([])), "[]", "string[]"), (.list(.strings(["a", ""])), #"["a",""]"#, nil),
        (.list(.int64s([1, 2])), "[1,2]", nil),
        (.list(.int64s([1, .max])), #"[1,"9223372036854775807"]"#, "int64[]"),
        (.list(.doubles([1, 2.5])), "[1.0,2.5]", nil), (.list(.doubles([.nan])), #"["NaN"]"#, "double[]"),
        (.list(.doubles([])), "[]", "double[]"), (.list(.bytes([[1], []])), #"["AQ==",""]"#, "bytes[]"),
        (.list(.dates(milliseconds: [1])), #"["1970-01-01T00:00:00.001Z"]"#, "date[]"),
        (
            .list(.locations([Location(latitude: 0, longitude: 0)])), #"[{"latitude":0.0,"longitude":0.0}]"#,
            "location[]"
        ),
        (
            .list(.references([Reference(recordName: "a"), Reference(recordName: "b")])), #"["a","b"]"#,
            "reference[]"
        ),
        (
            .list(
                .references([
                    Reference(recordName: "a", zoneName: "z"), Reference(recordName: "b", zoneName: "z"),
                ])),
            #"[{"zone":"z","recordName":"a"},{"zone":"z","recordName":"b"}]"#, "reference@z[]"
        ),
        (
            .list(.references([Reference(recordName: "a"), Reference(recordName: "b", zoneName: "z")])),
            #"["a",{"zone":"z","recordName":"b"}]"#, "reference[]"
        ),
        (.unknown(UnknownValue(cbor: [0x81, 0x18, 0x63])), #"{"unknown":"gRhj"}"#, "unknown"),
    ]

    @Test(arguments: table.indices)
    func `a value is printed and read back as the same value`(_ place: Int) throws {
        let (value, json, kind) = Self.table[place]
        #expect(JSONWriter.text(ValueJSON.json(value)) == json)
        #expect(ValueJSON.kindToName(value)?.text == kind)
        let named = try kind.map { try #require(FieldKind($0)) }
        #expect(try ValueJSON.value(try JSONParser.parse(json), kind: named) == value)
    }

    @Test(arguments: table.indices)
    func `a value survives dump and import`(_ place: Int) throws {
        let value = Self.table[place].value
        let dumped = DumpValue(value)
        #expect(try DumpValue(type: dumped.type, values: dumped.values).value() == value)
    }

    @Test(arguments: table.indices)
    func `put takes back what get prints`(_ place: Int) throws {
        let value = Self.table[place].value
        let word = FieldArgument.text("field", value)
        #expect(shown(word).utf8.elementsEqual(word.utf8))
        let argument = try FieldArgument(word)
        #expect(argument.field == "field")
        #expect(argument.value == value)
    }

    @Test(arguments: table.indices)
    func `a record with the value is a line that reads back`(_ place: Int) throws {
        let value = Self.table[place].value
        var record = Record(
            recordType: "T", recordID: Record.ID(recordName: "n", zoneID: RecordZone.ID(zoneName: "own")))
        record["f"] = value
        let line = try RecordLine(RecordLine.json(record), kinds: KindTable())
        #expect(line.fields.map(\.value) == [value])
        #expect(line.recordType == "T")
    }

    /// The same record printed from what is stored and from its values.
    @Test(arguments: table.indices)
    func `a stored record is printed as its line`(_ place: Int) throws {
        var record = Record(
            recordType: "T",
            recordID: Record.ID(recordName: "n\"\u{1F}\u{E9}", zoneID: RecordZone.ID(zoneName: "own")))
        record["f"] = Self.table[place].value
        record["g"] = "x"
        let value = StoredRecord(type: "T", fields: record.fields, created: 5).encoded()
        let tag = ChangeTag(commit: 0xFEDC_BA98_7654, index: 0, checksum: 0x00AB_CDEF)
        record.recordChangeTag = tag
        var places = RecordPlaces()
        try places.read(value.span)
        let name = Array(record.recordID.recordName.utf8)
        let stored = JournalDatabase.LiveRecord(
            name: name.span, value: value.span, places: places, tag: tag)
        var line: [UInt8] = []
        RecordForm.json(zone: "own").append(stored, to: &line)
        #expect(
            String(decoding: line, as: UTF8.self)
                == JSONWriter.text(RecordLine.json(record, zone: "own")) + "\n")
        line = []
        RecordForm.row.append(stored, to: &line)
        #expect(
            String(decoding: line, as: UTF8.self)
                == "\(shown(record.recordID.recordName))\tT\t\(tag.text)\n")
    }

    @Test(arguments: [
        ("a=b", RecordValue.string("b")), ("a=", .string("")), ("a==", .string("=")),
        ("a=:=5", .string(":=5")),
        ("a:=5", .int64(5)), ("a:=true", .int64(1)), ("a:=false", .int64(0)), ("a:=5.0", .double(5)),
        ("a:=1e3", .double(1000)), ("a:=\"x\"", .string("x")), ("a:=[1,2]", .list(.int64s([1, 2]))),
        ("a:=[1,2.5]", .list(.doubles([1, 2.5]))), ("a:=[true]", .list(.int64s([1]))),
        ("a:int64=-5", .int64(-5)), ("a:double=5", .double(5)), ("a:double=inf", .double(.infinity)),
        ("a:bytes=AAE=", .bytes([0, 1])), ("a:date=1970-01-01T01:00:00+01:00", .date(milliseconds: 0)),
        ("a:location=1,-2.5", .location(Location(latitude: 1, longitude: -2.5))),
        ("a:location=1,2,3", .location(Location(latitude: 1, longitude: 2, altitude: 3))),
        ("a:reference=x", .reference(Reference(recordName: "x"))),
        ("a:reference@z=x=y", .reference(Reference(recordName: "x=y", zoneName: "z"))),
        ("a:double:=5", .double(5)), ("a:string[]:=[]", .list(.strings([]))),
        ("a:reference@z[]:=[\"x\"]", .list(.references([Reference(recordName: "x", zoneName: "z")]))),
        ("a:date[]:=[\"1970-01-01T00:00:00Z\"]", .list(.dates(milliseconds: [0]))),
    ])
    func `a word becomes a field`(_ word: String, _ value: RecordValue) throws {
        #expect(try FieldArgument(word).value == value)
    }

    /// Found by the fuzzer: to whoever compares Characters, a sign before a combining mark is no sign, and it was lost with the
    /// mark.
    @Test(arguments: ["\u{301}x", "\u{200D}", "\u{FE0F}", "\u{301}"])
    func `a text may begin with a combining character`(_ text: String) throws {
        #expect(try FieldArgument("a=" + text).value == .string(text))
        #expect(
            try FieldArgument("a:reference@\(text)z=\(text)").value
                == .reference(Reference(recordName: text, zoneName: text + "z")))
    }

    /// Found by the fuzzer: zones whose names the grammar cannot hold, or a terminal would act on, stood in the word as they are.
    @Test(arguments: [
        "", "a=b", "=", "a,b", ",\u{301}", "z[]", "[]\u{301}", "\u{17}", "\u{9B}31m", "\u{301}", "z\u{301}",
        "z:", ":",
        "a@b", "\u{111C2}", "=\u{301}",
    ])
    func `a reference into a zone of any name is printed so that put takes it back`(_ zone: String) throws {
        let reference = Reference(recordName: "n", zoneName: zone)
        for value in [RecordValue.reference(reference), .list(.references([reference, reference]))] {
            let word = FieldArgument.text("f", value)
            #expect(try FieldArgument(word).value == value)
            #expect(shown(word).hasSameBytes(as: word))
            let kind = FieldKind(of: value)
            #expect(try KindTable(option: "f:\(kind.text),g:date")["f"] == kind)
        }
    }

    /// Found by the fuzzer: an action that only a newer version writes was not printed, and so lost on the way back.
    @Test func `a reference with an action of a newer version is printed whole`() throws {
        let reference = Reference(recordName: "n", zoneName: "z", action: Reference.Action(rawValue: 14))
        for value in [
            RecordValue.reference(reference), .list(.references([Reference(recordName: "m"), reference])),
        ] {
            #expect(try FieldArgument(FieldArgument.text("f", value)).value == value)
            #expect(try ValueJSON.value(ValueJSON.json(value), kind: ValueJSON.kindToName(value)) == value)
            #expect(try DumpValue(value).value() == value)
        }
    }

    /// Found by the fuzzer: bytes that are no CBOR, or more than one item, were stored and made the whole record unreadable.
    @Test(arguments: ["", "AAAA", "gwEC", "YQ==", "/w=="])
    func `an unknown value that is not one whole item is refused`(_ text: String) throws {
        let word = "f:unknown:={\"unknown\":\"\(text)\"}"
        let failure = #expect(throws: CommandFailure.self) { try FieldArgument(word) }
        #expect(failure?.code == .usage)
        var dumped = DumpValue(.unknown(UnknownValue(cbor: [0x81, 0x18, 0x63])))
        dumped.values = [try #require(Base64.decode(text))]
        #expect(throws: ValueError.self) { try dumped.value() }
    }

    @Test func `null clears a field`() throws {
        #expect(try FieldArgument("a:=null").value == nil)
        #expect(try FieldArgument("a:date:=null").value == nil)
    }

    @Test(arguments: [
        "word", "=x", ":=5", "1a=x", "a-b=x", "é=x", "a:nothing=5", "a:asset=x", "a:int64=5.5", "a:int64=+5",
        "a:int64=9223372036854775808", "a:double=five", "a:double=NAN", "a:double=1e999", "a:bytes=AA",
        "a:date=today",
        "a:date=2026-02-29T00:00:00Z", "a:location=1", "a:location=1,2,3,4", "a:location=x,y", "a:string[]=x",
        "a:=",
        "a:={", "a:={}", "a:=[]", "a:=[1,\"x\"]", "a:=[[1]]", "a:=[null]", "a:=9223372036854775808",
        "a:=1e999",
        "a:location:={}", "a:location:={\"latitude\":1}",
        "a:location:={\"latitude\":1,\"longitude\":2,\"x\":3}",
        "a:location:=\"1,2\"", "a:reference:={\"zone\":\"z\"}", "a:reference:=5", "a:bytes:=5", "a:string:=5",
        "a:int64:=5.0", "a:date[]:=\"1970-01-01T00:00:00Z\"", "a:string:=[\"x\"]", "a:unknown=x", "a:bytes",
    ])
    func `a word that is no field is refused`(_ word: String) {
        let failure = #expect(throws: CommandFailure.self) { try FieldArgument(word) }
        #expect(failure?.code == .usage)
        #expect(failure?.next != nil)
    }

    @Test func `types of the command line are read, doubled ones refused`() throws {
        let table = try KindTable(option: "tzif:bytes,target:reference@zones,location:location,days:date[]")
        #expect(table["target"]?.text == "reference@zones")
        #expect(table["days"]?.text == "date[]")
        #expect(table["other"] == nil)
        #expect(throws: CommandFailure.self) { try KindTable(option: "a") }
        #expect(throws: CommandFailure.self) { try KindTable(option: "a:colour") }
        #expect(throws: CommandFailure.self) { try KindTable(option: "a:bytes,a:date") }
    }

    @Test func `names that are canonically equal stay two fields`() throws {
        let json = try JSONParser.parse("{\"recordName\":\"e\u{301}\",\"fields\":{\"a\":1},\"types\":{}}")
        let line = try RecordLine(json, kinds: KindTable())
        #expect(Array(line.recordName!.utf8) == [0x65, 0xCC, 0x81])
    }

    @Test func `random doubles are printed so that they read back`() throws {
        let seed = UInt64.random(in: 0...999_999)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let value = RecordValue.double(Double(bitPattern: random.next()))
            let kind = ValueJSON.kindToName(value)
            let text = JSONWriter.text(ValueJSON.json(value))
            #expect(try ValueJSON.value(try JSONParser.parse(text), kind: kind) == value)
        }
    }
}
