internal import CLZ4

/// The CRC32C of bytes (Castagnoli polynomial, as in RFC 3720), going on from an earlier value.
package func crc32c(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
    unsafe synclog_crc32c(seed, bytes.baseAddress, bytes.count)
}

/// The CRC32C of an array's bytes.
package func crc32c(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
    unsafe bytes.withUnsafeBytes { buffer in unsafe crc32c(buffer, seed: seed) }
}

/// The CRC32C of a span's bytes.
package func crc32c(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
    unsafe bytes.withUnsafeBytes { buffer in unsafe crc32c(buffer, seed: seed) }
}
