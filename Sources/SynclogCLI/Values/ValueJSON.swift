import SynclogRecords

/// Why a JSON value or a text cannot become a field's value.
struct ValueError: Error, Hashable, Sendable {
    /// What is wrong; nothing of the value itself.
    var reason: String
}

/// Values as JSON: bytes as base64, dates as RFC 3339, large whole numbers and NaN as strings.
enum ValueJSON {
    /// Whole numbers beyond this are written as strings, since many readers keep numbers as doubles.
    static let exactIntegerMax: Int64 = 1 << 53

    // MARK: Values to JSON

    /// The JSON of a value.
    static func json(_ value: RecordValue) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .int64(let number): isExact(number) ? .number(String(number)) : .string(String(number))
        case .double(let number): json(number)
        case .bytes(let bytes): .string(Base64.encode(bytes))
        case .date(let milliseconds): .string(InternetDate.text(milliseconds))
        case .location(let location): json(location)
        case .reference(let reference): value.hasReservedAction ? unknown(value) : json(reference)
        case .list(let list): value.hasReservedAction ? unknown(value) : .array(list.elements.map(json))
        case .unknown: unknown(value)
        }
    }

    /// A value that has no JSON of its own, as its bytes.
    private static func unknown(_ value: RecordValue) -> JSONValue {
        .members([("unknown", .string(Base64.encode(value.cbor)))])
    }

    static func isExact(_ number: Int64) -> Bool {
        (-exactIntegerMax...exactIntegerMax).contains(number)
    }

    static func json(_ number: Double) -> JSONValue {
        number.isFinite ? .number(number.description) : .string(DoubleText.text(number))
    }

    static func json(_ location: Location) -> JSONValue {
        var members: [(String, JSONValue)] = []
        for part in LocationPart.all {
            if let number = part.get(location) { members.append((part.name, json(number))) }
        }
        if let time = location.timestampMilliseconds {
            members.append(("timestamp", .string(InternetDate.text(time))))
        }
        return .members(members)
    }

    private static func json(_ reference: Reference) -> JSONValue {
        guard let zone = reference.zoneName else { return .string(reference.recordName) }
        return .members([("zone", .string(zone)), ("recordName", .string(reference.recordName))])
    }

    /// The kind that `types` must name so that the JSON can be read back, or nil if the JSON says it all.
    static func kindToName(_ value: RecordValue) -> FieldKind? {
        let kind = FieldKind(of: value)
        switch value {
        case .string: return nil
        case .int64(let number): return isExact(number) ? nil : kind
        case .double(let number): return number.isFinite ? nil : kind
        case .list(let list) where list.count == 0: return kind
        case .list(.strings): return nil
        case .list(.int64s(let numbers)): return numbers.allSatisfy(isExact) ? nil : kind
        case .list(.doubles(let numbers)): return numbers.allSatisfy(\.isFinite) ? nil : kind
        default: return kind
        }
    }

    // MARK: JSON to values

    /// The value of JSON for a field of the given kind; nil clears the field.
    static func value(_ json: JSONValue, kind: FieldKind?) throws(ValueError) -> RecordValue? {
        if json == .null { return nil }
        guard let kind else { return try plain(json) }
        guard kind.isList else { return try element(json, kind.element) }
        guard case .array(let items) = json else {
            throw ValueError(reason: "is \(json.kindName), but \(kind.text) needs an array")
        }
        var values: [RecordValue] = []
        for item in items { values.append(try element(item, kind.element)) }
        return list(values, kind.element)
    }

    private static func plain(_ json: JSONValue) throws(ValueError) -> RecordValue {
        switch json {
        case .null: throw ValueError(reason: "has a null inside a list")
        case .bool(let flag): return .int64(flag ? 1 : 0)
        case .string(let text): return .string(text)
        case .number(let text):
            return isWhole(text) ? .int64(try integer(text)) : .double(try double(text))
        case .array(let items): return try plainList(items)
        case .object:
            throw ValueError(reason: "is an object, which needs a kind: location, reference or unknown")
        }
    }

    private static func isWhole(_ number: String) -> Bool {
        !number.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }

    private static func plainList(_ items: [JSONValue]) throws(ValueError) -> RecordValue {
        guard let first = items.first else {
            throw ValueError(reason: "is an empty array, which needs a kind such as string[]")
        }
        var wanted = FieldKind.Element.string
        switch first {
        case .string: wanted = .string
        case .bool: wanted = .int64
        case .number:
            let whole = items.allSatisfy { item in
                if case .number(let text) = item { isWhole(text) } else { true }
            }
            wanted = whole ? .int64 : .double
        default: throw ValueError(reason: "is an array that holds \(first.kindName)")
        }
        var values: [RecordValue] = []
        for item in items {
            guard item.kindName == first.kindName else {
                throw ValueError(
                    reason: "is an array of different kinds: \(first.kindName) and \(item.kindName)")
            }
            values.append(wanted == .double ? try element(item, .double) : try plain(item))
        }
        return list(values, wanted)
    }

    /// A list of values that are all of one kind.
    static func list(_ values: [RecordValue], _ kind: FieldKind.Element) -> RecordValue {
        switch kind {
        case .string:
            .list(.strings(values.compactMap { if case .string(let item) = $0 { item } else { nil } }))
        case .int64: .list(.int64s(values.compactMap { if case .int64(let item) = $0 { item } else { nil } }))
        case .double:
            .list(.doubles(values.compactMap { if case .double(let item) = $0 { item } else { nil } }))
        case .bytes: .list(.bytes(values.compactMap { if case .bytes(let item) = $0 { item } else { nil } }))
        case .date:
            .list(
                .dates(milliseconds: values.compactMap { if case .date(let item) = $0 { item } else { nil } })
            )
        case .location:
            .list(.locations(values.compactMap { if case .location(let item) = $0 { item } else { nil } }))
        case .reference, .unknown:
            .list(.references(values.compactMap { if case .reference(let item) = $0 { item } else { nil } }))
        }
    }

    private static func element(_ json: JSONValue, _ kind: FieldKind.Element) throws(ValueError)
        -> RecordValue
    {
        let name = FieldKind(kind).text
        switch (kind, json) {
        case (.string, .string(let text)): return .string(text)
        case (.int64, .number(let text)) where isWhole(text): return .int64(try integer(text))
        case (.int64, .bool(let flag)): return .int64(flag ? 1 : 0)
        case (.double, .number(let text)): return .double(try double(text))
        case (.location, .object(let members)): return .location(try location(members))
        case (.reference(let zone), .object(let members)): return .reference(try reference(members, zone))
        case (.unknown, .object(let members))
        where members.count == 1 && sameBytes(members[0].key, "unknown"):
            guard case .string(let text) = members[0].value, let bytes = Base64.decode(text) else {
                throw ValueError(reason: "is not base64")
            }
            // Anything but one whole item would be taken for other parts of the record when it is read.
            guard let value = RecordValue(cbor: bytes) else {
                throw ValueError(reason: "is not one whole CBOR item")
            }
            return value
        case (.location, .string), (.unknown, .string):
            throw ValueError(reason: "is a string, but \(name) needs an object")
        case (_, .string(let text)): return try element(text: text, kind)
        default: throw ValueError(reason: "is \(json.kindName), which cannot be \(name)")
        }
    }

    private static func integer(_ text: String) throws(ValueError) -> Int64 {
        guard let number = Int64(text) else { throw ValueError(reason: "is a whole number beyond 64 bits") }
        return number
    }

    private static func double(_ text: String) throws(ValueError) -> Double {
        guard let number = Double(text), number.isFinite else {
            throw ValueError(reason: "is a number beyond the largest double")
        }
        return number
    }

    private static func location(_ members: [JSONMember]) throws(ValueError) -> Location {
        var location = Location(latitude: .nan, longitude: .nan)
        for member in members {
            if sameBytes(member.key, "timestamp") {
                guard case .string(let text) = member.value, let time = InternetDate.milliseconds(text) else {
                    throw ValueError(reason: "has a timestamp that is not an RFC 3339 date")
                }
                location.timestampMilliseconds = time
                continue
            }
            guard let part = LocationPart.all.first(where: { sameBytes($0.name, member.key) }) else {
                throw ValueError(reason: "has a key that a location does not have")
            }
            guard case .double(let number) = try element(member.value, .double) else {
                throw ValueError(reason: "has a \(part.name) that is not a number")
            }
            part.set(&location, number)
        }
        guard members.contains(where: { $0.key == "latitude" }),
            members.contains(where: { $0.key == "longitude" })
        else { throw ValueError(reason: "lacks latitude or longitude") }
        return location
    }

    private static func reference(_ members: [JSONMember], _ zone: String?) throws(ValueError) -> Reference {
        let object = JSONValue.object(members)
        guard case .string(let name)? = object.member("recordName"), members.count <= 2 else {
            throw ValueError(reason: "is not {\"zone\",\"recordName\"}")
        }
        guard members.count == 2 else { return Reference(recordName: name, zoneName: zone) }
        guard case .string(let own)? = object.member("zone") else {
            throw ValueError(reason: "is not {\"zone\",\"recordName\"}")
        }
        return Reference(recordName: name, zoneName: own)
    }

    // MARK: Text to values

    /// The value of a text for a kind that is no list.
    static func element(text: String, _ kind: FieldKind.Element) throws(ValueError) -> RecordValue {
        switch kind {
        case .string: return .string(text)
        case .int64:
            guard let number = Int64(text), !text.hasPrefix("+") else {
                throw ValueError(reason: "is not a whole number of 64 bits")
            }
            return .int64(number)
        case .double:
            guard let number = DoubleText.value(text) else {
                throw ValueError(reason: "is not a number, NaN, inf or -inf")
            }
            return .double(number)
        case .bytes:
            guard let bytes = Base64.decode(text) else { throw ValueError(reason: "is not base64") }
            return .bytes(bytes)
        case .date:
            guard let time = InternetDate.milliseconds(text) else {
                throw ValueError(reason: "is not an RFC 3339 date such as 2026-11-30T18:17:16.000Z")
            }
            return .date(milliseconds: time)
        case .location:
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { DoubleText.value(String($0)) }
            guard numbers.count == parts.count, (2...3).contains(numbers.count) else {
                throw ValueError(reason: "is not LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE")
            }
            return .location(
                Location(
                    latitude: numbers[0], longitude: numbers[1],
                    altitude: numbers.count > 2 ? numbers[2] : nil))
        case .reference(let zone): return .reference(Reference(recordName: text, zoneName: zone))
        case .unknown: throw ValueError(reason: "cannot be made from text")
        }
    }
}

