/// Reads CBOR items where they lie, without a copy; bad bytes throw, lengths are believed only as far as there are bytes.
package struct CBORScanner: ~Escapable {
    private let bytes: Span<UInt8>
    /// Where the next item begins.
    package private(set) var offset: Int
    private let end: Int
    /// Nested items beyond this depth are refused.
    private static let depthMax = 64

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>, from offset: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.offset = offset
        self.end = min(end ?? bytes.count, bytes.count)
    }

    package var isAtEnd: Bool { offset >= end }

    package func error() -> CBORError { CBORError(offset: offset) }

    /// The major type of the next item.
    package func peek() throws(CBORError) -> CBORMajor {
        guard offset < end, let major = CBORMajor(rawValue: bytes[offset] >> 5) else { throw error() }
        return major
    }

    /// Reads an item's head; indefinite lengths are refused.
    @inline(__always)
    package mutating func head() throws(CBORError) -> (major: CBORMajor, value: UInt64) {
        guard offset < end, let major = CBORMajor(rawValue: bytes[offset] >> 5) else { throw error() }
        let low = bytes[offset] & 31
        if low < 24 {
            offset += 1
            return (major, UInt64(low))
        }
        if low == 24, end - offset > 1 {
            defer { offset += 2 }
            return (major, UInt64(bytes[offset + 1]))
        }
        return (major, try longValue(low))
    }

    private mutating func longValue(_ low: UInt8) throws(CBORError) -> UInt64 {
        guard let number = bytes.headNumber(low, at: offset + 1, before: end) else { throw error() }
        offset += 1 + number.size
        return number.value
    }

    mutating func expect(_ major: CBORMajor) throws(CBORError) -> UInt64 {
        let start = offset
        let (found, value) = try head()
        guard found == major else { throw CBORError(offset: start) }
        return value
    }

    /// A length of bytes that are there.
    mutating func length(_ major: CBORMajor) throws(CBORError) -> Int {
        let start = offset
        let value = try expect(major)
        guard value <= UInt64(end - offset) else { throw CBORError(offset: start) }
        return Int(value)
    }

    package mutating func unsigned() throws(CBORError) -> UInt64 { try expect(.unsigned) }

    package mutating func integer() throws(CBORError) -> Int64 {
        let start = offset
        let (major, value) = try head()
        guard major == .unsigned || major == .negative, value <= UInt64(Int64.max) else {
            throw CBORError(offset: start)
        }
        return major == .unsigned ? Int64(value) : ~Int64(value)
    }

    /// The place of a byte string's bytes.
    package mutating func byteString() throws(CBORError) -> Range<Int> {
        let count = try length(.bytes)
        defer { offset += count }
        return offset..<offset + count
    }

    /// The place of a text's bytes, which are UTF-8.
    package mutating func text() throws(CBORError) -> Range<Int> {
        let start = offset
        let count = try length(.text)
        let place = offset..<offset + count
        guard bytes.extracting(place).isUTF8 else { throw CBORError(offset: start) }
        offset += count
        return place
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

    package mutating func double() throws(CBORError) -> Double {
        let start = offset
        guard offset < end, bytes[offset] == 0xFB else { throw error() }
        let (_, value) = try head()
        guard offset - start == 9 else { throw CBORError(offset: start) }
        return Double(bitPattern: value)
    }

    /// Skips one whole item.
    /// - Returns: Its place.
    @discardableResult
    package mutating func skip() throws(CBORError) -> Range<Int> {
        let start = offset
        try skip(depth: 0)
        return start..<offset
    }

    private mutating func skip(depth: Int) throws(CBORError) {
        guard depth < Self.depthMax else { throw error() }
        let start = offset
        let (major, value) = try head()
        switch major {
        case .unsigned, .negative, .simple: break
        case .bytes, .text:
            guard value <= UInt64(end - offset) else { throw CBORError(offset: start) }
            offset += Int(value)
        case .array, .map:
            let items = major == .map ? value.multipliedReportingOverflow(by: 2) : (value, false)
            guard !items.1, items.0 <= UInt64(end - offset) else { throw CBORError(offset: start) }
            for _ in 0..<Int(items.0) { try skip(depth: depth + 1) }
        case .tag: try skip(depth: depth + 1)
        }
    }
}

extension Span<UInt8> {
    /// The number that a head with these low bits has at a place, and its size; nil without one before the end.
    @inline(__always)
    func headNumber(_ low: UInt8, at place: Int, before end: Int) -> (value: UInt64, size: Int)? {
        guard (24...27).contains(low) else { return nil }
        let size = 1 << Int(low - 24)
        guard place + size <= end else { return nil }
        let value: UInt64 =
            switch size {
            case 1: UInt64(self[place])
            case 2: UInt64(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt16.self).bigEndian)
            case 4: UInt64(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self).bigEndian)
            default: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self).bigEndian
            }
        return (value, size)
    }

    /// Whether all bytes are below 0x80.
    package var isASCII: Bool {
        var place = 0
        var all: UInt64 = 0
        while count - place >= 8 {
            all |= unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < count {
            all |= UInt64(self[place])
            place += 1
        }
        return all & 0x8080_8080_8080_8080 == 0
    }

    /// Whether the bytes are UTF-8.
    package var isUTF8: Bool {
        if isASCII { return true }
        do {
            _ = try UTF8Span(validating: self)
            return true
        } catch {
            return false
        }
    }
}
