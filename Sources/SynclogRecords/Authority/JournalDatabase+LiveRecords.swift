import SynclogJournal

extension JournalDatabase {
    /// A record where it lies in a buffer; it lives as long as the call it is handed to.
    package struct LiveRecord: ~Escapable {
        /// The bytes of the record's name, which are UTF-8.
        package let name: Span<UInt8>
        /// What is stored of it; see ``StoredRecord``.
        package let value: Span<UInt8>
        /// The parts of the value.
        package let places: RecordPlaces
        package let tag: ChangeTag

        @_lifetime(copy name, copy value)
        package init(name: Span<UInt8>, value: Span<UInt8>, places: RecordPlaces, tag: ChangeTag) {
            self.name = name
            self.value = value
            self.places = places
            self.tag = tag
        }
    }

    /// Calls the body with the live records of a zone, in rising order of their names' bytes, until it returns false.
    ///
    /// Names are kept in memory, values only so many at a time: the zone is read again for each of these parts.
    /// `memorySizeMax` is about how many bytes both may take; a part of it is for values however many names there are.
    @available(*, noasync)
    package func forEachLiveRecord(
        inZoneWith id: RecordZone.ID, memorySizeMax: Int = 44 << 20, _ body: (borrowing LiveRecord) -> Bool
    ) throws(SyncError) {
        _ = try mapped { () throws(JournalError) in try journal.head() }
        let zone = try mapped { () throws(JournalError) in try liveZone(id) }.get()
        var names = NewestNames()
        let filter = ReadFilter(zones: [zone.number], spaces: [.record])
        let start = try mapped { () throws(JournalError) in try journal.readBackward(filter: filter) }
        var reader = start
        var isUTF8 = true
        try mapped { () throws(JournalError) in
            try reader.forEachEntry { entry in
                guard entry.operation != .note else { return true }
                isUTF8 = isUTF8 && entry.name.isUTF8
                names.insert(entry.name, valueSize: entry.operation == .put ? entry.value.count : nil)
                return isUTF8
            }
        }
        guard isUTF8 else { throw .notUnderstood(zoneID: id) }
        let sizes = names.rankLiveRows()
        var part = RecordPart()
        var places = RecordPlaces()
        while part.begin(sizes, sizeMax: max(memorySizeMax / 10, memorySizeMax - names.memorySize)) {
            reader = start
            try mapped { () throws(JournalError) in
                try reader.forEachEntry { entry in
                    entry.operation != .put || part.take(entry, rank: names.rank(of: entry.name))
                }
            }
            for (place, found) in part.found.enumerated() {
                guard let tag = found.tag else { continue }
                let name = names.name(rank: part.ranks.lowerBound + place)
                let value = part.values.span.extracting(found.value)
                do throws(CBORError) {
                    try places.read(value)
                } catch {
                    let name = String(decoding: Array(copying: name), as: UTF8.self)
                    throw .notUnderstood(recordID: Record.ID(recordName: name, zoneID: id))
                }
                guard body(LiveRecord(name: name, value: value, places: places, tag: tag)) else { return }
            }
        }
    }
}

/// The names of a zone's records, each with the size of its newest version, as a backward scan meets them.
private struct NewestNames {
    private struct Row {
        /// Where the name is in the text: two bytes for its size, then the name.
        var name: UInt32
        /// The size of the value, later the row's rank among those that live; `dead` for a deleted record.
        var sizeOrRank: UInt32
        static let dead = UInt32.max
    }

    private var rows: [Row] = []
    private var text: [UInt8] = []
    /// Row numbers plus one, at the hashes of their names; a power of two of places.
    private var table = [UInt32](repeating: 0, count: 1024)
    /// The rows of live records in rising order of their names' bytes.
    private var order: [UInt32] = []

    /// About how many bytes this takes.
    var memorySize: Int { text.count + rows.count * 8 + table.count * 4 + order.count * 4 }

    /// Notes a version of a record unless a newer one was noted; a deletion has no size.
    mutating func insert(_ name: Span<UInt8>, valueSize: Int?) {
        if rows.count * 3 >= table.count * 2 { growTable() }
        let place = tablePlace(of: name)
        guard table[place] == 0 else { return }
        let row = Row(name: append(name), sizeOrRank: valueSize.map(UInt32.init(clamping:)) ?? Row.dead)
        rows.append(row)
        table[place] = UInt32(rows.count)
    }

