// Values are equal when they are stored equally: text by its bytes, numbers by their bits, any NaN like any other.

extension RecordValue: Hashable {
    /// Compares what would be stored.
    public static func == (a: RecordValue, b: RecordValue) -> Bool {
        switch (a, b) {
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): storedBits(a) == storedBits(b)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.location(let a), .location(let b)): a == b
        case (.reference(let a), .reference(let b)): a == b
        case (.list(let a), .list(let b)): a == b
        case (.unknown(let a), .unknown(let b)): a == b
        default: false
        }
    }

    /// Hashes what would be stored.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let value): value.hashBytes(into: &hasher)
        case .int64(let value), .date(let value): hasher.combine(value)
        case .double(let value): hasher.combine(storedBits(value))
        case .bytes(let value): hasher.combine(value)
        case .location(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .list(let value): hasher.combine(value)
        case .unknown(let value): hasher.combine(value)
        }
    }
}

extension RecordList: Hashable {
    /// Compares kinds and what would be stored.
    public static func == (a: RecordList, b: RecordList) -> Bool {
        switch (a, b) {
        case (.strings(let a), .strings(let b)): haveSameBytes(a, b)
        case (.int64s(let a), .int64s(let b)): a == b
        case (.doubles(let a), .doubles(let b)): a.map(storedBits) == b.map(storedBits)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.dates(let a), .dates(let b)): a == b
        case (.locations(let a), .locations(let b)): a == b
        case (.references(let a), .references(let b)): a == b
        default: false
        }
    }

    /// Hashes what would be stored.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for element in elements { element.hash(into: &hasher) }
    }
}

extension Location: Hashable {
    private var stored: [UInt64?] {
        [latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed].map {
            $0.map(storedBits)
        }
    }

    /// Compares what would be stored.
    public static func == (a: Location, b: Location) -> Bool {
        a.stored == b.stored && a.timestampMilliseconds == b.timestampMilliseconds
    }

    /// Hashes what would be stored.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(stored)
        hasher.combine(timestampMilliseconds)
    }
}

extension Reference: Hashable {
    /// Compares bytes.
    public static func == (a: Reference, b: Reference) -> Bool {
        a.recordName.hasSameBytes(as: b.recordName) && haveSameBytes(a.zoneName, b.zoneName)
            && a.action == b.action
    }

    /// Hashes bytes.
    public func hash(into hasher: inout Hasher) {
        recordName.hashBytes(into: &hasher)
        zoneName?.hashBytes(into: &hasher)
        hasher.combine(action)
    }
}

/// The bits of a number as they are stored: every NaN is the quiet one.
private func storedBits(_ value: Double) -> UInt64 {
    value.isNaN ? 0x7FF8_0000_0000_0000 : value.bitPattern
}
