/// What a field of a record holds.
public enum RecordValue: Sendable {
    /// Text.
    case string(String)
    /// A whole number; also what CloudKit uses for booleans, 0 and 1.
    case int64(Int64)
    /// A floating-point number.
    case double(Double)
    /// Bytes.
    case bytes([UInt8])
    /// A time in milliseconds since 1970.
    case date(milliseconds: Int64)
    /// A place on earth.
    case location(Location)
    /// The name of another record.
    case reference(Reference)
    /// Values of one kind in order.
    case list(RecordList)
    /// A value of a kind that this version does not know; it is carried along unharmed.
    case unknown(UnknownValue)
}

/// Values of one kind in order.
public enum RecordList: Sendable {
    /// Texts.
    case strings([String])
    /// Whole numbers.
    case int64s([Int64])
    /// Floating-point numbers.
    case doubles([Double])
    /// Byte strings.
    case bytes([[UInt8]])
    /// Times in milliseconds since 1970.
    case dates(milliseconds: [Int64])
    /// Places on earth.
    case locations([Location])
    /// Names of other records.
    case references([Reference])

    /// The number of values.
    public var count: Int {
        switch self {
        case .strings(let items): items.count
        case .int64s(let items): items.count
        case .doubles(let items): items.count
        case .bytes(let items): items.count
        case .dates(let items): items.count
        case .locations(let items): items.count
        case .references(let items): items.count
        }
    }

    /// The values one by one.
    public var elements: [RecordValue] {
        switch self {
        case .strings(let items): items.map { .string($0) }
        case .int64s(let items): items.map { .int64($0) }
        case .doubles(let items): items.map { .double($0) }
        case .bytes(let items): items.map { .bytes($0) }
        case .dates(let items): items.map { .date(milliseconds: $0) }
        case .locations(let items): items.map { .location($0) }
        case .references(let items): items.map { .reference($0) }
        }
    }
}

/// A value of a kind that this version does not know, as the one CBOR item that it is.
public struct UnknownValue: Hashable, Sendable {
    /// The CBOR item.
    public let cbor: [UInt8]

    package init(cbor: [UInt8]) { self.cbor = cbor }
}

/// A place on earth.
public struct Location: Sendable {
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double
    /// Metres above the sea.
    public var altitude: Double?
    /// The radius of uncertainty in metres.
    public var horizontalAccuracy: Double?
    /// The uncertainty of the altitude in metres.
    public var verticalAccuracy: Double?
    /// Degrees from north.
    public var course: Double?
    /// Metres a second.
    public var speed: Double?
    /// When the place was taken, in milliseconds since 1970.
    public var timestampMilliseconds: Int64?

    /// Makes a place.
    public init(
        latitude: Double, longitude: Double, altitude: Double? = nil, horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil, course: Double? = nil, speed: Double? = nil,
        timestampMilliseconds: Int64? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestampMilliseconds = timestampMilliseconds
    }
}

/// The name of another record; whether that record is there is not checked.
public struct Reference: Sendable {
    /// What happens when the record that is named is deleted.
    public struct Action: RawRepresentable, Hashable, Sendable {
        /// The number stored.
        public var rawValue: UInt64

        /// Makes an action from its number; all but ``none`` are reserved.
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// Nothing happens.
        public static let none = Action(rawValue: 0)
        /// The referring record is deleted too; reserved.
        public static let deleteSelf = Action(rawValue: 1)
    }

    /// The name of the record.
    public var recordName: String
    /// The name of its zone; nil is the zone of the record that holds the reference.
    public var zoneName: String?
    /// What happens when the record is deleted.
    public var action: Action

    /// Makes a reference.
    public init(recordName: String, zoneName: String? = nil, action: Action = .none) {
        self.recordName = recordName
        self.zoneName = zoneName
        self.action = action
    }

    /// Makes a reference to a record.
    public init(recordID: Record.ID, action: Action = .none) {
        self.init(recordName: recordID.recordName, zoneName: recordID.zoneID.zoneName, action: action)
    }

    /// The identity of the record, seen from the zone of the record that holds the reference.
    public func recordID(from zoneID: RecordZone.ID) -> Record.ID {
        guard let zoneName else { return Record.ID(recordName: recordName, zoneID: zoneID) }
        return Record.ID(
            recordName: recordName, zoneID: RecordZone.ID(zoneName: zoneName, ownerName: zoneID.ownerName))
    }
}

extension RecordValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Makes text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a whole number.
    public init(integerLiteral value: Int64) { self = .int64(value) }
    /// Makes a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
}
