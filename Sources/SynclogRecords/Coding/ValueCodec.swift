package import SynclogJournal

// The encoding of field values; the article records-format has the table.

/// The first element of an array that stands for a value CBOR has no kind for.
enum ValueKind: UInt64 {
    case date = 1
    case location = 2
    case reference = 3
    case list = 4
    case asset = 16
    case encrypted = 17
}

/// The kind of a list's elements.
enum ElementKind: UInt64 {
    case date = 1
    case location = 2
    case reference = 3
    case string = 5
    case int64 = 6
    case double = 7
    case bytes = 8
}

extension CBORWriter {
    /// Writes a field's value.
    package mutating func recordValue(_ value: RecordValue) {
        switch value {
        case .string(let value): text(value)
        case .int64(let value): integer(value)
        case .double(let value): double(value)
        case .bytes(let value): byteString(value)
        case .date(let milliseconds):
            kind(.date, count: 2)
            integer(milliseconds)
        case .location(let value): location(value)
        case .reference(let value):
            kind(.reference, count: 4)
            text(value.recordName)
            optionalText(value.zoneName)
            unsigned(value.action.rawValue)
        case .list(let value):
            kind(.list, count: 2 + value.count)
            unsigned(value.elementKind.rawValue)
            for element in value.elements { recordValue(element) }
        case .unknown(let value): raw(value.cbor)
        }
    }

    private mutating func kind(_ kind: ValueKind, count: Int) {
        array(count)
        unsigned(kind.rawValue)
    }

    private mutating func location(_ value: Location) {
        let numbers: [(String, Double?)] = [
            ("altitude", value.altitude), ("course", value.course),
            ("horizontalAccuracy", value.horizontalAccuracy), ("latitude", value.latitude),
            ("longitude", value.longitude), ("speed", value.speed),
        ]
        let set = numbers.filter { $0.1 != nil }
        kind(.location, count: 2)
        map(
            set.count + (value.timestampMilliseconds == nil ? 0 : 1) + (value.verticalAccuracy == nil ? 0 : 1)
        )
        for (key, number) in set {
            text(key)
            double(number ?? 0)
        }
        if let timestamp = value.timestampMilliseconds {
            text("timestamp")
            integer(timestamp)
        }
        if let accuracy = value.verticalAccuracy {
            text("verticalAccuracy")
            double(accuracy)
        }
    }

    /// Writes text, or null.
    package mutating func optionalText(_ value: String?) {
        if let value { text(value) } else { null() }
    }

    /// Writes fields as a map.
    package mutating func fields(_ table: FieldTable) {
        map(table.fields.count)
        for field in table.fields {
            text(field.key)
            recordValue(field.value)
        }
    }
}

extension CBORReader {
    /// Reads a field's value; what this version does not know is kept as it is.
    package mutating func recordValue() throws(CBORError) -> RecordValue {
        let start = self
        if let value = try? knownValue() { return value }
        self = start
        return .unknown(UnknownValue(cbor: try rawItem()))
    }

    private mutating func knownValue() throws(CBORError) -> RecordValue {
        switch try peek() {
        case .text: return .string(try text())
        case .unsigned, .negative: return .int64(try integer())
        case .bytes: return .bytes(try byteString())
        case .simple: return .double(try double())
        case .array: return try arrayValue()
        case .map, .tag: throw error()
        }
    }

    private mutating func arrayValue() throws(CBORError) -> RecordValue {
        let count = try array()
        guard count > 0, let kind = ValueKind(rawValue: try unsigned()) else { throw error() }
        switch (kind, count) {
        case (.date, 2): return .date(milliseconds: try integer())
        case (.location, 2): return .location(try location())
        case (.reference, 4):
            let name = try text()
            let zone = try optionalText()
            return .reference(
                Reference(
                    recordName: name, zoneName: zone, action: Reference.Action(rawValue: try unsigned())))
        case (.list, 2...):
            guard let element = ElementKind(rawValue: try unsigned()) else { throw error() }
            return .list(try list(of: element, count: count - 2))
        default: throw error()
        }
    }

