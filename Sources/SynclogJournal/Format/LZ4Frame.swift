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

    /// How much work goes into packing.
    enum Effort: Int32 {
        /// For commits: hundreds of megabytes a second.
        case low = 0
        /// For what is packed once and kept: about a tenth less, at a fifth of the speed, and read as fast.
        case high = 4
    }

    /// Appends the frame of `raw` to `output`.
    static func compress(_ raw: [UInt8], _ effort: Effort = .low, into output: inout [UInt8]) {
        var preferences = LZ4F_preferences_t()
        preferences.compressionLevel = effort.rawValue
        preferences.frameInfo.blockSizeID = LZ4F_max4MB
        preferences.frameInfo.blockMode = LZ4F_blockIndependent
        preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
        preferences.frameInfo.contentSize = UInt64(raw.count)
        preferences.autoFlush = 1
        let start = output.count
        let bound = unsafe LZ4F_compressFrameBound(raw.count, &preferences)
        output.append(contentsOf: repeatElement(0, count: bound))
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

    /// Decodes a frame of one block whose content has exactly `rawSize` bytes; with `prefix`, only so many of them.
    /// - Returns: The content, or nil if this is not such a frame.
    static func decode(_ frame: Span<UInt8>, rawSize: Int, prefix: Int = .max) -> [UInt8]? {
        var isValid = false
        let wanted = min(prefix, rawSize)
        let raw = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { target, initialized in
            isValid = unsafe decode(frame, rawSize: rawSize, into: UnsafeMutableRawBufferPointer(target))
            initialized = isValid ? wanted : 0
        }
        return isValid ? raw : nil
    }

    /// Decodes a frame of one block into the first `rawSize` bytes of an array, which grows if it is too small.
    /// - Returns: False if this is not a frame of one block whose content has exactly `rawSize` bytes.
    static func decode(_ frame: Span<UInt8>, rawSize: Int, into raw: inout [UInt8]) -> Bool {
        if raw.count < rawSize { raw = [UInt8](repeating: 0, count: rawSize) }
        return unsafe raw.withUnsafeMutableBytes { bytes in
            unsafe decode(
                frame, rawSize: rawSize, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<rawSize]))
        }
    }

    /// Fills the target with the content's beginning.
    private static func decode(
        _ frame: Span<UInt8>, rawSize: Int, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard frame.count >= overhead, frame.word32(at: 0) == magic, frame[4] == 0x6C,
            frame.word64(at: 6) == UInt64(rawSize)
        else { return false }
        let blockWord = frame.word32(at: headSize)
        let blockSize = Int(blockWord & 0x7FFF_FFFF)
        let start = headSize + 4
        guard blockSize == frame.count - overhead, frame.word32(at: start + blockSize) == 0 else {
            return false
        }
        return unsafe frame.extracting(start..<start + blockSize).withUnsafeBytes { source in
            if blockWord >> 31 == 1 {
                guard blockSize == rawSize else { return false }
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<target.count]))
                return true
            }
            let from = unsafe source.baseAddress?.assumingMemoryBound(to: CChar.self)
            let to = unsafe target.baseAddress?.assumingMemoryBound(to: CChar.self)
            let size = Int32(target.count)
            let decoded =
                unsafe target.count < rawSize
                ? LZ4_decompress_safe_partial(from, to, Int32(blockSize), size, size)
                : LZ4_decompress_safe(from, to, Int32(blockSize), size)
            return decoded == size
        }
    }

    /// Where the padding after a group that ends at `end` ends: a multiple of 4 KiB, with room for the frame's head.
    static func paddedEnd(of end: UInt64) -> UInt64 { (end + 8 + 4095) / 4096 * 4096 }

    /// A filler from `end` to its padded end.
    static func padding(after end: UInt64) -> [UInt8] {
        let size = paddedEnd(of: end) - end - 8
        return skippableHead(fillerMagic, size: size) + [UInt8](repeating: 0, count: Int(size))
    }

    /// The eight bytes before a skippable frame's content.
    static func skippableHead(_ magic: UInt32, size: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendWord32(magic)
        bytes.appendWord32(UInt32(size))
        return bytes
    }
}
