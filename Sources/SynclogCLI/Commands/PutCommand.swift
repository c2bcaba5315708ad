import SynclogRecords

extension Command {
    /// How fields are written; `put` and `import` share it.
    static let valueHelp = """
        Fields:
          FIELD=TEXT             text, exactly as it stands
          FIELD:=JSON            a number, text, or an array of one kind; true and
                                 false are stored as 1 and 0; null clears the field
          FIELD:KIND=TEXT        a value of a kind:
            n:int64=9007199254740993         x:double=NaN   (also inf, -inf)
            photo:bytes=AAEC/w==             base64
            due:date=2026-11-30T18:17:16.250Z   RFC 3339, to the millisecond
            home:location=52.52,13.405       LATITUDE,LONGITUDE[,ALTITUDE]
            owner:reference=alice            a record of the same zone
            owner:reference@people=alice     a record of zone people
          FIELD:KIND:=JSON       the same from JSON, for lists too:
            days:date[]:='["2026-11-30T00:00:00Z"]'   tags:string[]:='[]'
            home:location:='{"latitude":52.52,"longitude":13.405}'
            owner:reference:='{"zone":"people","recordName":"alice"}'
        """

    /// The command `synclog put`.
    static let put = Command(
        name: "put",
        operands: "ZONE NAME [FIELD...] [-]",
        summary: "save fields of a record and keep its other fields",
        details: [
            "Makes the record if it is not there, and the zone too, saying so. The word - reads a JSON object "
                + "from standard input: field names with their values, or a line of 'list --json'. "
                + "Fields on the command line come after it.",
            valueHelp,
            "With --if-tag the save takes place only if the record still has that change tag; 'none' means that "
                + "it must not be there. Otherwise the status is 1, and one JSON object on standard output holds "
                + "both versions as 'client' and 'server'.",
        ],
        options: [
            Option("type", "t", .required("TYPE"), help: "the record's type (of a new one: Record)"),
            Option("types", nil, .required("LIST"), help: "kinds of fields: FIELD:KIND,FIELD:KIND"),
            Option("if-tag", nil, .required("TAG"), help: "only if the record has this tag, or none"),
            Option("no-create", help: "refuse instead of making the zone"),
            Option("json", help: "print the saved record as a line of 'list --json'"),
        ],
        examples: [
            "synclog -D notes put shopping milk --type Item title=Milk count:=2",
            "echo '{\"count\":3}' | synclog -D notes put shopping milk -",
        ],
        run: runPut)

    private static func runPut(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(2...Int.max)
        let kinds =
            try invocation.arguments.value("types").map { text throws(CommandFailure) in
                try KindTable(option: text)
            } ?? KindTable()
        let id = Record.ID(recordName: words[1], zoneID: RecordZone.ID(zoneName: words[0]))
        var fields: [FieldArgument] = []
        var type = invocation.arguments.value("type")
        for word in words[2...] {
            if word == "-" {
                let line = try readObject(kinds)
                fields += line.fields
                type = type ?? line.recordType
            } else {
                fields.append(try FieldArgument(word, kinds: kinds))
            }
        }
        let save = RecordPut(
            id: id, type: type, fields: fields, condition: try tagCondition(invocation),
            createsZone: !invocation.arguments.has("no-create"))
        try await OpenedDatabase.use(invocation, writing: true) { opened throws(CommandFailure) in
            let record = try await save.perform(on: opened, invocation.console)
            if invocation.arguments.has("json") {
                try invocation.console.line(JSONWriter.text(RecordLine.json(record)))
            }
        }
    }

    private static func readObject(_ kinds: KindTable) throws(CommandFailure) -> RecordLine {
        let input = try InputReader("-")
        let bytes = try input.rest()
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONParser.parse(bytes)
        } catch {
            throw CommandFailure(
                .usage, "standard input, line \(error.line), column \(error.column): \(error.reason)",
                next: "give one JSON object")
        }
        do throws(ValueError) {
            if RecordLine.isRecordLine(json) { return try RecordLine(json, kinds: kinds) }
            return try RecordLine(fields: json, kinds: kinds)
        } catch {
            throw CommandFailure(.usage, "standard input \(error.reason)", next: "see 'synclog put --help'")
        }
    }

    /// What `--if-tag` asks for.
    static func tagCondition(_ invocation: Invocation) throws(CommandFailure) -> TagCondition {
        guard let text = invocation.arguments.value("if-tag") else { return .any }
        if text == "none" { return .missing }
        guard let tag = ChangeTag(text) else {
            throw .usage("--if-tag: no change tag", next: "copy it from 'synclog get' or 'synclog list'")
        }
        return .tag(tag)
    }
}

