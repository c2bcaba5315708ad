/// Fixed-width integers in byte arrays, little-endian; an offset out of bounds is a programmer error and traps.
extension [UInt8] {
    @inline(__always)
    func word32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset + 4 <= count)
        return unsafe withUnsafeBytes {
            unsafe UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
    }

    @inline(__always)
    func word64(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset + 8 <= count)
        return unsafe withUnsafeBytes {
            unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }

    @inline(__always)
    mutating func setWord32(_ value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset + 4 <= count)
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
        }
    }

    @inline(__always)
    mutating func setWord64(_ value: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset + 8 <= count)
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
    }

    mutating func appendWord32(_ value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func appendWord64(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// The CRC of a range.
    func crc(_ range: Range<Int>) -> UInt32 {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe withUnsafeBytes { unsafe crc32c(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The CRC of a range, begun with the CRC of a salt and the range's offset in its file.
    func placedCRC(_ range: Range<Int>, salt: UInt64, offset: UInt64) -> UInt32 {
        span.placedCRC(range, salt: salt, offset: offset)
    }
}

/// The CRC of 16 bytes: a segment's salt and an offset, so that bytes of another place are never taken for valid.
func placeSeed(salt: UInt64, offset: UInt64) -> UInt32 {
    let words = (salt.littleEndian, offset.littleEndian)
    return unsafe withUnsafeBytes(of: words) { unsafe crc32c($0) }
}

/// Fixed-width integers in spans, little-endian; an offset out of bounds is a programmer error and traps.
extension Span<UInt8> {
    @inline(__always)
    func word32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset + 4 <= count)
        return unsafe UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    @inline(__always)
    func word64(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset + 8 <= count)
        return unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The CRC of a range, begun with the CRC of a salt and the range's offset in its file.
    func placedCRC(_ range: Range<Int>, salt: UInt64, offset: UInt64) -> UInt32 {
        crc32c(extracting(range), seed: placeSeed(salt: salt, offset: offset))
    }
}
