/// A JSON value that loses nothing: numbers keep their text, objects keep their order.
indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// The value of a key of an object; keys are compared as bytes.
    func member(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { sameBytes($0.key, key) }?.value
    }

    /// What kind of value it is, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// An object of the given pairs in their order.
    static func members(_ pairs: [(String, JSONValue)]) -> JSONValue {
        .object(pairs.map { JSONMember(key: $0.0, value: $0.1) })
    }
}

/// One pair of an object.
struct JSONMember: Hashable, Sendable {
    var key: String
    var value: JSONValue
}

/// Text that is not JSON, and where that shows.
struct JSONError: Error, Hashable, Sendable {
    /// The line, from 1.
    var line: Int
    /// The column in characters (Unicode scalars), from 1.
    var column: Int
    /// What is wrong there.
    var reason: String
}
