/// A list of zones by name, compared as bytes: each once, in rising byte order.
public struct ZoneNames: Hashable, Sendable {
    /// The UTF-8 of the names.
    let encoded: [[UInt8]]

    /// Makes a list; order and repeats do not matter.
    public init(_ names: [String]) {
        self.init(encoded: names.map { Array($0.utf8) })
    }

    init(encoded names: [[UInt8]]) {
        encoded = Set(names).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The names in order.
    public var names: [String] { encoded.map { String(decoding: $0, as: UTF8.self) } }

    /// Whether a name is in the list.
    func contains(_ name: String) -> Bool { encoded.contains(Array(name.utf8)) }
}
