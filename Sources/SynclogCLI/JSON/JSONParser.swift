import SynclogRecords

/// A strict parser of RFC 8259: no comments, no trailing commas, no doubled keys, no lone surrogates.
struct JSONParser {
    /// Arrays and objects nested deeper are refused.
    static let depthMax = 64

    private let bytes: [UInt8]
    private var offset: Int
    private let firstLine: Int

    private init(_ bytes: [UInt8], line: Int) {
        self.bytes = bytes
        offset = 0
        firstLine = line
    }

    /// The one value that the bytes hold; `line` is the number of their first line.
    static func parse(_ bytes: [UInt8], line: Int = 1) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, line: line)
        parser.skipSpace()
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.offset == bytes.count else { throw parser.error("more text after the value") }
        return value
    }

    /// The one value that a text holds.
    static func parse(_ text: String) throws(JSONError) -> JSONValue { try parse(Array(text.utf8)) }

    private func error(_ reason: String, at place: Int? = nil) -> JSONError {
        var line = firstLine
        var column = 1
        for byte in bytes[..<min(place ?? offset, bytes.count)] {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return JSONError(line: line, column: column, reason: reason)
    }

    private var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard let first = byte else { throw error("the text ends where a value should be") }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw error("not the beginning of a value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let text = Array("\(word)".utf8)
        guard bytes.count - offset >= text.count, bytes[offset..<offset + text.count].elementsEqual(text)
        else {
            throw error("not the beginning of a value")
        }
        offset += text.count
        return value
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < Self.depthMax else { throw error("nested deeper than \(Self.depthMax)") }
        offset += 1
        var items: [JSONValue] = []
        skipSpace()
        if byte == UInt8(ascii: "]") {
            offset += 1
            return .array(items)
        }
        while true {
            skipSpace()
            items.append(try value(depth: depth + 1))
            skipSpace()
            guard let next = byte else { throw error("the text ends inside an array") }
            offset += 1
            if next == UInt8(ascii: "]") { return .array(items) }
            guard next == UInt8(ascii: ",") else {
                throw error("a comma or the end of the array should be here", at: offset - 1)
            }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < Self.depthMax else { throw error("nested deeper than \(Self.depthMax)") }
        offset += 1
        var members: [JSONMember] = []
        var keys: Set<[UInt8]> = []
        skipSpace()
        if byte == UInt8(ascii: "}") {
            offset += 1
            return .object(members)
        }
        while true {
            skipSpace()
            let start = offset
            guard byte == UInt8(ascii: "\"") else {
                throw error(byte == nil ? "the text ends inside an object" : "a key in quotes should be here")
            }
            let key = try string()
            // Few keys are compared one by one, which is cheaper than a set of them.
            let isNew: Bool
            if members.count < 16 {
                isNew = !members.contains { $0.key.hasSameBytes(as: key) }
            } else {
                if keys.isEmpty { keys = Set(members.map { Array($0.key.utf8) }) }
                isNew = keys.insert(Array(key.utf8)).inserted
            }
            guard isNew else { throw error("the key is here twice", at: start) }
            skipSpace()
            guard byte == UInt8(ascii: ":") else { throw error("a colon should be here") }
            offset += 1
            skipSpace()
            members.append(JSONMember(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            guard let next = byte else { throw error("the text ends inside an object") }
            offset += 1
            if next == UInt8(ascii: "}") { return .object(members) }
            guard next == UInt8(ascii: ",") else {
                throw error("a comma or the end of the object should be here", at: offset - 1)
            }
        }
    }

    private mutating func number() throws(JSONError) -> String {
        let start = offset
        if byte == UInt8(ascii: "-") { offset += 1 }
        if byte == UInt8(ascii: "0") {
            offset += 1
        } else {
            try digits()
        }
        if byte == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            offset += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        if let byte, isDigit(byte) { throw error("a number may not begin with 0", at: start) }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func digits() throws(JSONError) {
        guard let first = byte, isDigit(first) else { throw error("a digit should be here") }
        while let byte, isDigit(byte) { offset += 1 }
    }

    private mutating func string() throws(JSONError) -> String {
        let opening = offset
        offset += 1
        var plain = offset
        var text: [UInt8] = []
        while true {
            let next = bytes.span.nextEscaped(from: offset)
            offset = next
            guard let byte else { break }
            switch byte {
            case UInt8(ascii: "\""):
                let result: String?
                if text.isEmpty {
                    result = String(validating: bytes[plain..<offset], as: UTF8.self)
                } else {
                    text += bytes[plain..<offset]
                    result = String(validating: text, as: UTF8.self)
                }
                guard let result else { throw error("the string is not UTF-8", at: opening) }
                offset += 1
                return result
            case UInt8(ascii: "\\"):
                text += bytes[plain..<offset]
                try escape(into: &text)
                plain = offset
            default: throw error("a control character in a string must be written as an escape")
            }
        }
        throw error("the string that begins here has no end", at: opening)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let start = offset
        offset += 1
        guard let letter = byte else { throw error("the text ends inside a string") }
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourHexDigits(start)
            if code >= 0xD800, code < 0xDC00, bytes.count - offset >= 2, bytes[offset] == UInt8(ascii: "\\"),
                bytes[offset + 1] == UInt8(ascii: "u")
            {
                offset += 2
                let low = try fourHexDigits(start)
                guard low >= 0xDC00, low < 0xE000 else { throw error("half of a surrogate pair", at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw error("half of a surrogate pair", at: start)
            }
            text += UTF8.encode(scalar).map { Array($0) } ?? []
        default: throw error("an unknown escape", at: start)
        }
    }

    private mutating func fourHexDigits(_ start: Int) throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte, let digit = hexDigit(byte) else {
                throw error("four hex digits should follow", at: start)
            }
            code = code << 4 | UInt32(digit)
            offset += 1
        }
        return code
    }
}

/// The value of a hex digit.
func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
