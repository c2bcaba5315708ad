#if DEBUG || FUZZING
    import SynclogTestKit

    /// Changes text by whole words, numbers and signs, also to those of the first inputs.
    struct WordMutator {
        private var generator: SeededGenerator

        /// Every word, number and sign of the first inputs.
        private static let known: [[UInt8]] = {
            var known: [[UInt8]] = []
            var seen: Set<[UInt8]> = []
            for seed in commandLineSeeds() {
                for place in places(seed, from: 1) where seen.insert(Array(seed[place])).inserted {
                    known.append(Array(seed[place]))
                }
            }
            return known
        }()

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        /// Text with one change.
        mutating func mutated(_ bytes: [UInt8], from start: Int) -> [UInt8] {
            let places = Self.places(bytes, from: start)
            var bytes = bytes
            guard !places.isEmpty else { return bytes + known() }
            let place = places[below(places.count)]
            let other = places[below(places.count)]
            switch below(8) {
            case 0, 1: bytes.replaceSubrange(place, with: known())
            case 2, 3:
                bytes.insert(contentsOf: known(), at: below(2) == 0 ? place.lowerBound : place.upperBound)
            case 4: bytes.replaceSubrange(place, with: bytes[other])
            case 5: bytes.insert(contentsOf: bytes[other], at: place.lowerBound)
            case 6:
                // Everything between two words again.
                guard place.lowerBound < other.upperBound else { return bytes + bytes[place] }
                bytes.insert(
                    contentsOf: bytes[place.lowerBound..<other.upperBound], at: other.upperBound)
            default: bytes.removeSubrange(place)
            }
            return bytes
        }

        private mutating func known() -> [UInt8] { Self.known[below(Self.known.count)] }

        /// Runs of letters, runs of digits, and everything else byte by byte.
        private static func places(_ bytes: [UInt8], from start: Int) -> [Range<Int>] {
            var places: [Range<Int>] = []
            var place = start
            while place < bytes.count {
                let first = kind(bytes[place])
                var end = place + 1
                while first != 0, end < bytes.count, kind(bytes[end]) == first { end += 1 }
                places.append(place..<end)
                place = end
            }
            return places
        }

        /// 1 for a letter or a part of one, 2 for a digit, 0 for a sign.
        private static func kind(_ byte: UInt8) -> Int {
            switch byte {
            case 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: 1
            case 0x30...0x39: 2
            default: 0
            }
        }

        private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    }
#endif
