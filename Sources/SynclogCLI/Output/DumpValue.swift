import SynclogRecords

/// A value as text or bytes, and the name of its type.
struct DumpValue: Hashable, Sendable {
    /// The type, in the grammar of `--types`; `json:` stands before it if the one value is JSON.
    var type: String
    /// One value, or those of a list.
    var values: [[UInt8]]

    private static let jsonPrefix = "json:"

    init(_ value: RecordValue) {
        let value = value.hasReservedAction ? .unknown(UnknownValue(cbor: value.cbor)) : value
        let kind = FieldKind(of: value)
        type = kind.text
        let elements = if case .list(let list) = value { list.elements } else { [value] }
        if elements.allSatisfy({ Self.isNamed($0, by: kind) }) {
            values = elements.map(Self.bytes)
        } else {
            type = Self.jsonPrefix + type
            values = [JSONWriter.bytes(ValueJSON.json(value))]
        }
    }

    init(type: String, values: [[UInt8]]) {
        self.type = type
        self.values = values
    }

    /// Whether a value's text together with the kind says where a reference points.
    private static func isNamed(_ value: RecordValue, by kind: FieldKind) -> Bool {
        guard case .reference(let reference) = value, case .reference(let zone) = kind.element else {
            return true
        }
        return sameOptionalBytes(reference.zoneName, zone)
    }

    private static func bytes(_ value: RecordValue) -> [UInt8] {
        switch value {
        case .string(let text): Array(text.utf8)
        case .int64(let number): Array(String(number).utf8)
        case .double(let number): Array(DoubleText.text(number).utf8)
        case .bytes(let bytes): bytes
        case .date(let milliseconds): Array(InternetDate.text(milliseconds).utf8)
        case .location(let location): JSONWriter.bytes(ValueJSON.json(location))
        case .reference(let reference): Array(reference.recordName.utf8)
        case .unknown(let value): value.cbor
        case .list: JSONWriter.bytes(ValueJSON.json(value))
        }
    }

    /// The value again.
    func value() throws(ValueError) -> RecordValue {
        let isJSON = type.hasPrefix(Self.jsonPrefix)
        let name = isJSON ? String(type.dropFirst(Self.jsonPrefix.count)) : type
        guard let kind = FieldKind(name) else { throw ValueError(reason: "has an unknown type") }
        if isJSON {
            guard values.count == 1, let json = try? JSONParser.parse(values[0]),
                let value = try ValueJSON.value(json, kind: kind)
            else { throw ValueError(reason: "is not one value of JSON") }
            return value
        }
        var elements: [RecordValue] = []
        for bytes in values { elements.append(try Self.element(bytes, kind.element)) }
        if kind.isList { return ValueJSON.list(elements, kind.element) }
        guard elements.count == 1 else {
            throw ValueError(reason: "has \(elements.count) values, but its type is no list")
        }
        return elements[0]
    }

    private static func element(_ bytes: [UInt8], _ kind: FieldKind.Element) throws(ValueError) -> RecordValue
    {
        switch kind {
        case .bytes: return .bytes(bytes)
        case .unknown:
            guard let value = RecordValue(cbor: bytes) else {
                throw ValueError(reason: "is not one whole CBOR item")
            }
            return value
        case .location:
            guard let json = try? JSONParser.parse(bytes),
                let value = try ValueJSON.value(json, kind: FieldKind(.location))
            else { throw ValueError(reason: "is not a location") }
            return value
        default:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ValueError(reason: "is not UTF-8")
            }
            return try ValueJSON.element(text: text, kind)
        }
    }
}
