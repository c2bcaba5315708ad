/// Bytes that are not the CBOR that was asked for, with the offset where that showed.
package struct CBORError: Error, Hashable, Sendable {
    package var offset: Int

    package init(offset: Int) { self.offset = offset }
}

/// The major types of RFC 8949 section 3.1.
package enum CBORMajor: UInt8, Sendable {
    case unsigned = 0
    case negative = 1
    case bytes = 2
    case text = 3
    case array = 4
    case map = 5
    case tag = 6
    case simple = 7
}

/// Writes CBOR items one behind the other, definite lengths and shortest heads only.
package struct CBORWriter: Sendable {
    package var bytes: [UInt8]

    package init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    @inline(__always)
    package mutating func head(_ major: CBORMajor, _ value: UInt64) {
        let top = major.rawValue << 5
        if value < 24 {
            bytes.append(top | UInt8(truncatingIfNeeded: value))
        } else if value <= 0xFF {
            bytes.append(top | 24)
            bytes.append(UInt8(truncatingIfNeeded: value))
        } else if value <= 0xFFFF {
            bytes.append(top | 25)
            bigEndian(value, count: 2)
        } else if value <= 0xFFFF_FFFF {
            bytes.append(top | 26)
            bigEndian(value, count: 4)
        } else {
            bytes.append(top | 27)
            bigEndian(value, count: 8)
        }
    }

    private mutating func bigEndian(_ value: UInt64, count: Int) {
        var shift = UInt64(count * 8)
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    package mutating func unsigned(_ value: UInt64) { head(.unsigned, value) }

    package mutating func integer(_ value: Int64) {
        if value >= 0 {
            head(.unsigned, UInt64(value))
        } else {
            head(.negative, UInt64(bitPattern: ~value))
        }
    }

    package mutating func byteString(_ value: [UInt8]) {
        head(.bytes, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func text(_ value: String) {
        let utf8 = value.utf8
        head(.text, UInt64(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    package mutating func array(_ count: Int) { head(.array, UInt64(count)) }
    package mutating func map(_ count: Int) { head(.map, UInt64(count)) }
    package mutating func tag(_ number: UInt64) { head(.tag, number) }
    package mutating func bool(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }
    package mutating func null() { bytes.append(0xF6) }

    /// Always eight bytes; every NaN is written as the quiet one.
    package mutating func double(_ value: Double) {
        bytes.append(0xFB)
        bigEndian(value.isNaN ? 0x7FF8_0000_0000_0000 : value.bitPattern, count: 8)
    }

    /// Appends one or more whole items as they are.
    package mutating func raw(_ items: [UInt8]) { bytes.append(contentsOf: items) }
}

/// Reads CBOR items; bad bytes throw, lengths are believed only as far as there are bytes.
package struct CBORReader: Sendable {
    package let bytes: [UInt8]
    package private(set) var offset: Int
    private let end: Int

    package init(_ bytes: [UInt8], from offset: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.offset = offset
        self.end = min(end ?? bytes.count, bytes.count)
    }

    package var isAtEnd: Bool { offset >= end }
    package var remaining: Int { end - offset }

    /// The major type of the next item.
    package func peek() throws(CBORError) -> CBORMajor {
        guard offset < end, let major = CBORMajor(rawValue: bytes[offset] >> 5) else { throw error() }
        return major
    }

    /// The first byte of the next item.
    package func peekByte() throws(CBORError) -> UInt8 {
        guard offset < end else { throw error() }
        return bytes[offset]
    }

    package func error() -> CBORError { CBORError(offset: offset) }

    /// Reads with a scanner, and goes on where it ended.
    @inline(__always)
    private mutating func scan<Value>(
        _ body: (inout CBORScanner) throws(CBORError) -> Value
    ) throws(CBORError) -> Value {
        var scanner = CBORScanner(bytes.span, from: offset, to: end)
        let value = try body(&scanner)
        offset = scanner.offset
        return value
    }

    /// Reads an item's head; indefinite lengths are refused.
    package mutating func head() throws(CBORError) -> (major: CBORMajor, value: UInt64) {
        try scan { scanner throws(CBORError) in try scanner.head() }
    }

    private mutating func expect(_ major: CBORMajor) throws(CBORError) -> UInt64 {
        try scan { scanner throws(CBORError) in try scanner.expect(major) }
    }

    /// A length of bytes that are there.
    private mutating func length(_ major: CBORMajor) throws(CBORError) -> Int {
        try scan { scanner throws(CBORError) in try scanner.length(major) }
    }

    package mutating func unsigned() throws(CBORError) -> UInt64 {
        try scan { scanner throws(CBORError) in try scanner.unsigned() }
    }

    package mutating func integer() throws(CBORError) -> Int64 {
        try scan { scanner throws(CBORError) in try scanner.integer() }
    }

    package mutating func byteString() throws(CBORError) -> [UInt8] {
        let count = try length(.bytes)
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    package mutating func text() throws(CBORError) -> String {
        let start = offset
        let count = try length(.text)
        guard let text = String(validating: bytes[offset..<offset + count], as: UTF8.self) else {
            throw CBORError(offset: start)
        }
        offset += count
        return text
    }

    /// The number of items of an array; there are at least as many bytes left.
    package mutating func array() throws(CBORError) -> Int { try length(.array) }

    /// The number of pairs of a map; there are at least twice as many bytes left.
    package mutating func map() throws(CBORError) -> Int {
        let start = offset
        let count = try length(.map)
        guard count <= (end - offset) / 2 else { throw CBORError(offset: start) }
        return count
    }

    package mutating func tag() throws(CBORError) -> UInt64 { try expect(.tag) }

    package mutating func double() throws(CBORError) -> Double {
        let start = offset
        guard offset < end, bytes[offset] == 0xFB else { throw error() }
        let (_, value) = try head()
        guard offset - start == 9 else { throw CBORError(offset: start) }
        return Double(bitPattern: value)
    }

    package mutating func bool() throws(CBORError) -> Bool {
        switch try peekByte() {
        case 0xF4:
            offset += 1
            return false
        case 0xF5:
            offset += 1
            return true
        default: throw error()
        }
    }

    /// Reads a null if the next item is one.
    package mutating func nullIfPresent() throws(CBORError) -> Bool {
        guard try peekByte() == 0xF6 else { return false }
        offset += 1
        return true
    }

    /// Skips one whole item.
    package mutating func skip() throws(CBORError) {
        var scanner = CBORScanner(bytes.span, from: offset, to: end)
        offset = try scanner.skip().upperBound
    }

    /// Takes one whole item as it is.
    package mutating func rawItem() throws(CBORError) -> [UInt8] {
        let start = offset
        try skip()
        return Array(bytes[start..<offset])
    }
}
