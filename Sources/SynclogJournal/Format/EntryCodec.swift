/// An item of a block's payload, with offsets into the payload instead of copies.
enum PayloadItem {
    case commit(CommitPlace)
    case entry(EntryPlace)
}

/// A commit item where it lies in a block's payload.
struct CommitPlace {
    var number: UInt64
    var clock: Int64
    var wall: Int64
    var device: UInt32
    /// Whether the commit goes on in the next block.
    var continued: Bool
    var zoneCount: Int
    /// Where the pairs of zone and previous commit begin.
    var zonesOffset: Int

    /// A copy of the commit's facts.
    func info(in raw: Span<UInt8>) -> CommitInfo {
        var zones: [ZoneLink] = []
        if zoneCount > 0 {
            zones.reserveCapacity(zoneCount)
            forEachZone(in: raw) { zones.append($0) }
        }
        return CommitInfo(number: number, clock: clock, wall: wall, device: device, zones: zones)
    }

    /// Calls the body with each zone; the parser that made this place has checked the bytes.
    @inline(__always)
    func forEachZone(in raw: Span<UInt8>, _ body: (ZoneLink) -> Void) {
        var parser = PayloadParser(raw, from: zonesOffset)
        for _ in 0..<zoneCount {
            guard let zone = try? parser.unsigned(), let previous = try? parser.unsigned() else { return }
            body(ZoneLink(zone: zone, previous: previous))
        }
    }
}

/// An entry item where it lies in a block's payload.
struct EntryPlace {
    var operation: Entry.Operation
    var index: UInt32
    var space: Space
    var zone: UInt64
    /// 0 = this commit.
    var firstSeen: UInt64
    var name: Range<Int>
    var value: Range<Int>
    /// The whole item.
    var range: Range<Int>

    /// A copy of the entry, as it stands in a commit.
    func entry(in raw: Span<UInt8>, commit: UInt64) -> Entry {
        let name = Array(copying: raw.extracting(name))
        return entry(of: EntryKey(space: space, zone: zone, name: name), in: raw, commit: commit)
    }

    /// A copy of the entry, which is one of a key, as it stands in a commit.
    func entry(of key: EntryKey, in raw: Span<UInt8>, commit: UInt64) -> Entry {
        Entry(
            operation: operation, index: index, key: key, firstSeen: firstSeen == 0 ? commit : firstSeen,
            value: Array(copying: raw.extracting(value)))
    }

    /// The hash the index knows the key by.
    func fingerprint(in raw: Span<UInt8>) -> UInt64 {
        synclogFingerprint(space: space, zone: zone, name: raw.extracting(name))
    }

    /// Whether this is an entry of a key.
    func isOf(_ key: EntryKey, in raw: Span<UInt8>) -> Bool {
        guard space == key.space, zone == key.zone, name.count == key.name.count else { return false }
        for place in 0..<name.count where raw[name.lowerBound + place] != key.name[place] { return false }
        return true
    }
}

extension Array where Element == UInt8 {
    /// A copy of a span's bytes.
    package init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
    }
}

/// The 64-bit hash of a key: FNV-1a over space, zone and name, then mixed so that all bits count.
func synclogFingerprint(space: Space, zone: UInt64, name: Span<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    hash = (hash ^ UInt64(space.rawValue)) &* 0x100_0000_01B3
    hash = (hash ^ zone) &* 0x100_0000_01B3
    hash ^= hash >> 32
    for place in name.indices { hash = (hash ^ UInt64(name[place])) &* 0x100_0000_01B3 }
    hash ^= hash >> 33
    hash &*= 0xFF51_AFD7_ED55_8CCD
    hash ^= hash >> 33
    hash &*= 0xC4CE_B9FE_1A85_EC53
    hash ^= hash >> 33
    return hash
}

/// Walks the items of a block's payload; malformed bytes throw, nothing traps, nothing is allocated.
struct PayloadParser: ~Escapable {
    let raw: Span<UInt8>
    private(set) var offset: Int

    @_lifetime(copy raw)
    init(_ raw: Span<UInt8>, from offset: Int = 0) {
        self.raw = raw
        self.offset = offset
    }

    var isAtEnd: Bool { offset >= raw.count }

