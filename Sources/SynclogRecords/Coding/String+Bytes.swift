// Names are compared as UTF-8 bytes: `String ==` takes a composed and a decomposed "é" for one.

extension String {
    /// Whether both have the same bytes.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes come before those of another string.
    package func bytesPrecede(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    /// Feeds the bytes and their end to a hasher.
    package func hashBytes(into hasher: inout Hasher) {
        var copy = self
        copy.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        hasher.combine(0xFF as UInt8)
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
