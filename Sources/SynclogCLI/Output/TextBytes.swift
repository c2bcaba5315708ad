import SynclogJournal
import SynclogRecords

// Text put together in a buffer that is used again and again, without strings in between.

extension [UInt8] {
    /// Appends bytes.
    @inline(__always)
    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends ASCII text that stands in the program.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        let start = unsafe text.utf8Start
        unsafe append(contentsOf: UnsafeBufferPointer(start: start, count: text.utf8CodeUnitCount))
    }

    /// Appends a number in decimal, with leading zeros up to a width.
    mutating func append(decimal number: some FixedWidthInteger, width: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = UInt64(number.magnitude)
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var place = 20
        while rest > 0 {
            place -= 1
            digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        append(digits.span.extracting(Swift.min(place, 20 - width)..<20))
    }

    /// Appends a number in lower-case hex, with leading zeros up to a width.
    mutating func append(hex number: UInt64, width: Int) {
        let significant = (67 - number.leadingZeroBitCount) / 4
        var shift = Swift.max(significant, width) * 4
        while shift > 0 {
            shift -= 4
            append(hexCharacter(UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15))
        }
    }

    /// Appends a record's tag as its text.
    mutating func append(_ tag: ChangeTag) {
        append(hex: tag.commit, width: 1)
        append(UInt8(ascii: "-"))
        append(hex: UInt64(tag.index), width: 1)
        append(UInt8(ascii: "-"))
        append(hex: UInt64(tag.checksum), width: 8)
    }

    /// Appends a name as ``shown(_:)`` shows it.
    mutating func append(shown name: Span<UInt8>) {
        if name.isPrintableASCII {
            append(name)
        } else {
            append(contentsOf: shown(String(decoding: Array(copying: name), as: UTF8.self)).utf8)
        }
    }
}

extension Span<UInt8> {
    /// Whether all bytes are ASCII without control characters.
    var isPrintableASCII: Bool {
        var place = 0
        while count - place >= 8 {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            let odd = ByteWord.below0x20(word) | ByteWord.equal(word, 0x7F) | word
            if odd & ByteWord.tops != 0 { return false }
            place += 8
        }
        while place < count {
            if self[place] < 0x20 || self[place] >= 0x7F { return false }
            place += 1
        }
        return true
    }

    /// The place of the next byte that a JSON string must escape, or the end.
    func nextEscaped(from start: Int) -> Int {
        var place = start
        while count - place >= 8 {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            let found =
                ByteWord.below0x20(word) | ByteWord.equal(word, UInt8(ascii: "\""))
                | ByteWord.equal(word, UInt8(ascii: "\\"))
            if found & ByteWord.tops != 0 { break }
            place += 8
        }
        while place < count {
            let byte = self[place]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            place += 1
        }
        return place
    }
}

/// Eight bytes looked at in one; each test sets the top bits of bytes that pass, exactly for the lowest of them.
enum ByteWord {
    static let tops: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    static func below0x20(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word & tops }

    @inline(__always)
    static func equal(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & tops
    }
}
