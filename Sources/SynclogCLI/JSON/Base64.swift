/// Base64 of RFC 4648 section 4, with padding and without line ends.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (place, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(place) }
        return table
    }()

    /// The text of bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        append(bytes.span, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the text of bytes.
    static func append(_ bytes: Span<UInt8>, to out: inout [UInt8]) {
        let alphabet = Self.alphabet
        var place = 0
        while place < bytes.count {
            let rest = min(3, bytes.count - place)
            let group =
                UInt32(bytes[place]) << 16 | (rest > 1 ? UInt32(bytes[place + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(bytes[place + 2]) : 0)
            out.append(alphabet[Int(group >> 18)])
            out.append(alphabet[Int(group >> 12 & 63)])
            out.append(rest > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            out.append(rest > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
            place += 3
        }
    }

    /// The bytes of a text, or nil if it is not base64 in its one canonical form.
    static func decode(_ text: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        let values = Self.values
        guard letters.count % 4 == 0 else { return nil }
        var out: [UInt8] = []
        out.reserveCapacity(letters.count / 4 * 3)
        var place = 0
        while place < letters.count {
            let last = place + 4 == letters.count
            var padding = 0
            if last, letters[place + 3] == UInt8(ascii: "=") {
                padding = letters[place + 2] == UInt8(ascii: "=") ? 2 : 1
            }
            var group: UInt32 = 0
            for step in 0..<4 - padding {
                let value = values[Int(letters[place + step])]
                guard value != 0xFF else { return nil }
                group |= UInt32(value) << UInt32(18 - 6 * step)
            }
            // Bits that no byte takes must be zero, or two texts would mean the same bytes.
            guard padding == 0 || group & (padding == 1 ? 0xFF : 0xFFFF) == 0 else { return nil }
            out.append(UInt8(group >> 16))
            if padding < 2 { out.append(UInt8(group >> 8 & 255)) }
            if padding < 1 { out.append(UInt8(group & 255)) }
            place += 4
        }
        return out
    }
}