/// The numbers of a location, in the order in which they are written.
struct LocationPart: Sendable {
    let name: String
    let get: @Sendable (Location) -> Double?
    let set: @Sendable (inout Location, Double) -> Void

    static let all: [LocationPart] = [
        LocationPart(name: "latitude", get: { $0.latitude }, set: { $0.latitude = $1 }),
        LocationPart(name: "longitude", get: { $0.longitude }, set: { $0.longitude = $1 }),
        LocationPart(name: "altitude", get: { $0.altitude }, set: { $0.altitude = $1 }),
        LocationPart(
            name: "horizontalAccuracy", get: { $0.horizontalAccuracy }, set: { $0.horizontalAccuracy = $1 }),
        LocationPart(
            name: "verticalAccuracy", get: { $0.verticalAccuracy }, set: { $0.verticalAccuracy = $1 }),
        LocationPart(name: "course", get: { $0.course }, set: { $0.course = $1 }),
        LocationPart(name: "speed", get: { $0.speed }, set: { $0.speed = $1 }),
    ]
}

/// Numbers as text: the shortest that reads back as the same bits, always with a point or an exponent.
enum DoubleText {
    /// The text of a number.
    static func text(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        return number.description
    }

    /// The number of a text as JSON writes numbers, or of `NaN`, `inf` and `-inf`.
    static func value(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "inf": return .infinity
        case "-inf": return -.infinity
        default:
            guard case .number(let number)? = try? JSONParser.parse(text), sameBytes(number, text),
                let value = Double(number), value.isFinite
            else { return nil }
            return value
        }
    }
}

extension RecordValue {
    /// Whether it refers with an action of a newer version, which JSON has no place for.
    var hasReservedAction: Bool {
        switch self {
        case .reference(let reference): reference.action != .none
        case .list(.references(let references)): references.contains { $0.action != .none }
        default: false
        }
    }
}
