import SynclogJournal

/// What the files of a journal say, read by the format article alone.
public enum JournalFiles {
    /// One valid slot of HEAD.
    public struct Head: Hashable, Sendable {
        /// The slot's counter.
        public var counter: UInt64
        /// The number of the segment.
        public var segment: UInt64
        /// The end of what is durable in it.
        public var end: Int
        /// The last durable commit.
        public var commit: UInt64
    }

    /// The slot of HEAD that counts, or nil.
    public static func head(_ bytes: [UInt8]) -> Head? {
        var best: Head?
        for start in [0, 512] where bytes.count >= start + 512 {
            let slot = Array(bytes[start..<start + 512])
            guard Array(slot[0..<8]) == Array("SYNCHEAD".utf8),
                crc32c(Array(slot[0..<508])) == UInt32(at(508, slot, 4))
            else { continue }
            let head = Head(
                counter: at(8, slot), segment: at(48, slot), end: Int(at(64, slot)), commit: at(72, slot))
            if head.counter > best?.counter ?? 0 { best = head }
        }
        return best
    }

    /// One frame of a segment.
    public struct Frame: Hashable, Sendable {
        /// The offset in the file.
        public var offset: Int
        /// All its bytes; the LZ4 frame included for a block.
        public var size: Int
        /// The lowest byte of the magic.
        public var kind: UInt8
    }

    /// The frames of a segment behind its head, as far as they can be walked.
    public static func frames(_ bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var offset = 4096
        while offset + 8 <= bytes.count {
            let magic = at(offset, bytes, 4)
            guard magic >> 8 == 0x18_4D2A, magic & 0xF0 == 0x50 else { break }
            var size = 8 + Int(at(offset + 4, bytes, 4))
            if magic & 0xFF == 0x50, offset + 12 <= bytes.count { size += Int(at(offset + 8, bytes, 4)) }
            frames.append(Frame(offset: offset, size: size, kind: UInt8(magic & 0xFF)))
            offset += size
        }
        return frames
    }

    /// A little-endian integer.
    public static func at(_ offset: Int, _ bytes: [UInt8], _ count: Int = 8) -> UInt64 {
        (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[offset + $1]) }
    }

    /// The names of segment files, in order.
    public static func segments(_ names: some Sequence<String>) -> [String] {
        names.compactMap { SegmentName($0) }.sorted().map(\.text)
    }
}

extension MemoryFileSystem {
    /// The paths of a journal's segment files, in order.
    public func segments(of journal: String) -> [String] {
        JournalFiles.segments(image(of: journal).keys).map { "\(journal)/\($0)" }
    }

    /// The slot of HEAD that counts.
    public func head(of journal: String) -> JournalFiles.Head? {
        contents("\(journal)/HEAD").flatMap(JournalFiles.head)
    }
}
