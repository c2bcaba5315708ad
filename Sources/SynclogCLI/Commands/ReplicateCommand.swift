import SynclogJournal
import SynclogRecords
import SynclogReplication

extension Command {
    /// The command `synclog replicate`.
    static let replicate = Command(
        name: "replicate",
        operands: "SOURCE",
        summary: "copy another journal into the directory, and go on where the last run ended",
        details: [
            "SOURCE is a directory, ssh://[USER@]HOST[:PORT]/PATH where synclog is installed on the host, or "
                + "exec:COMMAND for any command that runs 'synclog serve --stdio'. The directory of -D is made if "
                + "it is not there. Nobody may write to the copy.",
            "A run may be killed at any time. If the source was restored, replaced or emptied the copy stays as it "
                + "is and the status is 6; --rebuild then makes it anew from what the source is now.",
        ],
        options: [
            Option("zone", "z", .required("NAME"), help: "only this zone; may be given again"),
            Option("follow", "f", help: "go on with new commits as they come"),
            Option("rebuild", help: "make the copy anew; the old one is kept beside it"),
            Option("json", help: "print the report as JSON"),
        ],
        examples: [
            "synclog -D copy replicate ssh://host/srv/notes --follow",
            "synclog -D copy replicate 'exec:synclog -D notes serve --stdio'",
        ],
        run: { invocation throws(CommandFailure) in try runReplicate(invocation) })

    private static func runReplicate(_ invocation: Invocation) throws(CommandFailure) {
        let words = try invocation.operands(1...1)
        let directory = try invocation.directory()
        let console = invocation.console
        var options = Follower.Options()
        options.live = invocation.arguments.has("follow")
        options.rebuild = invocation.arguments.has("rebuild")
        let zones = invocation.arguments.values("zone")
        if !zones.isEmpty { options.zones = zones }
        try invocation.set(&options.journal)
        let report: Follower.Report
        do throws(ReplicationError) {
            let source = try SourceAddress(words[0]).source(leaseRefused: noticeNoLease)
            report = try Follower(at: directory, source: source, options: options).run { progress in
                show(progress, console)
            }
        } catch {
            throw CommandFailure(error)
        }
        console.clearProgress()
        if report.sourceIsRecovering {
            console.notice(
                "synclog: recoveryPending: the source may have later commits; its next writer will tell")
        }
        if let aside = report.keptAside {
            console.notice("synclog: the old copy is kept in '\(shown(aside))'")
        }
        let rows: [(String, JSONValue)] = [
            ("head", .number(String(report.head))), ("sourceHead", .number(String(report.sourceHead))),
            ("entries", .number(String(report.entries))), ("bytes", .number(String(report.bytes))),
            ("new", .bool(report.isNew)), ("rebuilt", .bool(report.wasRebuilt)),
        ]
        if invocation.arguments.has("json") {
            try console.line(JSONWriter.text(.members(rows)))
        } else {
            try console.line(
                "commit \(report.head), \(report.entries) entries copied in \(report.bytes) bytes")
        }
    }

    private static func show(_ progress: Follower.Progress, _ console: Console) {
        switch progress.state {
        case .connecting: console.progress("replicate: connecting")
        case .copying, .caughtUp:
            let end = progress.sourceHead == 0 ? "" : " of \(progress.sourceHead)"
            let rebuilding = progress.isRebuilding ? " (rebuilding)" : ""
            console.progress(
                "replicate: commit \(progress.head)\(end), \(progress.bytes / 1024) KiB\(rebuilding)")
        case .waiting(let error, let delay):
            let seconds = max(1, delay.components.seconds)
            console.notice("synclog: \(shown(error.description)); trying again in \(seconds) s")
        }
    }
}

/// Says that a source keeps no lease, so that a follower has only the retention; any thread.
func noticeNoLease(_ error: JournalError) {
    let why =
        if case .readOnly = error { "it cannot be written" } else { shown(SyncError(error).description) }
    Console.standardError(
        "synclog: the source keeps no lease for this copy: \(why); away for longer than 30 days it is made anew\n"
    )
}
