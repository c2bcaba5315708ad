#if DEBUG || FUZZING
    import TestSupport

    @testable import SynclogJournal

    /// Changes of a journal's files, five bytes each: file and kind, frame, offset in the frame (two bytes), what.
    struct JournalEdits {
        private let bytes: ArraySlice<UInt8>
        private static let editsMax = 32
        /// Numbers that break arithmetic.
        private static let numbers: [UInt64] = [
            0, 1, 2, 7, 8, 63, 64, 255, 4079, 4080, 4095, 4096, 4097, 0x7FFF, 0xFFFF, 0x1_0000, 0x7FFF_FFFF,
            0x8000_0000,
            0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 0x7FFF_FFFF_FFFF_FFFE, 0x7FFF_FFFF_FFFF_FFFF,
            0x8000_0000_0000_0000, 0xFFFF_FFFF_FFFF_FFFE, 0xFFFF_FFFF_FFFF_FFFF,
        ]

        init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

        func apply(to files: inout [String: [UInt8]]) {
            let names = files.keys.sorted()
            for start in stride(from: bytes.startIndex, to: bytes.endIndex - 4, by: 5).prefix(Self.editsMax) {
                let edit = Array(bytes[start..<start + 5])
                let name = names[Int(edit[0] & 15) % names.count]
                guard var content = files[name], !content.isEmpty else { continue }
                let frames =
                    name == "HEAD" ? [0, 512] : [3840, 0] + JournalFiles.frames(content).map(\.offset)
                let place = frames[Int(edit[1]) % frames.count] + Int(edit[2]) << 8 + Int(edit[3])
                let at = place % content.count
                let number = Self.numbers[Int(edit[4]) % Self.numbers.count]
                switch edit[0] >> 4 {
                case 0...4: content[at] ^= edit[4]
                case 5, 6: content[at] = edit[4]
                case 7, 8, 9:
                    if at + 4 <= content.count {
                        content.setWord32(UInt32(truncatingIfNeeded: number), at: at)
                    }
                case 10, 11: if at + 8 <= content.count { content.setWord64(number, at: at) }
                case 12: content.removeSubrange(at...)
                case 13: content.removeSubrange(at..<min(at + Int(edit[4]), content.count))
                case 14: content.insert(contentsOf: [UInt8](repeating: 0, count: Int(edit[4])), at: at)
                default:
                    // Another name, or none.
                    files[name] = nil
                    if let other = SegmentName(name), edit[4] > 0 {
                        let renamed = SegmentName(
                            number: other.number &+ UInt64(edit[4] & 3),
                            generation: other.generation + UInt32(edit[4] >> 6))
                        files[renamed.text] = content
                    }
                    continue
                }
                files[name] = content
            }
        }
    }

    /// Makes checksums right after changes, so that what lies behind them is reached.
    struct ChecksumRepair {
        /// 1 block headers and their chain, 2 payloads, 4 index pages, 8 footers, 16 HEAD's slots, 32 segment headers, 64 what
        /// names the chain elsewhere, 128 the footer's copy of the index's root.
        let flags: UInt8

        func run(_ files: inout [String: [UInt8]]) {
            var chains: [UInt64: [Int: UInt32]] = [:]
            var chain: UInt32?
            for name in files.keys.sorted() {
                guard let segment = SegmentName(name), var content = files[name],
                    content.count > SegmentHeader.size
                else { continue }
                if flags & 64 != 0, let chain { content.setWord32(chain, at: 3920) }
                if flags & 32 != 0 {
                    content.setWord32(content.crc(0..<3840), at: 3992)
                    content.setWord32(content.crc(3840..<4092), at: 4092)
                }
                let found = repair(&content)
                chains[segment.number] = found
                chain = found.max { $0.key < $1.key }?.value
                files[name] = content
            }
            guard flags & 16 != 0, var head = files["HEAD"] else { return }
            for slot in [0, 512] where slot + 512 <= head.count {
                if flags & 64 != 0, let end = Int(exactly: head.word64(at: slot + 64)),
                    let chain = chains[head.word64(at: slot + 48)]?[end]
                {
                    head.setWord32(chain, at: slot + 80)
                }
                head.setWord32(head.crc(slot..<slot + 508), at: slot + 508)
            }
            files["HEAD"] = head
        }

        /// - Returns: The chain's value at the end of each block.
        private func repair(_ content: inout [UInt8]) -> [Int: UInt32] {
            let salt = content.word64(at: 3960)
            var chain = placeSeed(salt: salt, offset: 0)
            var chains = [SegmentHeader.size: chain]
            var index: Int?
            for frame in JournalFiles.frames(content) where frame.offset + frame.size <= content.count {
                let place = frame.offset
                switch frame.kind {
                case 0x50 where frame.size >= BlockHeader.size:
                    if flags & 2 != 0 {
                        content.setWord32(content.crc(place + 64..<place + frame.size), at: place + 40)
                    }
                    if flags & 1 != 0 {
                        content.setWord32(chain, at: place + 52)
                        content.setWord32(
                            content.placedCRC(place..<place + 60, salt: salt, offset: UInt64(place)),
                            at: place + 60)
                    }
                    chain = content.word32(at: place + 60)
                    chains[place + frame.size] = chain
                case 0x51:
                    index = place + 8
                    guard flags & 4 != 0 else { continue }
                    for page in stride(from: place + 8, through: place + frame.size - 4096, by: 4096) {
                        content.setWord32(
                            content.placedCRC(page..<page + 4092, salt: salt, offset: UInt64(page)),
                            at: page + 4092)
                    }
                case 0x52 where frame.size == SegmentFooter.size:
                    repair(footer: place, &content, salt, chain, index)
                default: continue
                }
            }
            return chains
        }

        private func repair(
            footer place: Int, _ content: inout [UInt8], _ salt: UInt64, _ chain: UInt32, _ index: Int?
        ) {
            if flags & 64 != 0 { content.setWord32(chain, at: place + 40) }
            if flags & 128 != 0, let index, index + 96 <= place {
                content.replaceSubrange(place + 60..<place + 156, with: Array(content[index..<index + 96]))
            }
            if flags & 8 != 0 {
                content.setWord64(UInt64(place + SegmentFooter.size), at: place + 52)
                content.setWord32(
                    content.placedCRC(place..<place + 156, salt: salt, offset: UInt64(place)), at: place + 156
                )
            }
        }
    }
#endif
