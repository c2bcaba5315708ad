/// Writes JSON on one line: no spaces, `/` as it is, control characters as escapes, everything else as UTF-8.
enum JSONWriter {
    /// The bytes of a value.
    static func bytes(_ value: JSONValue) -> [UInt8] {
        var out: [UInt8] = []
        append(value, to: &out)
        return out
    }

    /// The text of a value.
    static func text(_ value: JSONValue) -> String { String(decoding: bytes(value), as: UTF8.self) }

    /// Appends a value.
    static func append(_ value: JSONValue, to out: inout [UInt8]) {
        switch value {
        case .null: out.append("null")
        case .bool(let flag): out += (flag ? "true" : "false").utf8
        case .number(let text): out += text.utf8
        case .string(let text): append(string: text, to: &out)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (place, item) in items.enumerated() {
                if place > 0 { out.append(UInt8(ascii: ",")) }
                append(item, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (place, member) in members.enumerated() {
                if place > 0 { out.append(UInt8(ascii: ",")) }
                append(string: member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                append(member.value, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string in quotes.
    static func append(string text: String, to out: inout [UInt8]) {
        append(utf8: text.utf8.span, to: &out)
    }

    /// Appends a string that is given as its UTF-8 in quotes.
    static func append(utf8 bytes: Span<UInt8>, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        var plain = 0
        while true {
            let place = bytes.nextEscaped(from: plain)
            out.append(bytes.extracting(plain..<place))
            guard place < bytes.count else { break }
            appendEscape(of: bytes[place], to: &out)
            plain = place + 1
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(of byte: UInt8, to out: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            out.append(UInt8(ascii: "\\"))
            out.append(byte)
        case 0x08: out.append("\\b")
        case 0x09: out.append("\\t")
        case 0x0A: out.append("\\n")
        case 0x0C: out.append("\\f")
        case 0x0D: out.append("\\r")
        default:
            out.append("\\u00")
            out.append(hexCharacter(byte >> 4))
            out.append(hexCharacter(byte & 15))
        }
    }
}

/// The lower-case hex digit of a number below 16.
func hexCharacter(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
