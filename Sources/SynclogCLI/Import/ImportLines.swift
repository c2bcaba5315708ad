import SynclogRecords

/// How lines of JSON become wishes.
struct ImportLines: Sendable {
    /// Only records of this zone; nil takes the zone from each line.
    var zone: String?
    /// The field with the record's name; nil means that lines are those of `list` and `export`.
    var key: String?
    /// The field with the record's type.
    var typeField: String?
    /// The type of records whose line does not tell it; nil keeps the one that is there.
    var type: String?
    /// Kinds of fields.
    var kinds: KindTable
    /// Only lines whose fields have these values.
    var conditions: [(field: String, value: String)]
    /// Keep fields that the line lacks.
    var merges: Bool

    /// The wishes of an input, one after the other.
    func read(
        _ input: InputReader, _ use: (RecordWish) async throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        while let line = try input.line() {
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            if let wish = try wish(line, number: input.lineNumber, input.name) { try await use(wish) }
        }
    }

    /// The wish of a line, or nil if the line is not meant.
    func wish(_ line: [UInt8], number: Int, _ name: String) throws(CommandFailure) -> RecordWish? {
        let place = "\(name), line \(number)"
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONParser.parse(line, line: number)
        } catch {
            throw CommandFailure(
                .usage, "\(name), line \(error.line), column \(error.column): \(error.reason)",
                next: "correct the line; nothing was imported")
        }
        do throws(ValueError) {
            guard let key else { return try whole(json, place) }
            return try plain(json, key, place)
        } catch {
            throw CommandFailure(
                .usage, "\(place) \(error.reason)", next: "correct the line; nothing was imported")
        }
    }

    /// A line of any other program: the record's fields side by side.
    private func plain(_ json: JSONValue, _ key: String, _ place: String) throws(ValueError) -> RecordWish? {
        guard case .object(let members) = json else {
            throw ValueError(reason: "is \(json.kindName), not an object")
        }
        guard let zone else { throw ValueError(reason: "names no zone") }
        guard meets(members) else { return nil }
        guard let name = Self.text(json.member(key)) else {
            throw ValueError(reason: "lacks a name in field '\(shown(key))'")
        }
        var type = self.type
        if let typeField {
            guard case .string(let text)? = json.member(typeField) else {
                throw ValueError(reason: "lacks a type in field '\(shown(typeField))'")
            }
            type = text
        }
        let rest = members.filter { member in
            !member.key.hasSameBytes(as: key) && !(typeField.map { member.key.hasSameBytes(as: $0) } ?? false)
        }
        let fields = try RecordLine(fields: .object(rest), kinds: kinds).fields
        return RecordWish(
            zone: zone, name: name, action: .save(type: type, fields: fields, replaces: !merges), place: place
        )
    }

    /// A line of `list` or `export`.
    private func whole(_ json: JSONValue, _ place: String) throws(ValueError) -> RecordWish? {
        guard RecordLine.isRecordLine(json) else {
            throw ValueError(
                reason:
                    "is no line of 'export'; for other JSON name the field with the record's name by --key")
        }
        let line = try RecordLine(json, kinds: kinds)
        guard let name = line.recordName else { throw ValueError(reason: "lacks 'recordName'") }
        if let zone, let own = line.zone, !own.hasSameBytes(as: zone) { return nil }
        guard let zone = zone ?? line.zone else {
            throw ValueError(reason: "lacks 'zone'; name one before the file")
        }
        if case .object(let members)? = json.member("fields"), !meets(members) { return nil }
        return RecordWish(
            zone: zone, name: name,
            action: .save(type: line.recordType ?? type, fields: line.fields, replaces: !merges), place: place
        )
    }

    private func meets(_ members: [JSONMember]) -> Bool {
        conditions.allSatisfy { condition in
            let value = members.first { $0.key.hasSameBytes(as: condition.field) }?.value
            return Self.text(value).map { $0.hasSameBytes(as: condition.value) } ?? false
        }
    }

    /// A string, number or boolean as text.
    private static func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?, .number(let text)?: text
        case .bool(let flag)?: flag ? "true" : "false"
        default: nil
        }
    }
}