    @inline(__always)
    private mutating func head() throws(CBORError) -> (major: UInt8, value: UInt64) {
        guard offset < raw.count else { throw CBORError(offset: offset) }
        let first = raw[offset]
        let low = first & 31
        if low < 24 {
            offset += 1
            return (first >> 5, UInt64(low))
        }
        if low == 24, raw.count - offset > 1 {
            defer { offset += 2 }
            return (first >> 5, UInt64(raw[offset + 1]))
        }
        return (first >> 5, try longHead(low))
    }

    private mutating func longHead(_ low: UInt8) throws(CBORError) -> UInt64 {
        guard let number = raw.headNumber(low, at: offset + 1, before: raw.count) else {
            throw CBORError(offset: offset)
        }
        offset += 1 + number.size
        return number.value
    }

    @inline(__always)
    fileprivate mutating func unsigned() throws(CBORError) -> UInt64 {
        let (major, value) = try head()
        guard major == 0 else { throw CBORError(offset: offset) }
        return value
    }

    private mutating func integer() throws(CBORError) -> Int64 {
        let (major, value) = try head()
        guard major <= 1, value <= UInt64(Int64.max) else { throw CBORError(offset: offset) }
        return major == 0 ? Int64(value) : ~Int64(value)
    }

    @inline(__always)
    private mutating func bytes() throws(CBORError) -> Range<Int> {
        let (major, value) = try head()
        guard major == 2, value <= UInt64(raw.count - offset) else { throw CBORError(offset: offset) }
        defer { offset += Int(value) }
        return offset..<offset + Int(value)
    }

    /// The next item.
    mutating func next() throws(CBORError) -> PayloadItem {
        let start = offset
        let (major, count) = try head()
        guard major == 4 else { throw CBORError(offset: start) }
        let kind = try unsigned()
        if kind == 0 { return .commit(try commit(count, start: start)) }
        guard count == 7, let operation = Entry.Operation(rawValue: UInt8(clamping: kind)) else {
            throw CBORError(offset: start)
        }
        let index = try unsigned()
        let space = try unsigned()
        guard index <= UInt64(UInt32.max), space <= UInt64(UInt32.max) else { throw CBORError(offset: start) }
        let zone = try unsigned()
        let name = try bytes()
        let firstSeen = try unsigned()
        let (tagMajor, tag) = try head()
        guard tagMajor == 6, tag == 24 else { throw CBORError(offset: start) }
        let value = try bytes()
        return .entry(
            EntryPlace(
                operation: operation, index: UInt32(index), space: Space(rawValue: UInt32(space)), zone: zone,
                firstSeen: firstSeen, name: name, value: value, range: start..<offset))
    }

    private mutating func commit(_ count: UInt64, start: Int) throws(CBORError) -> CommitPlace {
        guard count >= 6, count % 2 == 0, count <= UInt64(6 + 2 * FormatLimits.commitZonesMax) else {
            throw CBORError(offset: start)
        }
        let number = try unsigned()
        let clock = try integer()
        let wall = try integer()
        let device = try unsigned()
        let flags = try unsigned()
        guard device <= UInt64(UInt32.max), number > 0, number <= FormatLimits.numberMax,
            clock <= Int64(FormatLimits.numberMax)
        else { throw CBORError(offset: start) }
        let zonesOffset = offset
        for _ in 0..<Int(count - 6) { _ = try unsigned() }
        return CommitPlace(
            number: number, clock: clock, wall: wall, device: UInt32(device), continued: flags & 1 == 1,
            zoneCount: Int(count - 6) / 2, zonesOffset: zonesOffset)
    }
}

extension CBORWriter {
    /// Appends a commit item.
    /// - Returns: The offset of the one byte that holds its flags.
    mutating func commit(_ info: CommitInfo, continued: Bool = false) -> Int {
        array(6 + 2 * info.zones.count)
        unsigned(0)
        unsigned(info.number)
        integer(info.clock)
        integer(info.wall)
        unsigned(UInt64(info.device))
        let flags = bytes.count
        unsigned(continued ? 1 : 0)
        for link in info.zones {
            unsigned(link.zone)
            unsigned(link.previous)
        }
        return flags
    }

    /// Appends an entry item; `firstSeen` 0 means this commit.
    mutating func entry(
        _ operation: Entry.Operation, index: UInt32, key: EntryKey, firstSeen: UInt64, value: [UInt8]
    ) {
        array(7)
        unsigned(UInt64(operation.rawValue))
        unsigned(UInt64(index))
        unsigned(UInt64(key.space.rawValue))
        unsigned(key.zone)
        byteString(key.name)
        unsigned(firstSeen)
        tag(24)
        byteString(value)
    }
}
