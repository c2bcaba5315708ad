package import SynclogJournal

/// A field's value where it lies in a record's value.
package enum ValuePlace: Sendable {
    /// Text: its bytes, which are UTF-8.
    case string(Range<Int>)
    case int64(Int64)
    case double(Double)
    case bytes(Range<Int>)
    case date(milliseconds: Int64)
    /// A location, a reference, a list, or a value of a kind that this version does not know: the whole item.
    case other(Range<Int>)
}

/// A field where it lies in a record's value.
package struct FieldPlace: Sendable {
    /// The bytes of the field's name, which are UTF-8.
    package var key: Range<Int>
    package var value: ValuePlace
}

/// The parts of a put record where they lie in its value.
///
/// It is made once and filled again for each record, so that nothing is allocated for a record.
package struct RecordPlaces: Sendable {
    /// The bytes of the record's type, which are UTF-8.
    package private(set) var type = 0..<0
    /// The fields in rising order of their names' bytes.
    package private(set) var fields: [FieldPlace] = []

    package init() {}

    /// Finds the parts of a value; one that ``StoredRecord`` refuses is refused.
    package mutating func read(_ value: Span<UInt8>) throws(CBORError) {
        fields.removeAll(keepingCapacity: true)
        var scanner = CBORScanner(value)
        let count = try scanner.array()
        type = try scanner.text()
        for _ in 0..<(try scanner.map()) {
            let key = try scanner.text()
            add(FieldPlace(key: key, value: try scanner.valuePlace()), in: value)
        }
        _ = try scanner.integer()
        for _ in 0..<max(0, count - 3) { try scanner.skip() }
    }

    /// Adds a field; where names do not rise or are there twice, the last value of a name counts.
    private mutating func add(_ field: FieldPlace, in value: Span<UInt8>) {
        let key = value.extracting(field.key)
        guard let last = fields.last, !value.extracting(last.key).bytesPrecede(key) else {
            fields.append(field)
            return
        }
        var place = 0
        while value.extracting(fields[place].key).bytesPrecede(key) { place += 1 }
        if key.bytesPrecede(value.extracting(fields[place].key)) {
            fields.insert(field, at: place)
        } else {
            fields[place] = field
        }
    }
}

extension CBORScanner {
    /// Finds a field's value.
    fileprivate mutating func valuePlace() throws(CBORError) -> ValuePlace {
        var known = self
        do throws(CBORError) {
            if let place = try known.scalar() {
                self = known
                return place
            }
        } catch {
            // Not a value of that kind after all.
        }
        return .other(try skip())
    }

    private mutating func scalar() throws(CBORError) -> ValuePlace? {
        switch try peek() {
        case .text: return .string(try text())
        case .unsigned, .negative: return .int64(try integer())
        case .bytes: return .bytes(try byteString())
        case .simple: return .double(try double())
        case .array:
            guard try array() == 2, try unsigned() == ValueKind.date.rawValue else { return nil }
            return .date(milliseconds: try integer())
        case .map, .tag: return nil
        }
    }
}

extension RecordValue {
    /// Reads a value from one whole CBOR item; what this version does not know is kept as it is.
    package init(item: Span<UInt8>) {
        let cbor = Array(copying: item)
        self = RecordValue(cbor: cbor) ?? .unknown(UnknownValue(cbor: cbor))
    }
}
