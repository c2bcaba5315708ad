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
            for record in try await records(opened, words[0]) {
                if invocation.arguments.has("json") {
                    try invocation.console.line(JSONWriter.text(RecordLine.json(record)))
                } else {
                    let tag = record.recordChangeTag?.text ?? "-"
                    try invocation.console.line(
                        "\(shown(record.recordID.recordName))\t\(record.recordType)\t\(tag)")
                }
            }
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
                for record in try await records(opened, name) {
                    try invocation.console.line(JSONWriter.text(RecordLine.json(record, zone: name)))
                }
            }
        }
    }

    /// All records of a zone, sorted by the bytes of their names.
    private static func records(_ opened: OpenedDatabase, _ zone: String) async throws(CommandFailure)
        -> [Record]
    {
        try await database { () throws(SyncError) in
            try await opened.database.allRecords(inZoneWith: RecordZone.ID(zoneName: zone))
        }
    }
}
