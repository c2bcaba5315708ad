#if DEBUG || FUZZING
    import SynclogJournal
    import SynclogTestKit

    /// Changes CBOR by whole items, with the counts of what contains them; changed bytes alone seldom leave a long array whole.
    struct CBORMutator {
        private struct Item {
            var place: Range<Int>
            /// Where its head ends.
            var content: Int
            var major: CBORMajor
            var value: UInt64
            /// The array or map that it is a child of, and which child.
            var parent: Int?
            var index: Int
        }

        private var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        /// Items with one change; what cannot be understood stays behind them as it is.
        mutating func mutated(_ bytes: [UInt8], from start: Int) -> [UInt8] {
            let items = Self.items(bytes, from: start)
            guard !items.isEmpty else { return bytes + sample() }
            var bytes = bytes
            let item = items[below(items.count)]
            switch below(10) {
            case 0, 1: bytes.replaceSubrange(item.place, with: sample())
            case 2: bytes.replaceSubrange(item.place, with: bytes[items[below(items.count)].place])
            case 3, 4:
                let other = below(2) == 0 ? item : items[below(items.count)]
                change(&bytes, items, item, by: 1, with: Array(bytes[other.place]))
            case 5: change(&bytes, items, item, by: 1, with: sample())
            case 6: change(&bytes, items, item, by: -1, with: [])
            default:
                var writer = CBORWriter()
                if item.major == .bytes || item.major == .text {
                    // Byte strings may hold items themselves.
                    let old = Array(bytes[item.content..<item.place.upperBound])
                    let new = item.major == .bytes && below(4) != 0 ? mutated(old, from: 0) : content()
                    writer.head(item.major, UInt64(new.count))
                    bytes.replaceSubrange(item.place, with: writer.bytes + new)
                } else {
                    writer.head(item.major, below(3) == 0 ? item.value &+ 1 : number())
                    bytes.replaceSubrange(item.place.lowerBound..<item.content, with: writer.bytes)
                }
            }
            return bytes
        }

        /// Puts a child before another one, or takes one out; a map's child goes with the key or value beside it.
        private mutating func change(
            _ bytes: inout [UInt8], _ items: [Item], _ item: Item, by step: Int, with new: [UInt8]
        ) {
            var place = item.place
            var new = new
            if let parent = item.parent, items[parent].major == .map {
                let pair = items.filter { $0.parent == parent && $0.index / 2 == item.index / 2 }
                place = pair[0].place.lowerBound..<pair[pair.count - 1].place.upperBound
                if step > 0 { new = (below(2) == 0 ? sample() : Array(bytes[pair[0].place])) + new }
            }
            bytes.replaceSubrange(step > 0 ? place.lowerBound..<place.lowerBound : place, with: new)
            guard let parent = item.parent.map({ items[$0] }), parent.major != .tag else { return }
            var writer = CBORWriter()
            writer.head(parent.major, UInt64(Int(parent.value) + step))
            bytes.replaceSubrange(parent.place.lowerBound..<parent.content, with: writer.bytes)
        }

        /// All items from a place on, each before its children.
        private static func items(_ bytes: [UInt8], from start: Int) -> [Item] {
            var items: [Item] = []
            var scanner = CBORScanner(bytes.span, from: start)
            while !scanner.isAtEnd, (try? read(&scanner, parent: nil, index: 0, &items)) != nil {}
            return items
        }

        private static func read(
            _ scanner: inout CBORScanner, parent: Int?, index: Int, _ items: inout [Item]
        ) throws(CBORError) {
            var whole = scanner
            let place = try whole.skip()
            let (major, value) = try scanner.head()
            let this = items.count
            items.append(
                Item(
                    place: place, content: scanner.offset, major: major, value: value, parent: parent,
                    index: index))
            switch major {
            case .array, .map, .tag:
                let count = major == .tag ? 1 : major == .map ? 2 * Int(value) : Int(value)
                for index in 0..<count { try read(&scanner, parent: this, index: index, &items) }
            default: scanner = whole
            }
        }

        private mutating func sample() -> [UInt8] {
            var writer = CBORWriter()
            switch below(10) {
            case 0, 1: writer.unsigned(number())
            case 2: writer.head(.negative, number())
            case 3, 4:
                let content = content()
                writer.head(below(2) == 0 ? .text : .bytes, UInt64(content.count))
                writer.raw(content)
            case 5: writer.bool(below(2) == 0)
            case 6: writer.null()
            case 7: writer.double([0, -0.0, 0.1, .nan, .infinity, 1e300][below(6)])
            case 8:
                let count = below(4)
                writer.array(count)
                for _ in 0..<count { writer.unsigned(number()) }
            default:
                writer.tag(number())
                writer.unsigned(number())
            }
            return writer.bytes
        }

        /// A small number, or one where a width or a meaning ends.
        private mutating func number() -> UInt64 {
            guard below(2) == 0 else { return UInt64(below(80)) }
            let power = UInt64(1) << UInt64([5, 8, 16, 32, 53, 62, 63][below(7)])
            return power &- 1 &+ UInt64(below(3))
        }

        private mutating func content() -> [UInt8] {
            switch below(4) {
            case 0: Array(["", "a", "e\u{301}", "\u{1F600}", "_defaultZone"][below(5)].utf8)
            case 1: [UInt8](repeating: 0x61, count: below(70))
            case 2: generator.bytes(below(4) == 0 ? below(70) : [0, 8, 12, 16, 24, 32][below(6)])
            default: [0x5F, 0x61, UInt8(below(256)), 0xA9]
            }
        }

        private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    }
#endif