    private mutating func location() throws(CBORError) -> Location {
        var numbers: [String: Double] = [:]
        var timestamp: Int64?
        for _ in 0..<(try map()) {
            let key = try text()
            if key == "timestamp" { timestamp = try integer() } else { numbers[key] = try double() }
        }
        guard let latitude = numbers.removeValue(forKey: "latitude"),
            let longitude = numbers.removeValue(forKey: "longitude")
        else { throw error() }
        let result = Location(
            latitude: latitude, longitude: longitude, altitude: numbers.removeValue(forKey: "altitude"),
            horizontalAccuracy: numbers.removeValue(forKey: "horizontalAccuracy"),
            verticalAccuracy: numbers.removeValue(forKey: "verticalAccuracy"),
            course: numbers.removeValue(forKey: "course"), speed: numbers.removeValue(forKey: "speed"),
            timestampMilliseconds: timestamp)
        guard numbers.isEmpty else { throw error() }
        return result
    }

    private mutating func list(of kind: ElementKind, count: Int) throws(CBORError) -> RecordList {
        switch kind {
        case .string: return .strings(try items(count) { reader throws(CBORError) in try reader.text() })
        case .int64: return .int64s(try items(count) { reader throws(CBORError) in try reader.integer() })
        case .double: return .doubles(try items(count) { reader throws(CBORError) in try reader.double() })
        case .bytes: return .bytes(try items(count) { reader throws(CBORError) in try reader.byteString() })
        case .date:
            return .dates(
                milliseconds: try items(count) { reader throws(CBORError) in
                    guard case .date(let value) = try reader.knownValue() else { throw reader.error() }
                    return value
                })
        case .location:
            return .locations(
                try items(count) { reader throws(CBORError) in
                    guard case .location(let value) = try reader.knownValue() else { throw reader.error() }
                    return value
                })
        case .reference:
            return .references(
                try items(count) { reader throws(CBORError) in
                    guard case .reference(let value) = try reader.knownValue() else { throw reader.error() }
                    return value
                })
        }
    }

    private mutating func items<Item>(
        _ count: Int, _ read: (inout CBORReader) throws(CBORError) -> Item
    ) throws(CBORError) -> [Item] {
        var result: [Item] = []
        result.reserveCapacity(count)
        for _ in 0..<count { result.append(try read(&self)) }
        return result
    }

    /// Reads text, or null.
    package mutating func optionalText() throws(CBORError) -> String? {
        try nullIfPresent() ? nil : try text()
    }

    /// Reads a map of fields.
    package mutating func fields() throws(CBORError) -> FieldTable {
        var table = FieldTable()
        for _ in 0..<(try map()) {
            let key = try text()
            let value = try recordValue()
            if !table.append(Field(key: key, value: value)) { table[key] = value }
        }
        return table
    }

    /// Takes whole items as they are.
    mutating func rawItems(_ count: Int) throws(CBORError) -> [UInt8] {
        var items: [UInt8] = []
        for _ in 0..<max(0, count) { items += try rawItem() }
        return items
    }
}

extension RecordList {
    /// The number that stands for the elements' kind.
    var elementKind: ElementKind {
        switch self {
        case .strings: .string
        case .int64s: .int64
        case .doubles: .double
        case .bytes: .bytes
        case .dates: .date
        case .locations: .location
        case .references: .reference
        }
    }
}

extension RecordValue {
    /// Reads a value from one whole CBOR item.
    package init?(cbor: [UInt8]) {
        var reader = CBORReader(cbor)
        guard let value = try? reader.recordValue(), reader.isAtEnd else { return nil }
        self = value
    }

    /// The value as one CBOR item.
    package var cbor: [UInt8] {
        var writer = CBORWriter()
        writer.recordValue(self)
        return writer.bytes
    }

    /// The name of a kind or action that format 1 reserves but this version does not build, if the value is one.
    var reservedName: String? {
        switch self {
        case .unknown(let value):
            var reader = CBORReader(value.cbor)
            guard (try? reader.array()) != nil, let number = try? reader.unsigned() else { return nil }
            switch ValueKind(rawValue: number) {
            case .asset: return "asset"
            case .encrypted: return "encrypted"
            default: return nil
            }
        case .reference(let reference): return reference.action == .none ? nil : "reference action"
        case .list(.references(let references)):
            return references.contains { $0.action != .none } ? "reference action" : nil
        default: return nil
        }
    }
}
