/// The name of a segment file: its number and its generation in hex.
package struct SegmentName: Hashable, Comparable, Sendable {
    var number: UInt64
    var generation: UInt32

    /// The file's name.
    package var text: String {
        hexadecimal(number, digits: 16) + "-" + hexadecimal(UInt64(generation), digits: 4) + ".lz4"
    }

    init(number: UInt64, generation: UInt32) {
        self.number = number
        self.generation = generation
    }

    /// Reads a file's name; nil if it is not a segment's.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (25...29).contains(bytes.count), text.hasSuffix(".lz4"), bytes[16] == UInt8(ascii: "-"),
            let number = UInt64(text.prefix(16), radix: 16),
            let generation = UInt32(text.dropFirst(17).dropLast(4), radix: 16)
        else { return nil }
        self.number = number
        self.generation = generation
        guard self.text == text else { return nil }
    }

    package static func < (a: SegmentName, b: SegmentName) -> Bool {
        (a.number, a.generation) < (b.number, b.generation)
    }
}
