internal import SynclogJournal

/// One command: what help says about it, the options it takes, and what it does.
struct Command: Sendable {
    /// The word on the command line.
    var name: String
    /// The words after the options, as help shows them.
    var operands = ""
    /// What it does, in one line without a full stop.
    var summary: String
    /// Paragraphs of help; one with line ends is printed as it is.
    var details: [String] = []
    /// Its own options.
    var options: [Option] = []
    /// At least one command line that works.
    var examples: [String]
    /// Does it.
    var run: @Sendable (Invocation) async throws(CommandFailure) -> Void

    /// The options that every command takes, before or after its name.
    static let globalOptions = [
        Option(
            "directory", "D", .required("DIR"), help: "the journal's directory, or a source (SYNCLOG_DIR)"),
        Option("lock-timeout", nil, .required("SECONDS"), help: "how long to wait for another process (10)"),
        Option(
            "force-network", nil,
            help:
                "write on a network file system all the same; locks and syncs may not hold there, and data be lost"
        ),
        Option("help", "h", help: "print this help"),
    ]

    /// The command's own options and the global ones.
    var allOptions: [Option] { options + Self.globalOptions }
}

/// A command with the words it was called with.
struct Invocation {
    /// The command.
    let command: Command
    /// Its options and operands, global options included.
    let arguments: ParsedArguments
    /// Where output goes.
    let console: Console
    /// The variables of the environment that count.
    let environment: [String: String]

    /// The operands, if there are as many as wanted.
    func operands(_ count: ClosedRange<Int>) throws(CommandFailure) -> [String] {
        let operands = arguments.operands
        if operands.count < count.lowerBound {
            throw .usage("\(command.name): something is missing", next: usageStep)
        }
        if operands.count > count.upperBound {
            throw .usage(
                "\(command.name): '\(shown(operands[count.upperBound]))' is too much", next: usageStep)
        }
        return operands
    }

    /// The next step of a usage error.
    var usageStep: String { "see 'synclog \(command.name) --help'" }

    /// What `-D` or SYNCLOG_DIR names.
    func place() throws(CommandFailure) -> String {
        if let given = arguments.value("directory") {
            guard !given.isEmpty else { throw .usage("-D is empty", next: "name a directory") }
            return given
        }
        guard let variable = environment["SYNCLOG_DIR"], !variable.isEmpty else {
            throw .usage("no directory", next: "give -D DIR or set SYNCLOG_DIR")
        }
        return variable
    }

    /// Whether a place is reached through a command or another machine.
    static func isSource(_ place: String) -> Bool { place.hasPrefix("exec:") || place.hasPrefix("ssh:") }

    /// The directory of a journal on this machine.
    func directory() throws(CommandFailure) -> String {
        let place = try place()
        guard !Self.isSource(place) else {
            throw .usage(
                "\(command.name) needs a directory of this machine",
                next: "make a copy by 'synclog replicate' and use that")
        }
        return place
    }

    /// Sets what the options for every command say about opening a journal.
    func set(_ options: inout JournalOptions) throws(CommandFailure) {
        options.allowsNetworkFileSystem = arguments.has("force-network")
        guard let text = arguments.value("lock-timeout") else { return }
        guard let seconds = DoubleText.value(text), seconds >= 0, seconds <= 86400 else {
            throw .usage("--lock-timeout: not a number of seconds from 0 to 86400", next: usageStep)
        }
        options.lockTimeout = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
