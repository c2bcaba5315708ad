import SynclogRecords

extension Command {
    /// The command `synclog zones`.
    static let zones = Command(
        name: "zones",
        summary: "print the names of the zones, sorted by their bytes",
        options: [Option("json", help: "one JSON object a line")],
        examples: ["synclog -D notes zones"],
        run: runZones)

    private static func runZones(_ invocation: Invocation) async throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        try await OpenedDatabase.use(invocation, writing: false) { opened throws(CommandFailure) in
            let zones = try await database { () throws(SyncError) in
                try await opened.database.allRecordZones()
            }
            let json = invocation.arguments.has("json")
            for zone in zones {
                guard json else {
                    try invocation.console.line(shown(zone.zoneID.zoneName))
                    continue
                }
                var members: [(String, JSONValue)] = [("zone", .string(zone.zoneID.zoneName))]
                if let made = zone.creationDate {
                    let milliseconds = CivilTime.floorDivide(made.microsecondsSince1970, 1000)
                    members.append(("created", .string(InternetDate.text(milliseconds))))
                }
                try invocation.console.line(JSONWriter.text(.members(members)))
            }
        }
    }

    /// The command `synclog zone create|delete`.
    static let zone = Command(
        name: "zone",
        operands: "create|delete ZONE",
        summary: "make a zone, or delete a zone with all its records",
        details: [
            "Making a zone that is there changes nothing. A zone made again after it was deleted is a new one."
        ],
        examples: ["synclog -D notes zone create drafts", "synclog -D notes zone delete drafts"],
        run: runZone)

    private static func runZone(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(2...2)
        let id = RecordZone.ID(zoneName: words[1])
        guard words[0] == "create" || words[0] == "delete" else {
            throw .usage(
                "zone: '\(shown(words[0]))' is neither create nor delete", next: invocation.usageStep)
        }
        try await OpenedDatabase.use(invocation, writing: true) { opened throws(CommandFailure) in
            if words[0] == "create" {
                if try await opened.hasZone(id) {
                    invocation.console.notice("zone '\(shown(words[1]))' is there already")
                } else {
                    try await opened.makeZone(id)
                }
                return
            }
            let results = try await database { () throws(SyncError) in
                try await opened.database.modifyRecordZones(
                    saving: [], deleting: [id], context: opened.writeContext())
            }
            if case .failure(let error)? = results.deleteResults[id] { throw CommandFailure(error) }
        }
    }
}