/// Which version of a record a change takes place on.
enum TagCondition: Hashable, Sendable {
    /// Whatever is there.
    case any
    /// Nothing is there.
    case missing
    /// This one.
    case tag(ChangeTag)
}

/// One save of some fields of a record.
struct RecordPut {
    let id: Record.ID
    let type: String?
    let fields: [FieldArgument]
    let condition: TagCondition
    let createsZone: Bool

    /// Others may change the record while it is read and saved; more often than this they are too many.
    private static let attemptsMax = 20

    /// Saves, and makes a missing zone first.
    func perform(on opened: OpenedDatabase, _ console: Console) async throws(CommandFailure) -> Record {
        var zoneChecked = false
        for _ in 0..<Self.attemptsMax {
            var record: Record
            do throws(CommandFailure) {
                record = try await current(opened)
            } catch {
                guard error.code == .notSo, !zoneChecked else { throw error }
                zoneChecked = true
                try await opened.ensureZone(id.zoneID, create: createsZone, console)
                continue
            }
            for field in fields { record[field.field] = field.value }
            if let saved = try await save(record, opened, console) { return saved }
        }
        throw CommandFailure(
            .busy,
            "record '\(shown(id.recordName))' in zone '\(shown(id.zoneID.zoneName))' is changed all the time",
            next: "run the command again")
    }

    /// The record to change: the one that is there, or a new one.
    private func current(_ opened: OpenedDatabase) async throws(CommandFailure) -> Record {
        guard var record = try await opened.record(id) else {
            return Record(recordType: type ?? "Record", recordID: id)
        }
        if let type { record.recordType = type }
        return record
    }

    /// Saves.
    /// - Returns: Nil if the record was changed meanwhile and it may be tried again.
    private func save(
        _ record: Record, _ opened: OpenedDatabase, _ console: Console
    ) async throws(CommandFailure) -> Record? {
        switch condition {
        case .any: break
        case .missing where record.recordChangeTag == nil: break
        case .tag(let tag) where record.recordChangeTag == tag: break
        default: throw try conflict(client: mine(record), server: record.ancestor, console)
        }
        let results = try await database { () throws(SyncError) in
            try await opened.database.modifyRecords(
                saving: [record], deleting: [RecordDeletion](), context: opened.writeContext())
        }
        switch results.saveResults[id] {
        case .success(let saved)?: return saved
        case .failure(let error)?:
            let changed = error.code == .serverRecordChanged || error.code == .unknownItem
            guard changed else { throw CommandFailure(error) }
            if condition == .any { return nil }
            throw try conflict(client: record, server: error.serverRecord, console)
        case nil:
            throw CommandFailure(
                .remote, "the database did not answer for a record", next: "look by 'synclog get'")
        }
    }

    /// What was to be saved, under the tag it was based on.
    private func mine(_ record: Record) -> Record {
        guard record.recordChangeTag != nil, case .missing = condition else { return record }
        var fresh = Record(recordType: record.recordType, recordID: id)
        for field in fields { fresh[field.field] = field.value }
        return fresh
    }

    private func conflict(client: Record, server: Record?, _ console: Console) throws(CommandFailure)
        -> CommandFailure
    {
        try TagConflict(id: id, client: client, server: server, condition: condition).report(console)
    }
}

/// A change that was refused because the record has another version.
struct TagConflict {
    let id: Record.ID
    let client: Record?
    let server: Record?
    let condition: TagCondition

    /// Prints both versions and gives the failure.
    func report(_ console: Console) throws(CommandFailure) -> CommandFailure {
        let there = server.flatMap { $0.recordChangeTag == nil ? nil : $0 }
        var mine = client.map { RecordLine.json($0) } ?? .null
        if case .tag(let tag) = condition, case .object(var members) = mine {
            for place in members.indices where members[place].key == "changeTag" {
                members[place].value = .string(tag.text)
            }
            mine = .object(members)
        }
        let versions = JSONValue.members([
            ("client", mine), ("server", there.map { RecordLine.json($0) } ?? .null),
        ])
        try console.line(JSONWriter.text(versions))
        let name = "record '\(shown(id.recordName))' in zone '\(shown(id.zoneID.zoneName))'"
        guard let tag = there?.recordChangeTag else {
            return CommandFailure(
                .notSo, "conflict: \(name) is not there", next: "save it with --if-tag none")
        }
        let text = condition == .missing ? "is there already" : "has changed"
        return CommandFailure(
            .notSo, "conflict: \(name) \(text)",
            next: "merge both versions and save with --if-tag \(tag.text)")
    }
}
