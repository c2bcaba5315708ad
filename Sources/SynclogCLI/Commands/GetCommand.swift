import SynclogRecords

extension Command {
    /// The command `synclog get`.
    static let get = Command(
        name: "get",
        operands: "ZONE NAME",
        summary: "print a record",
        details: [
            "Fields are printed as 'put' takes them back. With --json the record is one line as 'list --json' "
                + "prints it."
        ],
        options: [Option("json", help: "one JSON object")],
        examples: ["synclog -D notes get shopping milk --json"],
        run: runGet)

    private static func runGet(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(2...2)
        let id = Record.ID(recordName: words[1], zoneID: RecordZone.ID(zoneName: words[0]))
        try await OpenedDatabase.use(invocation, writing: false) { opened throws(CommandFailure) in
            guard let record = try await opened.record(id) else {
                throw CommandFailure(
                    .notSo, "record '\(shown(words[1]))' in zone '\(shown(words[0]))' is not there",
                    next: "see 'synclog list'")
            }
            if invocation.arguments.has("json") {
                try invocation.console.line(JSONWriter.text(RecordLine.json(record)))
                return
            }
            try invocation.console.line("# \(shown(words[0]))/\(shown(words[1]))")
            try invocation.console.line(
                "# type \(record.recordType), tag \(record.recordChangeTag?.text ?? "none")")
            if let made = record.creationDate, let saved = record.modificationDate {
                try invocation.console.line("# made \(date(made)), saved \(date(saved))")
            }
            for key in record.allKeys() {
                if let value = record[key] { try invocation.console.line(FieldArgument.text(key, value)) }
            }
        }
    }

    private static func date(_ time: Timestamp) -> String {
        InternetDate.text(CivilTime.floorDivide(time.microsecondsSince1970, 1000))
    }
}
