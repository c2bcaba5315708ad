import SynclogJournal

extension Command {
    /// The command `synclog dump`.
    static let dump = Command(
        name: "dump",
        summary: "show the journal entry by entry, as journalctl does",
        details: [
            "All entries, oldest first, in the order of the journal. Times are local. FORMAT is one of "
                + DumpFormats.names.joined(separator: ", ") + ".",
            "TIME is a date and time (2026-11-30 18:17:16, zone optional), a date, a time, RFC 3339, @SECONDS, now, "
                + "today, yesterday, tomorrow, or a span such as -2h30min or '3 days ago'.",
            "The status is 3 for a cursor that is expired or another journal's, 6 for one whose history was rolled "
                + "back, 2 for one that is malformed, and 4 if damage was met; entries around it are shown.",
        ],
        options: [
            Option(
                "lines", "n", .optional("N", follows: { DumpCount($0) != nil }),
                help: "newest N entries (10); +N oldest; all"),
            Option("reverse", "r", help: "newest first"),
            Option("follow", "f", help: "the last 10, then new ones as they come"),
            Option("no-tail", help: "all stored entries also with -f"),
            Option("output", "o", .required("FORMAT"), help: "how to print (short); help lists all"),
            Option("zone", "u", .required("NAME"), help: "only this zone; may be given again; * and ? match"),
            Option("since", "S", .required("TIME"), help: "not before this time"),
            Option("until", "U", .required("TIME"), help: "not after this time"),
            Option("cursor", "c", .required("CURSOR"), help: "start at this entry"),
            Option(
                "after-cursor", nil, .required("CURSOR"), help: "start after this entry; with -r before it"),
            Option("show-cursor", help: "print the last entry's cursor at the end"),
            Option("utc", help: "times in UTC"),
            Option("quiet", "q", help: "no notices"),
            Option("no-pager", help: "do not page on a terminal"),
        ],
        examples: [
            "synclog -D notes dump -n 20 -u shopping", "synclog -D notes dump -f -o json",
            "synclog -D notes dump -S yesterday -o verbose",
        ],
        run: { invocation throws(CommandFailure) in try runDump(invocation) })

    private static func runDump(_ invocation: Invocation) throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let arguments = invocation.arguments
        let clock = arguments.has("utc") ? TimeZoneClock.utc : .local
        let formatName = arguments.value("output") ?? "short"
        if formatName == "help" {
            for name in DumpFormats.names { try invocation.console.line(name) }
            return
        }
        guard let format = DumpFormats.format(formatName, clock: clock) else {
            throw .usage(
                "-o: unknown format '\(shown(formatName))'",
                next: "use one of " + DumpFormats.names.joined(separator: ", "))
        }
        let request = try DumpRequest(arguments, zone: clock, now: systemWallClock())
        let directory = try invocation.directory()
        let opened = try journal { () throws(JournalError) in try Journal.open(at: directory, mode: .readOnly)
        }
        defer { opened.close() }
        let pager = try Pager.start(
            invocation, wanted: !request.follows && !arguments.has("no-pager") && !format.isForPrograms)
        let run = DumpRun(journal: opened, request: request, format: format, console: invocation.console)
        let result = Result { () throws(CommandFailure) in try run.show() }
        try pager?.finish(invocation.console)
        try result.get()
    }
}

/// How many entries `-n` asks for.
enum DumpCount: Hashable, Sendable {
    case all
    case newest(Int)
    case oldest(Int)

    init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if text.hasPrefix("+"), let count = Int(text.dropFirst()), text.utf8.allSatisfy({ $0 < 0x3A })
        {
            self = .oldest(count)
        } else if let count = Int(text), count >= 0, text.utf8.allSatisfy({ $0 >= 0x30 && $0 < 0x3A }) {
            self = .newest(count)
        } else {
            return nil
        }
    }
}

/// What the options of `dump` ask for.
struct DumpRequest: Sendable {
    var count: DumpCount
    var reverse: Bool
    var follows: Bool
    var zones: [String]
    var wall: ClosedRange<Int64>?
    /// The cursor, and whether its own entry is shown.
    var cursor: (cursor: Cursor, inclusive: Bool)?
    var showsCursor: Bool
    var quiet: Bool

    init(_ arguments: ParsedArguments, zone: TimeZoneClock, now: Int64) throws(CommandFailure) {
        reverse = arguments.has("reverse")
        follows = arguments.has("follow")
        zones = arguments.values("zone")
        showsCursor = arguments.has("show-cursor")
        quiet = arguments.has("quiet")
        if reverse, follows { throw .usage("-f and -r exclude each other", next: "leave one out") }
        let starts = ["cursor", "after-cursor", "since"].filter { arguments.has($0) }
        if starts.count > 1 {
            throw .usage("--\(starts[0]) and --\(starts[1]) exclude each other", next: "leave one out")
        }
        if arguments.has("no-tail") {
            count = .all
        } else if arguments.has("lines") {
            let text = arguments.value("lines") ?? "10"
            guard let given = DumpCount(text) else {
                throw .usage("-n: '\(shown(text))' is no count", next: "give N, +N or all")
            }
            count = given
        } else {
            count = follows && starts.isEmpty ? .newest(10) : .all
        }
        wall = try Self.range(arguments, TimeExpression(now: now, zone: zone))
        for (option, inclusive) in [("cursor", true), ("after-cursor", false)] {
            guard let text = arguments.value(option) else { continue }
            cursor = (try journal { () throws(JournalError) in try Cursor(text: text) }, inclusive)
        }
    }

    private static func range(
        _ arguments: ParsedArguments, _ expression: TimeExpression
    ) throws(CommandFailure) -> ClosedRange<Int64>? {
        func time(_ option: String) throws(CommandFailure) -> Int64? {
            guard let text = arguments.value(option) else { return nil }
            do throws(TimeExpression.Failure) {
                return try expression.microseconds(text)
            } catch {
                throw .usage(
                    "--\(option): '\(shown(text))' \(error.reason)", next: "see 'synclog dump --help'")
            }
        }
        let since = try time("since")
        let until = try time("until")
        if since == nil, until == nil { return nil }
        let lower = since ?? .min
        let upper = until ?? .max
        guard lower <= upper else { throw .usage("--since is after --until", next: "swap them") }
        return lower...upper
    }

    /// Whether a zone's name is asked for.
    func wants(zone name: String) -> Bool {
        zones.isEmpty || zones.contains { GlobPattern($0).matches(name) }
    }
}

/// A pattern in which `*` stands for any text and `?` for one character.
struct GlobPattern: Sendable {
    private let pattern: [Unicode.Scalar]

    init(_ text: String) { pattern = Array(text.unicodeScalars) }

    /// Whether the whole text fits.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var place = 0
        var at = 0
        var star: (pattern: Int, text: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[at] {
                place += 1
                at += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                place = last.pattern + 1
                at = last.text + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
