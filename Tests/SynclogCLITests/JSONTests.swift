import TestSupport
import Testing

@testable import SynclogCLI

@Suite struct JSONTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "12", "-7", "0.5", "-0.0", "1e5", "1E-7", "1.25e+10",
        "123456789012345678901234567890", #""""#, #""text""#, #""é 🦀""#, #""\"\\\n\t\r\b\f\u0000\u001f""#,
        "[]",
        "[1,2]", "[[],[[]]]", "{}", #"{"a":1}"#, #"{"b":1,"a":[{"c":null}]}"#,
        "{\"\u{E9}\":1,\"e\u{301}\":2}", "\"a/b\u{7F}\"",
    ])
    func `what the writer wrote is read back as the same bytes`(_ text: String) throws {
        #expect(JSONWriter.text(try JSONParser.parse(text)).utf8.elementsEqual(text.utf8))
    }

    @Test(arguments: [
        (#""\u00e9\ud83e\udd80\/""#, "é🦀/"), (#""\u0041\u00DF""#, "Aß"), ("  \t\r\n\"x\"  ", "x"),
    ])
    func `escapes and white space are understood`(_ text: String, _ expected: String) throws {
        #expect(try JSONParser.parse(text) == .string(expected))
    }

    @Test(arguments: [
        ("", 1, 1), ("{", 1, 2), ("[1,]", 1, 4), ("[1 2]", 1, 4), ("{\"a\" 1}", 1, 6), ("{\"a\":1,}", 1, 8),
        ("{a:1}", 1, 2), ("{\"a\":1,\"a\":2}", 1, 8), ("{\"a\":1,\"\\u0061\":2}", 1, 8), ("01", 1, 1),
        ("1.", 1, 3),
        (".5", 1, 1), ("+1", 1, 1), ("1e", 1, 3), ("- 1", 1, 2), ("nul", 1, 1), ("NaN", 1, 1), ("'a'", 1, 1),
        ("\"a", 1, 1), ("\"a\nb\"", 1, 3), ("\"\\x\"", 1, 2), ("\"\\ud800\"", 1, 2), ("\"\\udc00\"", 1, 2),
        ("\"\\ud800\\u0041\"", 1, 2), ("\"\\u12g4\"", 1, 2), ("1 2", 1, 3), ("[1]\n  ]", 2, 3),
        ("{\n \"é\": x}", 2, 7), ("// c\n1", 1, 1), ("[1,2", 1, 5), ("\u{FEFF}1", 1, 1),
    ])
    func `what is no JSON is refused with line and column`(_ text: String, _ line: Int, _ column: Int) {
        let error = #expect(throws: JSONError.self) { try JSONParser.parse(text) }
        #expect(error?.line == line)
        #expect(error?.column == column)
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        for bytes in [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22],
        ] {
            #expect(throws: JSONError.self) { try JSONParser.parse(bytes.map { UInt8($0) }) }
        }
    }

    @Test func `depth has a limit`() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try JSONParser.parse(deepest) }
        let error = #expect(throws: JSONError.self) { try JSONParser.parse("[" + deepest + "]") }
        #expect(error?.reason == "nested deeper than 64")
        #expect(throws: JSONError.self) { try JSONParser.parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test func `the line of a file is counted from where the text stands in it`() {
        let error = #expect(throws: JSONError.self) { try JSONParser.parse(Array("{".utf8), line: 17) }
        #expect(error?.line == 17)
    }

    @Test func `random bytes never trap`() {
        let seed = UInt64.random(in: 0...999_999)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("{}[]\",:\\u0019eE+-.tfnaé \n".utf8)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &random)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &random)! }
            if let value = try? JSONParser.parse(bytes) {
                #expect((try? JSONParser.parse(JSONWriter.bytes(value))) == value)
            }
        }
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base64 is as RFC 4648 shows it`(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm9v\n", "Zm-_", " Zm9v"])
    func `what is not the one form of base64 is refused`(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
