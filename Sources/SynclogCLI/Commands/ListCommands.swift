import SynclogRecords

extension Command {
    /// The command `synclog list`.
    static let list = Command(
        name: "list",
        operands: "ZONE",
        summary: "print the records of a zone, sorted by the bytes of their names",
        details: [
            "Without --json a line holds name, type and change tag between tabs. With --json it holds recordName, "
                + "recordType, changeTag, fields and types. Bytes are base64, dates RFC 3339 with milliseconds, "
                + "whole numbers beyond 2^53 and NaN, inf and -inf strings; a reference is a name, or an object "
                + "of zone and recordName for another zone. 'types' names the kind of each field that JSON alone "
                + "does not give back."
        ],
        options: [Option("json", help: "one JSON object a line")],
        examples: ["synclog -D notes list shopping --json"],
        run: runList)

    private static func runList(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(1...1)
        try await OpenedDatabase.use(invocation, writing: false) { opened throws(CommandFailure) in
            let form: RecordForm = invocation.arguments.has("json") ? .json(zone: nil) : .row
            try await printRecords(of: words[0], in: opened, form, invocation.console)
        }
    }

    /// The command `synclog export`.
    static let export = Command(
        name: "export",
        operands: "[ZONE...]",
        summary: "print the live records of zones as lines that 'import' reads",
        details: [
            "One JSON object a line, as 'list --json' prints it, with the zone in front. Without ZONE all zones, "
                + "sorted by the bytes of their names."
        ],
        examples: ["synclog -D notes export >notes.ndjson"],
        run: runExport)

    private static func runExport(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(0...Int.max)
        try await OpenedDatabase.use(invocation, writing: false) { opened throws(CommandFailure) in
            var names = words
            if names.isEmpty {
                let zones = try await database { () throws(SyncError) in
                    try await opened.database.allRecordZones()
                }
                names = zones.map(\.zoneID.zoneName)
            }
            for name in names {
                try await printRecords(of: name, in: opened, .json(zone: name), invocation.console)
            }
        }
    }

    /// Prints all records of a zone, sorted by the bytes of their names.
    private static func printRecords(
        of zone: String, in opened: OpenedDatabase, _ form: RecordForm, _ console: Console
    ) async throws(CommandFailure) {
        let id = RecordZone.ID(zoneName: zone)
        if let local = opened.database as? JournalDatabase {
            return try printRecords(of: id, in: local, form, console)
        }
        let records = try await database { () throws(SyncError) in
            try await opened.database.allRecords(inZoneWith: id)
        }
        var line: [UInt8] = []
        for record in records { try print(record, form, &line, console) }
    }

    /// Prints a record of a remote database in the form in which it would be stored here.
    private static func print(
        _ record: Record, _ form: RecordForm, _ line: inout [UInt8], _ console: Console
    ) throws(CommandFailure) {
        let value = StoredRecord(type: record.recordType, fields: record.fields, created: 0).encoded()
        let name = Array(record.recordID.recordName.utf8)
        var places = RecordPlaces()
        guard let tag = record.recordChangeTag, (try? places.read(value.span)) != nil else { return }
        line.removeAll(keepingCapacity: true)
        form.append(
            JournalDatabase.LiveRecord(name: name.span, value: value.span, places: places, tag: tag),
            to: &line)
        try console.write(line)
    }

    private static func printRecords(
        of id: RecordZone.ID, in local: JournalDatabase, _ form: RecordForm, _ console: Console
    ) throws(CommandFailure) {
        var line: [UInt8] = []
        var failure: CommandFailure?
        do throws(SyncError) {
            try local.forEachLiveRecord(inZoneWith: id) { record in
                line.removeAll(keepingCapacity: true)
                form.append(record, to: &line)
                do throws(CommandFailure) {
                    try console.write(line)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch {
            throw CommandFailure(error)
        }
        if let failure { throw failure }
    }
}
