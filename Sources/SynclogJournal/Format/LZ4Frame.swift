internal import CLZ4

/// LZ4 frames of one block, with content size and content checksum; the only importer of the library's codec.
enum LZ4Frame {
    /// Magic numbers of frames.
    static let magic: UInt32 = 0x184D_2204
    static let blockHeaderMagic: UInt32 = 0x184D_2A50
    static let indexMagic: UInt32 = 0x184D_2A51
    static let footerMagic: UInt32 = 0x184D_2A52
    static let segmentHeaderMagic: UInt32 = 0x184D_2A53
    static let fillerMagic: UInt32 = 0x184D_2A5F

    /// Magic, flags, descriptor, content size, header checksum; block size; end mark, content checksum.
    private static let headSize = 15
    private static let overhead = headSize + 4 + 8

    /// Appends the frame of `raw` to `output`.
    static func compress(_ raw: [UInt8], into output: inout [UInt8]) {
        var preferences = LZ4F_preferences_t()
        preferences.frameInfo.blockSizeID = LZ4F_max4MB
        preferences.frameInfo.blockMode = LZ4F_blockIndependent
        preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
        preferences.frameInfo.contentSize = UInt64(raw.count)
        preferences.autoFlush = 1
        let start = output.count
        let bound = unsafe LZ4F_compressFrameBound(raw.count, &preferences)
        output += [UInt8](repeating: 0, count: bound)
        let size = unsafe raw.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { target in
                unsafe LZ4F_compressFrame(
                    target.baseAddress.map { unsafe $0 + start }, bound, source.baseAddress, raw.count,
                    &preferences)
            }
        }
        // The bound is the library's own, so this cannot fail on any content.
        precondition(LZ4F_isError(size) == 0)
        output.removeLast(bound - size)
    }

    /// Decodes a frame of one block whose content has exactly `rawSize` bytes.
    /// - Returns: The content, or nil if this is not such a frame.
    static func decode(_ frame: ArraySlice<UInt8>, rawSize: Int) -> [UInt8]? {
        let bytes = frame.startIndex
        let count = frame.count
        func word(_ at: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(frame[bytes + at + $1]) << UInt32($1 * 8) }
        }
        guard count >= overhead, word(0) == magic, frame[bytes + 4] == 0x6C else { return nil }
        guard word(6) == UInt32(rawSize), word(10) == 0 else { return nil }
        let blockWord = word(headSize)
        let blockSize = Int(blockWord & 0x7FFF_FFFF)
        guard blockSize == count - overhead, word(headSize + 4 + blockSize) == 0 else { return nil }
        let start = headSize + 4
        if blockWord >> 31 == 1 {
            guard blockSize == rawSize else { return nil }
            return Array(frame[bytes + start..<bytes + start + blockSize])
        }
        var decoded = 0
        let raw = unsafe [UInt8](unsafeUninitializedCapacity: rawSize) { target, initialized in
            decoded = unsafe frame.withUnsafeBytes { source in
                Int(
                    unsafe LZ4_decompress_safe(
                        source.baseAddress.map { unsafe ($0 + start).assumingMemoryBound(to: CChar.self) },
                        target.baseAddress.map {
                            unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: CChar.self)
                        },
                        Int32(blockSize), Int32(rawSize)))
            }
            initialized = max(0, decoded)
        }
        return decoded == rawSize ? raw : nil
    }

    /// The eight bytes before a skippable frame's content.
    static func skippableHead(_ magic: UInt32, size: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendWord32(magic)
        bytes.appendWord32(UInt32(size))
        return bytes
    }
}
