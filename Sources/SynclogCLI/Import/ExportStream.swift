/// Reads what `dump -o export` prints: entries in the journal export format.
struct ExportStream {
    /// Only records and zones of this name; nil means all.
    var zone: String?

    /// The wishes of an input, one after the other.
    func read(
        _ input: InputReader, _ use: (RecordWish) async throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        var number = 0
        while let fields = try Self.entry(input, number: number + 1) {
            number += 1
            if fields.isEmpty { continue }
            if let wish = try wish(fields, "\(input.name), entry \(number)") { try await use(wish) }
        }
    }

    private struct Field {
        var name: String
        var value: [UInt8]
    }

    /// The fields of the next entry, or nil at the end.
    private static func entry(_ input: InputReader, number: Int) throws(CommandFailure) -> [Field]? {
        var fields: [Field] = []
        func refuse(_ reason: String) -> CommandFailure {
            CommandFailure(
                .usage, "\(input.name), entry \(number): \(reason)",
                next: "make the stream again by 'synclog dump -o export'")
        }
        while let line = try input.line() {
            if line.isEmpty { return fields }
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                let name = try name(line[..<equals], refuse)
                fields.append(Field(name: name, value: Array(line[(equals + 1)...])))
                continue
            }
            let name = try name(line[...], refuse)
            guard let head = try input.bytes(8) else { throw refuse("the stream ends inside a field") }
            let size = head.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard size <= UInt64(InputReader.lineSizeMax) else {
                throw refuse("a field of \(size) bytes is too long")
            }
            guard let value = try input.bytes(Int(size)), let end = try input.bytes(1) else {
                throw refuse("the stream ends inside a field")
            }
            guard end == [0x0A] else { throw refuse("a field has another length than it says") }
            fields.append(Field(name: name, value: value))
        }
        return fields.isEmpty ? nil : fields
    }

    private static func name(_ bytes: ArraySlice<UInt8>, _ refuse: (String) -> CommandFailure)
        throws(CommandFailure) -> String
    {
        let good = bytes.allSatisfy { byte in
            byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") || byte >= 0x30 && byte <= 0x39
                || byte == 0x5F
        }
        guard good, !bytes.isEmpty, bytes.count <= 2048 else {
            throw refuse("this is not the journal export format")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What an entry means, or nil if it changed no record and no zone.
    private func wish(_ fields: [Field], _ place: String) throws(CommandFailure) -> RecordWish? {
        func refuse(_ reason: String) -> CommandFailure {
            CommandFailure(
                .usage, "\(place): \(reason)", next: "make the stream again by 'synclog dump -o export'")
        }
        func text(_ name: String) throws(CommandFailure) -> String? {
            guard let field = fields.first(where: { $0.name == name }) else { return nil }
            guard let text = String(validating: field.value, as: UTF8.self) else {
                throw refuse("\(name) is not UTF-8")
            }
            return text
        }
        guard let operation = try text("OP"),
            ["save", "delete", "create-zone", "delete-zone"].contains(operation)
        else {
            return nil
        }
        guard let own = try text("ZONE") else { throw refuse("ZONE is missing") }
        if let zone, !sameBytes(zone, own) { return nil }
        switch operation {
        case "create-zone": return RecordWish(zone: own, name: "", action: .makeZone, place: place)
        case "delete-zone": return RecordWish(zone: own, name: "", action: .deleteZone, place: place)
        default: break
        }
        guard let name = try text("RECORD") else { throw refuse("RECORD is missing") }
        if operation == "delete" { return RecordWish(zone: own, name: name, action: .delete, place: place) }
        guard let type = try text("TYPE"), let typesText = try text("FIELD_TYPES") else {
            throw refuse("TYPE or FIELD_TYPES is missing")
        }
        guard case .object(let types)? = try? JSONParser.parse(typesText) else {
            throw refuse("FIELD_TYPES is no JSON object")
        }
        var values: [[UInt8]: [[UInt8]]] = [:]
        for field in fields {
            guard let key = UserFieldName.decode(field.name) else { continue }
            values[Array(key.utf8), default: []].append(field.value)
        }
        var arguments: [FieldArgument] = []
        for member in types {
            guard case .string(let kind) = member.value else {
                throw refuse("FIELD_TYPES names no type of a field")
            }
            do throws(ValueError) {
                let dumped = DumpValue(type: kind, values: values[Array(member.key.utf8)] ?? [])
                arguments.append(FieldArgument(field: member.key, value: try dumped.value()))
            } catch {
                throw refuse("field '\(shown(member.key))' \(error.reason)")
            }
        }
        return RecordWish(
            zone: own, name: name, action: .save(type: type, fields: arguments, replaces: true), place: place)
    }
}
