/// One row of an option table; parsing and help are both printed from it.
struct Option: Sendable {
    /// Whether a value belongs to the option.
    enum Argument: Sendable {
        /// No value.
        case none
        /// A value that is attached or follows; the name is what help shows.
        case required(String)
        /// A value that is attached, or follows if `follows` says that the next word is one.
        case optional(String, follows: @Sendable (String) -> Bool)
    }

    /// The long name without dashes.
    var name: String
    /// The letter of the short form.
    var letter: Character?
    /// Whether a value belongs to the option.
    var argument: Argument
    /// One line or more for the help.
    var help: String

    init(_ name: String, _ letter: Character? = nil, _ argument: Argument = .none, help: String) {
        self.name = name
        self.letter = letter
        self.argument = argument
        self.help = help
    }

    /// The form that help shows, for instance `-n, --lines[=N]`.
    var synopsis: String {
        let short = letter.map { "-\($0), " } ?? "    "
        switch argument {
        case .none: return "\(short)--\(name)"
        case .required(let value): return "\(short)--\(name)=\(value)"
        case .optional(let value, _): return "\(short)--\(name)[=\(value)]"
        }
    }
}

/// What a command line held: options with their values, and the other words in order.
struct ParsedArguments: Sendable {
    /// The words that are no options.
    var operands: [String] = []
    /// The options in the order given.
    private(set) var all: [(name: String, value: String?)] = []

    /// Adds an option as it was met.
    mutating func add(_ name: String, _ value: String?) { all.append((name, value)) }

    /// Whether an option was given.
    func has(_ name: String) -> Bool { all.contains { $0.name == name } }

    /// The value of an option; given more than once the last one counts.
    func value(_ name: String) -> String? { all.last { $0.name == name }?.value }

    /// All values of an option in the order given.
    func values(_ name: String) -> [String] { all.compactMap { $0.name == name ? $0.value : nil } }
}
