import TestSupport
import Testing

@testable import SynclogCLI

/// Looking at eight bytes at once finds what looking at each finds.
@Suite struct TextBytesTests {
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `bytes to escape and control bytes are found anywhere`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        // Mostly letters, with the bytes that matter and their neighbours between.
        let odd: [UInt8] = [
            0, 0x09, 0x0A, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7E, 0x7F, 0x80, 0xFF,
        ]
        let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ -> UInt8 in
            guard Int.random(in: 0..<12, using: &generator) == 0 else { return UInt8(ascii: "m") }
            return odd[Int.random(in: 0..<odd.count, using: &generator)]
        }
        #expect(bytes.span.isPrintableASCII == bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "seed \(seed)")
        for start in 0...bytes.count {
            let next = bytes[start...].firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C } ?? bytes.count
            #expect(bytes.span.nextEscaped(from: start) == next, "seed \(seed)")
        }
    }

    @Test(arguments: [0, 1, -1, 9, 10, 12345, .max, .min] as [Int64])
    func `numbers are written as strings write them`(_ number: Int64) {
        var out: [UInt8] = []
        out.append(decimal: number)
        out.append(UInt8(ascii: " "))
        out.append(hex: number.magnitude, width: 1)
        #expect(String(decoding: out, as: UTF8.self) == "\(number) \(String(number.magnitude, radix: 16))")
        out = []
        out.append(hex: number.magnitude, width: 17)
        #expect(out.count == 17)
    }

    @Test(arguments: [
        ("", true), ("plain", true), ("tab\t", true), ("line\nfeed", true), ("\r", false), ("\u{7F}", false),
        ("\u{80}", false), ("é\u{9F}", false), ("é\u{A0}", true), ("漢字🌍", true), ("\u{0}", false),
    ])
    func `text is told from bytes`(_ text: String, _ isText: Bool) {
        let bytes = Array(text.utf8)
        let withLineFeeds = PrintableText.isText(bytes.span, lineFeeds: true)
        let withoutLineFeeds = PrintableText.isText(bytes.span, lineFeeds: false)
        #expect(withLineFeeds == isText)
        #expect(withoutLineFeeds == (isText && !bytes.contains(0x0A)))
        guard let last = bytes.last, last >= 0x80 else { return }
        let cut = Array(bytes.dropLast())
        let isCutText = PrintableText.isText(cut.span, lineFeeds: true)
        #expect(!isCutText)
    }
}
