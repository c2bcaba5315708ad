/// Which segments to merge: a pure choice from their sizes.
struct CompactionPolicy: Hashable, Sendable {
    /// The size in bytes at which a live segment is sealed; the unit of tiers.
    var segmentSize: UInt64
    /// The most bytes that one merge may read.
    var inputMax: UInt64

    /// The most segments that one merge may read; all of them are open to its end.
    var inputsMax = Int.max

    /// So many segments of one tier become one of the next.
    static let fanIn = 4

    /// Segments of tier 0 are up to twice the segment size; each further tier is four times as large.
    func tier(_ size: UInt64) -> Int {
        var tier = 0
        var limit = segmentSize * 2
        while size > limit, tier < 32 {
            tier += 1
            limit = limit &* 4
        }
        return tier
    }

    /// The range of adjacent sealed segments to merge next, or nil.
    ///
    /// It is the newest run with at least four segments of one tier and none of a higher one, the lowest tier first, so
    /// that every byte is rewritten a logarithmic number of times.
    func choose(_ sizes: [UInt64]) -> Range<Int>? {
        let tiers = sizes.map(tier)
        for level in 0...(tiers.max() ?? 0) {
            var end = sizes.count
            while end > 0 {
                while end > 0, tiers[end - 1] > level { end -= 1 }
                var start = end
                while start > 0, tiers[start - 1] <= level { start -= 1 }
                let places = (start..<end).filter { tiers[$0] == level }
                if places.count >= Self.fanIn, let last = places.last,
                    let range = fitting(places, last, sizes)
                {
                    return range
                }
                end = start
            }
        }
        return nil
    }

    /// The longest run that ends with a segment and may be read in one merge, if it is long enough.
    private func fitting(_ places: [Int], _ last: Int, _ sizes: [UInt64]) -> Range<Int>? {
        var first = last
        var total = sizes[last]
        while first > places[0], last - first + 1 < inputsMax, total + sizes[first - 1] <= inputMax {
            first -= 1
            total += sizes[first]
        }
        return last - first + 1 >= Self.fanIn ? first..<last + 1 : nil
    }
}
