import SynclogRecords

/// The exit statuses of the whole tool.
enum ExitCode: Int32, Sendable {
    /// Done.
    case done = 0
    /// The asked-for thing is not so: missing, or a tag conflict.
    case notSo = 1
    /// The input is wrong: usage, name, value, JSON, malformed cursor, over a limit.
    case usage = 2
    /// Journal or file missing, unreadable, foreign, read-only or full; expired cursor; output not writable.
    case storage = 3
    /// Damage or lost data.
    case damage = 4
    /// Remote unreachable, timed out, or speaking nonsense.
    case remote = 5
    /// Stopped by a guard or by identity.
    case guarded = 6
    /// Another process holds the journal.
    case busy = 75

    /// The table that help prints.
    static let meanings: [(Int32, String)] = [
        (0, "done; for dump also when nothing matched"),
        (1, "not so: record or zone missing, or a conflict"),
        (2, "wrong input: usage, name, value, JSON at a line, cursor, over a limit"),
        (3, "journal or file missing, unreadable, foreign, read-only, full; cursor expired"),
        (4, "damage or lost data; verify failed"),
        (5, "remote unreachable, timed out, or speaks nonsense"),
        (6, "stopped by identity: rolled back, replaced, foreign source"),
        (75, "busy: another process holds the journal"),
    ]
}

/// Why a command stops: a status, what is wrong and where, and what to do next.
struct CommandFailure: Error, Hashable, Sendable {
    /// The exit status.
    var code: ExitCode
    /// What is wrong and where; nothing of the user's data but names of zones and records.
    var message: String
    /// What to do next.
    var next: String?

    init(_ code: ExitCode, _ message: String, next: String? = nil) {
        self.code = code
        self.message = message
        self.next = next
    }

    /// A mistake on the command line.
    static func usage(_ message: String, next: String = "see 'synclog --help'") -> CommandFailure {
        CommandFailure(.usage, message, next: next)
    }

    /// The one line for standard error.
    var line: String { "synclog: " + message + (next.map { "; " + $0 } ?? "") }
}

/// A name for a message: control characters and line ends are shown as escapes.
func shown(_ name: String) -> String {
    if name.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return name }
    var text = ""
    for scalar in name.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format:
            text += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: text.unicodeScalars.append(scalar)
        }
    }
    return text
}

/// Whether two texts are the same bytes; Swift's `==` merges canonically equal ones.
func sameBytes(_ a: String, _ b: String) -> Bool { a.hasSameBytes(as: b) }

/// Whether one text comes before the other by its bytes.
func bytesPrecede(_ a: String, _ b: String) -> Bool { a.bytesPrecede(b) }
