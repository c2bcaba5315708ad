/// A field with its value.
public struct Field: Hashable, Sendable {
    /// The field's name.
    public var key: String
    /// What it holds.
    public var value: RecordValue

    /// Makes a field.
    public init(key: String, value: RecordValue) {
        self.key = key
        self.value = value
    }

    /// Compares the name's bytes and the value.
    public static func == (a: Field, b: Field) -> Bool { a.key.hasSameBytes(as: b.key) && a.value == b.value }

    /// Hashes the name's bytes and the value.
    public func hash(into hasher: inout Hasher) {
        key.hashBytes(into: &hasher)
        value.hash(into: &hasher)
    }
}

/// A field to be set, or cleared.
public struct FieldChange: Hashable, Sendable {
    /// The field's name.
    public var key: String
    /// What it will hold; nil clears the field.
    public var value: RecordValue?

    /// Makes a change.
    public init(key: String, value: RecordValue?) {
        self.key = key
        self.value = value
    }

    /// Compares the name's bytes and the value.
    public static func == (a: FieldChange, b: FieldChange) -> Bool {
        a.key.hasSameBytes(as: b.key) && a.value == b.value
    }

    /// Hashes the name's bytes and the value.
    public func hash(into hasher: inout Hasher) {
        key.hashBytes(into: &hasher)
        value.hash(into: &hasher)
    }
}

/// The fields of a record in rising order of their names' bytes.
package struct FieldTable: Hashable, Sendable {
    package private(set) var fields: [Field] = []

    package init() {}

    /// Adds a field behind all others.
    /// - Returns: False if its name is not behind that of the last.
    package mutating func append(_ field: Field) -> Bool {
        if let last = fields.last, !last.key.bytesPrecede(field.key) { return false }
        fields.append(field)
        return true
    }

    package subscript(key: String) -> RecordValue? {
        get {
            let place = self.place(of: key)
            return place.found ? fields[place.offset].value : nil
        }
        set {
            let place = self.place(of: key)
            switch (place.found, newValue) {
            case (true, let value?): fields[place.offset].value = value
            case (true, nil): fields.remove(at: place.offset)
            case (false, let value?): fields.insert(Field(key: key, value: value), at: place.offset)
            case (false, nil): break
            }
        }
    }

    private func place(of key: String) -> (offset: Int, found: Bool) {
        orderedPlace(of: key, in: fields, \.key)
    }

    /// Only the fields of these names.
    func selecting(_ keys: [String]) -> FieldTable {
        var result = FieldTable()
        for key in keys { result[key] = self[key] }
        return result
    }
}

extension [FieldChange] {
    /// Where a key stands, or would.
    func place(of key: String) -> (offset: Int, found: Bool) { orderedPlace(of: key, in: self, \.key) }
}

/// Where a name stands among rising ones, or would.
private func orderedPlace<Element>(
    of key: String, in elements: [Element], _ name: (Element) -> String
) -> (offset: Int, found: Bool) {
    var low = 0
    var high = elements.count
    while low < high {
        let middle = (low + high) / 2
        if name(elements[middle]).bytesPrecede(key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < elements.count && name(elements[low]).hasSameBytes(as: key))
}
