import SynclogRecords

/// A record as one line of JSON, the form of `list`, `export` and `import`.
struct RecordLine: Sendable {
    /// The zone, where the line names it.
    var zone: String?
    /// The record's name; `put -` may leave it out.
    var recordName: String?
    /// The record's type, where the line names it.
    var recordType: String?
    /// The fields, in the order of the line; nil clears one.
    var fields: [FieldArgument] = []

    /// The JSON of a record; keys in a fixed order, fields in rising order of their bytes.
    static func json(_ record: Record, zone: String? = nil) -> JSONValue {
        var members: [(String, JSONValue)] = []
        if let zone { members.append(("zone", .string(zone))) }
        members.append(("recordName", .string(record.recordID.recordName)))
        members.append(("recordType", .string(record.recordType)))
        members.append(("changeTag", record.recordChangeTag.map { .string($0.text) } ?? .null))
        var fields: [(String, JSONValue)] = []
        var types: [(String, JSONValue)] = []
        for key in record.allKeys() {
            guard let value = record[key] else { continue }
            fields.append((key, ValueJSON.json(value)))
            if let kind = ValueJSON.kindToName(value) { types.append((key, .string(kind.text))) }
        }
        members.append(("fields", .members(fields)))
        members.append(("types", .members(types)))
        return .members(members)
    }

    /// Whether JSON is a record's line and not a plain object of fields.
    static func isRecordLine(_ json: JSONValue) -> Bool {
        guard case .object(let members) = json, case .object? = json.member("fields") else { return false }
        let known = ["zone", "recordName", "recordType", "changeTag", "fields", "types"]
        return members.allSatisfy { member in known.contains { sameBytes($0, member.key) } }
    }

    /// Reads a record's line; kinds of `--types` count where the line names none.
    init(_ json: JSONValue, kinds: KindTable) throws(ValueError) {
        zone = try Self.text(json, "zone")
        recordName = try Self.text(json, "recordName")
        recordType = try Self.text(json, "recordType")
        guard case .object(let members)? = json.member("fields") else {
            throw ValueError(reason: "has no object 'fields'")
        }
        var types: [JSONMember] = []
        if let given = json.member("types") {
            guard case .object(let rows) = given else {
                throw ValueError(reason: "has 'types' that is no object")
            }
            types = rows
        }
        for row in types {
            guard members.contains(where: { sameBytes($0.key, row.key) }) else {
                throw ValueError(reason: "names a type of '\(shown(row.key))', which is no field of it")
            }
        }
        for member in members {
            var kind = kinds[member.key]
            if let row = types.first(where: { sameBytes($0.key, member.key) }) {
                guard case .string(let name) = row.value, let named = FieldKind(name) else {
                    throw ValueError(reason: "names an unknown kind for field '\(shown(member.key))'")
                }
                kind = named
            }
            fields.append(try Self.field(member, kind))
        }
    }

    /// Reads a plain object of fields.
    init(fields json: JSONValue, kinds: KindTable) throws(ValueError) {
        guard case .object(let members) = json else {
            throw ValueError(reason: "is \(json.kindName), not an object")
        }
        for member in members { fields.append(try Self.field(member, kinds[member.key])) }
    }

    private static func text(_ json: JSONValue, _ key: String) throws(ValueError) -> String? {
        switch json.member(key) {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw ValueError(reason: "has '\(key)' that is no string")
        }
    }

    private static func field(_ member: JSONMember, _ kind: FieldKind?) throws(ValueError) -> FieldArgument {
        guard FieldArgument.isFieldName(member.key) else {
            throw ValueError(
                reason:
                    "has a field name '\(shown(member.key))' that is not an ASCII letter, then letters, digits and _"
            )
        }
        do throws(ValueError) {
            return FieldArgument(field: member.key, value: try ValueJSON.value(member.value, kind: kind))
        } catch {
            throw ValueError(reason: "has field '\(member.key)', which \(error.reason)")
        }
    }
}