    private mutating func append(_ name: Span<UInt8>) -> UInt32 {
        let start = UInt32(text.count)
        text.append(UInt8(truncatingIfNeeded: name.count))
        text.append(UInt8(truncatingIfNeeded: name.count >> 8))
        unsafe name.withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
        return start
    }

    @_lifetime(borrow self)
    private func name(row: UInt32) -> Span<UInt8> {
        let start = Int(rows[Int(row)].name)
        let size = Int(text[start]) | Int(text[start + 1]) << 8
        return text.span.extracting(start + 2..<start + 2 + size)
    }

    /// The place in the table where a name is, or would be.
    private func tablePlace(of name: Span<UInt8>) -> Int {
        var hasher = Hasher()
        unsafe name.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        var place = hasher.finalize() & (table.count - 1)
        while table[place] != 0, !self.name(row: table[place] - 1).hasSameBytes(as: name) {
            place = (place + 1) & (table.count - 1)
        }
        return place
    }

    private mutating func growTable() {
        table = [UInt32](repeating: 0, count: table.count * 2)
        for row in rows.indices { table[tablePlace(of: name(row: UInt32(row)))] = UInt32(row) + 1 }
    }

    /// Sorts the live records by name.
    /// - Returns: The sizes of their values in that order.
    mutating func rankLiveRows() -> [UInt32] {
        var live: [UInt32] = []
        live.reserveCapacity(rows.count)
        for (number, row) in rows.enumerated() where row.sizeOrRank != Row.dead {
            live.append(UInt32(number))
        }
        live.sort { name(row: $0).bytesPrecede(name(row: $1)) }
        order = live
        var sizes: [UInt32] = []
        sizes.reserveCapacity(order.count)
        for (rank, row) in order.enumerated() {
            sizes.append(rows[Int(row)].sizeOrRank)
            rows[Int(row)].sizeOrRank = UInt32(rank)
        }
        return sizes
    }

    /// The name of the live record of a rank.
    @_lifetime(borrow self)
    func name(rank: Int) -> Span<UInt8> { name(row: order[rank]) }

    /// The rank of a live record, or nil.
    func rank(of name: Span<UInt8>) -> Int? {
        let row = table[tablePlace(of: name)]
        guard row > 0, rows[Int(row) - 1].sizeOrRank != Row.dead else { return nil }
        return Int(rows[Int(row) - 1].sizeOrRank)
    }
}

/// The values of records whose ranks follow each other.
private struct RecordPart {
    struct Found {
        var tag: ChangeTag?
        var value = 0..<0
    }

    private(set) var ranks = 0..<0
    /// The newest version of each, as far as it was met.
    private(set) var found: [Found] = []
    private(set) var values: [UInt8] = []
    private var missing = 0

    /// Goes on to the ranks behind, as many as have so many bytes but at least one.
    /// - Returns: False if there are none.
    mutating func begin(_ sizes: [UInt32], sizeMax: Int) -> Bool {
        let start = ranks.upperBound
        var end = start
        var size = 0
        while end < sizes.count, end == start || size + Int(sizes[end]) <= sizeMax {
            size += Int(sizes[end])
            end += 1
        }
        ranks = start..<end
        missing = end - start
        values.removeAll(keepingCapacity: true)
        values.reserveCapacity(size)
        found.removeAll(keepingCapacity: true)
        found.append(contentsOf: repeatElement(Found(), count: missing))
        return missing > 0
    }

    /// Takes a version that a backward scan meets, which is the newest if no other was met before.
    /// - Returns: Whether any is missing still.
    mutating func take(_ entry: borrowing EntryView, rank: Int?) -> Bool {
        guard let rank, ranks.contains(rank), found[rank - ranks.lowerBound].tag == nil else { return true }
        let start = values.count
        let value = entry.value
        unsafe value.withUnsafeBufferPointer { unsafe values.append(contentsOf: $0) }
        found[rank - ranks.lowerBound] = Found(
            tag: ChangeTag(commit: entry.commit, index: entry.index, checksum: crc32c(value)),
            value: start..<values.count)
        missing -= 1
        return missing > 0
    }
}
