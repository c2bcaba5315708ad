// Names are compared as UTF-8 bytes: `String ==` takes a composed and a decomposed "é" for one.

extension String {
    /// Whether both have the same bytes.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.span.hasSameBytes(as: other.utf8.span)
    }

    /// Whether the bytes come before those of another string.
    package func bytesPrecede(_ other: String) -> Bool { utf8.span.bytesPrecede(other.utf8.span) }

    /// Feeds the bytes and their end to a hasher.
    package func hashBytes(into hasher: inout Hasher) {
        unsafe utf8.span.withUnsafeBytes { bytes in unsafe hasher.combine(bytes: bytes) }
        hasher.combine(0xFF as UInt8)
    }
}

extension Span<UInt8> {
    /// Whether both have the same bytes.
    package func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var place = 0
        while count - place >= 8 {
            let mine = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            let its = unsafe other.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            if mine != its { return false }
            place += 8
        }
        while place < count {
            if self[place] != other[place] { return false }
            place += 1
        }
        return true
    }

    /// Whether the bytes come before those of another span.
    package func bytesPrecede(_ other: Span<UInt8>) -> Bool {
        let common = Swift.min(count, other.count)
        var place = 0
        while common - place >= 8 {
            let mine = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            let its = unsafe other.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            if mine != its { return UInt64(bigEndian: mine) < UInt64(bigEndian: its) }
            place += 8
        }
        while place < common {
            if self[place] != other[place] { return self[place] < other[place] }
            place += 1
        }
        return count < other.count
    }
}

/// Whether two optional strings are both nil or have the same bytes.
func haveSameBytes(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.hasSameBytes(as: b)
}

/// Whether two lists of strings have the same bytes in the same order.
func haveSameBytes(_ a: [String], _ b: [String]) -> Bool {
    a.elementsEqual(b) { first, second in first.hasSameBytes(as: second) }
}
