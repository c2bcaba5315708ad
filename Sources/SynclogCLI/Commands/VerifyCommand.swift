import SynclogJournal
import SynclogRecords

extension Command {
    /// The command `synclog verify`.
    static let verify = Command(
        name: "verify",
        summary: "check every byte of the journal's files",
        details: [
            "Prints a line PASS or FAIL for each file; FAIL names offset and commits. Nothing is written. The "
                + "status is 4 if anything is damaged, missing or lost."
        ],
        options: [Option("json", help: "one JSON object")],
        examples: ["synclog -D notes verify"],
        run: { invocation throws(CommandFailure) in try runVerify(invocation) })

    private static func runVerify(_ invocation: Invocation) throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let directory = try invocation.directory()
        let console = invocation.console
        let opened = try journal { () throws(JournalError) in try Journal.open(at: directory, mode: .readOnly)
        }
        defer { opened.close() }
        let report = try journal { () throws(JournalError) in
            try opened.verify { done, total in
                console.progress("verify: \(total == 0 ? 100 : done * 100 / total) %")
            }
        }
        console.clearProgress()
        if invocation.arguments.has("json") {
            try console.line(JSONWriter.text(json(report)))
        } else {
            try print(report, console)
        }
        for stray in report.strays.sorted(by: { $0.hasSameBytes(as: $1) ? false : bytesPrecede($0, $1) }) {
            console.notice("synclog: '\(shown(stray))' does not belong to the journal; it was left alone")
        }
        if let lost = report.lost { throw CommandFailure(lost) }
        guard let first = report.damages.first else { return }
        let more = report.damages.count > 1 ? " and \(report.damages.count - 1) more" : ""
        throw CommandFailure(
            .damage, "damaged: \(CommandFailure.text(first))\(more)",
            next: "take a copy of the directory before anything else")
    }

    private static func print(_ report: VerifyReport, _ console: Console) throws(CommandFailure) {
        for segment in report.segments {
            let damages = report.damages.filter { baseName($0.file).hasSameBytes(as: baseName(segment.name)) }
            let commits = segment.commits.map { "commits \($0.lowerBound)-\($0.upperBound)" } ?? "no commits"
            if damages.isEmpty {
                let state = segment.sealed ? "sealed" : "active"
                try console.line(
                    "PASS: \(segment.name) (\(state), \(commits), \(segment.entries) entries, \(segment.size) bytes)"
                )
            }
            for damage in damages {
                let range = damage.commits.map { ", \(CommandFailure.text($0))" } ?? ""
                try console.line("FAIL: \(segment.name) (offset \(damage.offset)\(range): \(damage.reason))")
            }
        }
        let names = report.segments.map { baseName($0.name) }
        for damage in report.damages
        where !names.contains(where: { $0.hasSameBytes(as: baseName(damage.file)) }) {
            try console.line("FAIL: \(shown(damage.file)) (offset \(damage.offset): \(damage.reason))")
        }
        if report.tailBytes > 0 {
            try console.line("note: \(report.tailBytes) bytes after the last durable commit")
        }
    }

    private static func baseName(_ path: String) -> String {
        String(decoding: path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...], as: UTF8.self)
    }

    private static func json(_ report: VerifyReport) -> JSONValue {
        func range(_ commits: ClosedRange<UInt64>?) -> JSONValue {
            guard let commits else { return .null }
            return .array([.number(String(commits.lowerBound)), .number(String(commits.upperBound))])
        }
        let segments = report.segments.map { segment in
            JSONValue.members([
                ("name", .string(segment.name)), ("sealed", .bool(segment.sealed)),
                ("commits", range(segment.commits)),
                ("entries", .number(String(segment.entries))), ("bytes", .number(String(segment.size))),
            ])
        }
        let damages = report.damages.map { damage in
            JSONValue.members([
                ("file", .string(damage.file)), ("offset", .number(String(damage.offset))),
                ("commits", range(damage.commits)), ("reason", .string(damage.reason)),
            ])
        }
        return .members([
            ("segments", .array(segments)), ("damages", .array(damages)),
            ("lost", report.lost.map { .string(CommandFailure($0).message) } ?? .null),
            ("strays", .array(report.strays.map { .string($0) })),
            ("tailBytes", .number(String(report.tailBytes))),
        ])
    }
}
