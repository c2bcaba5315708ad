import SynclogJournal

extension Command {
    /// The command `synclog stats`.
    static let stats = Command(
        name: "stats",
        summary: "print sizes and counts of the journal",
        options: [Option("json", help: "one JSON object")],
        examples: ["synclog -D notes stats"],
        run: { invocation throws(CommandFailure) in try runStats(invocation) })

    private static func runStats(_ invocation: Invocation) throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let directory = try invocation.directory()
        let opened = try journal { () throws(JournalError) in try Journal.open(at: directory, mode: .readOnly)
        }
        defer { opened.close() }
        let head = try journal { () throws(JournalError) in try opened.head() }
        let numbers = try journal { () throws(JournalError) in try opened.statistics() }
        let follows = try journal { () throws(JournalError) in try opened.followerState() } != nil
        let rows: [(String, JSONValue)] = [
            ("journal", .string(opened.id.description)), ("head", .number(String(head.commit))),
            ("recoveryPending", .bool(head.recoveryPending)), ("follower", .bool(follows)),
            ("segments", .number(String(numbers.segments))), ("blocks", .number(String(numbers.blocks))),
            ("entries", .number(String(numbers.entries))), ("rawBytes", .number(String(numbers.rawBytes))),
            ("storedBytes", .number(String(numbers.storedBytes))),
        ]
        if invocation.arguments.has("json") {
            try invocation.console.line(JSONWriter.text(.members(rows)))
            return
        }
        for (name, value) in rows {
            let text = if case .string(let text) = value { text } else { JSONWriter.text(value) }
            try invocation.console.line(name + String(repeating: " ", count: 17 - name.utf8.count) + text)
        }
    }
}
