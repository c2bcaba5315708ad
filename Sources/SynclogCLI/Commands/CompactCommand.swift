import SynclogJournal

extension Command {
    /// The command `synclog compact`.
    static let compact = Command(
        name: "compact",
        summary: "merge all segments and drop what nobody needs",
        details: [
            "Superseded versions go, deletions when no older version is stored, no lease needs them and they are "
                + "30 days old. Reading, writing and following go on meanwhile. Without this command segments are "
                + "merged by and by as they fill."
        ],
        options: [
            Option("dry-run", help: "only count; change nothing"),
            Option("json", help: "one JSON object"),
        ],
        examples: ["synclog -D notes compact --dry-run"],
        run: { invocation throws(CommandFailure) in try runCompact(invocation) })

    private static func runCompact(_ invocation: Invocation) throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let directory = try invocation.directory()
        var options = JournalOptions()
        try invocation.set(&options)
        let dryRun = invocation.arguments.has("dry-run")
        let opened = try journal { () throws(JournalError) in
            try Journal.open(at: directory, mode: dryRun ? .readOnly : .shared, options: options)
        }
        defer { opened.close() }
        let report = try journal { () throws(JournalError) in
            try opened.compact(everything: true, dryRun: dryRun)
        }
        let kept = report.kept
        let rows: [(String, JSONValue)] = [
            ("segments", .number(String(report.segments))), ("entries", .number(String(report.entries))),
            ("bytesBefore", .number(String(report.bytesBefore))),
            ("bytesAfter", dryRun ? .null : .number(String(report.bytesAfter))),
            ("versionsDropped", .number(String(report.versions))),
            ("deletionsDropped", .number(String(report.tombstones))),
            ("othersDropped", .number(String(report.others))),
            (
                "deletionsKept",
                .members([
                    ("olderVersion", .number(String(kept.olderPut))), ("lease", .number(String(kept.lease))),
                    ("age", .number(String(kept.retention))), ("source", .number(String(kept.sourceFloor))),
                ])
            ),
        ]
        if invocation.arguments.has("json") {
            try invocation.console.line(JSONWriter.text(.members(rows)))
        } else {
            let size = dryRun ? "" : ", \(report.bytesBefore) bytes became \(report.bytesAfter)"
            try invocation.console.line(
                "\(dryRun ? "would merge" : "merged") \(report.segments) segments\(size)")
            try invocation.console.line(
                "dropped \(report.versions) superseded versions, \(report.tombstones) deletions, "
                    + "\(report.others) others of \(report.entries) entries")
            try invocation.console.line(
                "kept deletions: \(kept.retention) too young, \(kept.lease) for a lease, "
                    + "\(kept.olderPut) for an older version, \(kept.sourceFloor) for the source")
        }
        if let damage = report.damages.first {
            throw CommandFailure(
                .damage, "damaged: \(CommandFailure.text(damage))",
                next: "run synclog verify for the whole list")
        }
    }

    /// The command `synclog snapshot`.
    static let snapshot = Command(
        name: "snapshot",
        operands: "DEST",
        summary: "copy the journal to a new directory, by hard links",
        details: [
            "Everything acknowledged before is in the copy, which is a journal that opens. Where hard links cannot "
                + "be, the files are copied."
        ],
        examples: ["synclog -D notes snapshot notes-monday"],
        run: { invocation throws(CommandFailure) in
            let operands = try invocation.operands(1...1)
            let directory = try invocation.directory()
            let opened = try journal { () throws(JournalError) in try Journal.open(at: directory) }
            defer { opened.close() }
            let head = try journal { () throws(JournalError) in try opened.copied(to: operands[0]) }
            invocation.console.notice(
                "copied everything up to commit \(head.commit) to '\(shown(operands[0]))'")
        })

    /// The command `synclog promote`.
    static let promote = Command(
        name: "promote",
        summary: "make a follower a journal of its own",
        details: ["It takes commits from then on and follows nobody."],
        examples: ["synclog -D copy promote"],
        run: { invocation throws(CommandFailure) in
            _ = try invocation.operands(0...0)
            let directory = try invocation.directory()
            try journal { () throws(JournalError) in try Journal.promote(at: directory) }
            invocation.console.notice("'\(shown(directory))' follows nobody now")
        })
}

extension Journal {
    /// The blocking copy, named so that it can be called from commands, which run on the main thread.
    fileprivate func copied(to destination: String) throws(JournalError) -> JournalHead {
        try snapshot(to: destination)
    }
}
