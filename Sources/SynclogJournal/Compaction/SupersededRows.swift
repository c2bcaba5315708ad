/// The entries of a merge that a later one of the same merge stands for, by fingerprint; found without holding all keys.
///
/// Asked in the order of the entries.
struct SupersededRows {
    private struct Place: Hashable, Comparable {
        var segment: Int32
        var block: UInt32
        var place: UInt32

        static func < (a: Place, b: Place) -> Bool {
            (a.segment, a.block, a.place) < (b.segment, b.block, b.place)
        }
    }

    /// One index on the way through its rows, which are in order of fingerprint.
    private struct Walk {
        let part: IndexPart
        let segment: Int32
        var next = 0
        var row: KeyRow?

        mutating func advance() throws(JournalError) {
            row = next < part.keyCount ? try part.key(next) : nil
            next += 1
        }
    }

    /// Rising.
    private var places: [Place] = []
    private var next = 0

    init(_ inputs: [OpenSegment]) throws(JournalError) {
        var walks: [Walk] = []
        for (number, input) in inputs.enumerated() {
            for part in input.content.withLock({ $0.parts }) {
                walks.append(Walk(part: part, segment: Int32(number)))
                try walks[walks.count - 1].advance()
            }
        }
        var newest: (fingerprint: UInt64, place: Place)?
        while true {
            var lowest: Int?
            for (number, walk) in walks.enumerated() {
                guard let row = walk.row else { continue }
                if let other = lowest, walks[other].row.map({ $0.fingerprint <= row.fingerprint }) ?? false {
                    continue
                }
                lowest = number
            }
            guard let lowest, let row = walks[lowest].row else { break }
            let place = Place(
                segment: walks[lowest].segment, block: row.block, place: row.place & ~KeyRow.tombstone)
            if let other = newest, other.fingerprint == row.fingerprint {
                places.append(min(other.place, place))
                newest = (row.fingerprint, max(other.place, place))
            } else {
                newest = (row.fingerprint, place)
            }
            try walks[lowest].advance()
        }
        places.sort()
    }

    /// Begins anew.
    mutating func rewind() { next = 0 }

    /// Whether an entry is superseded.
    mutating func contains(segment: Int, block: UInt32, place: UInt32) -> Bool {
        let wanted = Place(segment: Int32(segment), block: block, place: place)
        while next < places.count, places[next] < wanted { next += 1 }
        return next < places.count && places[next] == wanted
    }
}
