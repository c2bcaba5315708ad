import Glibc

/// Finds the command that the words name, runs it, and turns failures into one line and a status.
struct CommandRunner {
    let commands: [Command]
    let console: Console

    /// The version of the tool.
    static let version = "synclog 0.1.0"

    /// Runs the command line of this process.
    /// - Returns: The exit status.
    func run() async -> Int32 {
        // A closed pipe is an error of the write; the console then ends the process as the signal would have.
        signal(SIGPIPE, SIG_IGN)
        do throws(CommandFailure) {
            try await run(try Self.words())
            try console.flush()
            return ExitCode.done.rawValue
        } catch {
            var failure = error
            do throws(CommandFailure) {
                try console.flush()
            } catch {
                failure = error
            }
            if !failure.message.isEmpty { console.notice(failure.line) }
            return failure.code.rawValue
        }
    }

    /// The words of the command line, which must be UTF-8: a repaired name would be another one.
    private static func words() throws(CommandFailure) -> [String] {
        var words: [String] = []
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = unsafe CommandLine.unsafeArgv[place] else { break }
            guard let word = unsafe String(validatingCString: pointer) else {
                throw .usage("word \(place) of the command line is not UTF-8", next: "set a UTF-8 locale")
            }
            words.append(word)
        }
        return words
    }

    private static func environment() -> [String: String] {
        var found: [String: String] = [:]
        for name in ["SYNCLOG_DIR", "SYNCLOG_PAGER", "PAGER", "SYNCLOG_LESS", "SUDO_UID"] {
            if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
        }
        return found
    }

    private func run(_ words: [String]) async throws(CommandFailure) {
        let tool = OptionParser(
            options: Command.globalOptions + [Option("version", help: "print the version")],
            stopsAtOperand: true)
        let (before, next) = try tool.parse(words)
        if before.has("help") { return try console.write(HelpText.tool(commands)) }
        if before.has("version") { return try console.line(Self.version) }
        guard next < words.count else { throw .usage("no command") }
        var name = words[next]
        var start = next + 1
        if name == "help" {
            guard start < words.count else { return try console.write(HelpText.tool(commands)) }
            name = words[start]
            start = words.count
            return try console.write(HelpText.command(try find(name)))
        }
        let command = try find(name)
        let (after, _) = try OptionParser(options: command.allOptions).parse(words, from: start)
        if after.has("help") { return try console.write(HelpText.command(command)) }
        let invocation = Invocation(
            command: command, arguments: before.joined(with: after), console: console,
            environment: Self.environment())
        try await command.run(invocation)
    }

    private func find(_ name: String) throws(CommandFailure) -> Command {
        if let command = commands.first(where: { sameBytes($0.name, name) }) { return command }
        throw .usage("unknown command '\(shown(name))'")
    }
}

extension ParsedArguments {
    /// The options before a command's name together with what follows it.
    fileprivate func joined(with later: ParsedArguments) -> ParsedArguments {
        var result = self
        result.operands = later.operands
        for option in later.all { result.add(option.name, option.value) }
        return result
    }
}

/// Ends the process with a status; buffers have been written.
func leave(_ code: Int32) -> Never { exit(code) }
