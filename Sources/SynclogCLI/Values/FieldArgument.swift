import SynclogRecords

/// A field on the command line: `FIELD=TEXT`, `FIELD:=JSON`, `FIELD:KIND=TEXT` or `FIELD:KIND:=JSON`.
struct FieldArgument: Hashable, Sendable {
    /// The field's name.
    var field: String
    /// What it is to hold; nil clears it.
    var value: RecordValue?

    init(field: String, value: RecordValue?) {
        self.field = field
        self.value = value
    }

    /// Reads a word; kinds of `--types` count where the word names none.
    init(_ word: String, kinds: KindTable = KindTable()) throws(CommandFailure) {
        // Signs are looked for as bytes: behind a combining character, or before one, they are parts of another Character.
        guard let sign = word.utf8.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") })
        else {
            throw .usage(
                "'\(shown(word))' is no field",
                next: "write FIELD=TEXT, FIELD:=JSON, FIELD:KIND=TEXT or FIELD:KIND:=JSON")
        }
        field = String(word[..<sign])
        guard Self.isFieldName(field) else {
            throw .usage(
                "'\(shown(field))' is no field name",
                next: "use an ASCII letter, then letters, digits and _, at most 255")
        }
        let rest = word[sign...].utf8
        guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else {
            throw .usage("field '\(field)' has a kind but no value", next: "write FIELD:KIND=TEXT")
        }
        var name = rest[..<equals]
        let isJSON = name.last == UInt8(ascii: ":")
        if isJSON { name = name.dropLast() }
        var kind = kinds[field]
        if !name.isEmpty {
            let name = String(Substring(name.dropFirst()))
            guard let named = FieldKind(name) else {
                throw .usage(
                    "field '\(field)': unknown kind '\(shown(name))'", next: "kinds are \(FieldKind.allNames)"
                )
            }
            kind = named
        }
        let text = String(Substring(rest[rest.index(after: equals)...]))
        do throws(ValueError) {
            if isJSON {
                value = try ValueJSON.value(try Self.parse(text), kind: kind)
            } else if let kind, kind.isList {
                throw ValueError(reason: "is a list, which must be written as JSON: FIELD:KIND:=[...]")
            } else {
                value = try ValueJSON.element(text: text, kind?.element ?? .string)
            }
        } catch {
            throw CommandFailure(.usage, "field '\(field)' \(error.reason)", next: "see 'synclog put --help'")
        }
    }

    /// JSON without any character that a terminal would act on; such ones stand in strings only.
    private static func escaped(_ json: String) -> String {
        var text = ""
        for scalar in json.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .format:
                for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func parse(_ text: String) throws(ValueError) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(text)
        } catch {
            throw ValueError(reason: "is not JSON at column \(error.column): \(error.reason)")
        }
    }

    /// Whether a text is an ASCII letter followed by letters, digits and `_`, at most 255 in all.
    static func isFieldName(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= 255, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else {
            return false
        }
        return bytes.allSatisfy { byte in
            byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39 || byte == 0x5F
        }
    }

    /// A field as `put` takes it back: the inverse of ``init(_:kinds:)``.
    static func text(_ field: String, _ value: RecordValue) -> String {
        if case .string(let text) = value, shown(text).utf8.elementsEqual(text.utf8) {
            return "\(field)=\(text)"
        }
        let kind = ValueJSON.kindToName(value).map { ":\($0.text)" } ?? ""
        return "\(field)\(kind):=\(escaped(JSONWriter.text(ValueJSON.json(value))))"
    }
}
