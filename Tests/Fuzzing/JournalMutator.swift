#if DEBUG || FUZZING
    import SynclogTestKit

    /// Changes inputs of the journal's harness by whole edits; one byte more or less would give all later ones another meaning.
    struct JournalMutator {
        private var generator: SeededGenerator
        private static let size = 5

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        /// Whether an input is a list of edits, and where they begin.
        static func start(_ bytes: [UInt8]) -> Int? {
            switch (bytes.first ?? 0) % 6 {
            case 0: bytes.isEmpty ? nil : 1
            case 1: bytes.count > 1 ? 2 : nil
            default: nil
            }
        }

        /// A list of edits with one change.
        mutating func mutated(_ bytes: [UInt8], from start: Int) -> [UInt8] {
            var bytes = bytes
            let count = (bytes.count - start) / Self.size
            let place = start + below(max(1, count)) * Self.size
            switch below(count == 0 ? 3 : 12) {
            case 0, 1, 2:
                bytes.insert(contentsOf: edit(), at: count == 0 ? bytes.count : place)
            case 3: bytes.removeSubrange(place..<place + Self.size)
            case 4:
                // The same at the next frame.
                var copy = Array(bytes[place..<place + Self.size])
                copy[1] &+= 1
                bytes.insert(contentsOf: copy, at: place)
            case 5 where start == 2: bytes[1] ^= 1 << UInt8(below(8))
            case 5, 6: bytes[place] = UInt8(below(256))
            case 7: bytes[place + 1] = UInt8(below(24))
            case 8, 9: bytes.replaceSubrange(place + 2..<place + 4, with: offset())
            case 10: bytes[place + 3] &+= below(2) == 0 ? 4 : 0xFC
            default: bytes[place + 4] = UInt8(below(256))
            }
            return bytes
        }

        private mutating func edit() -> [UInt8] {
            [UInt8(below(256)), UInt8(below(24))] + offset() + [UInt8(below(below(2) == 0 ? 32 : 256))]
        }

        /// Mostly within a header, sometimes at a field of an index page.
        private mutating func offset() -> [UInt8] {
            switch below(4) {
            case 0: [UInt8(below(16)), UInt8(below(256))]
            case 1: [0, UInt8(below(256))]
            default: [0, UInt8(below(40) * 4)]
            }
        }

        private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    }
#endif
