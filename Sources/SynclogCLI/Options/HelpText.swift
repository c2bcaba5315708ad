/// Prints help from the tables; no line is wider than 80 columns.
enum HelpText {
    /// The widest line.
    static let width = 80
    private static let indent = 26

    /// The help of the whole tool.
    static func tool(_ commands: [Command]) -> String {
        var text = "Usage: synclog [-D DIR] COMMAND [OPTION]...\n\n"
        text += wrapped(
            "CloudKit's sync model on a file journal: records in zones, change tags, change tokens, "
                + "tombstones, and followers. Data goes to standard output, everything else to standard error.",
            indent: 0)
        text += "\nCommands:\n"
        for command in commands { text += row(command.name, command.summary) }
        text += "\nOptions for every command:\n"
        for option in Command.globalOptions { text += row(option.synopsis, option.help) }
        text += "\n"
        text += wrapped(
            "DIR is the directory of a journal; zones, zone, put, delete, get, list, import and export also "
                + "take ssh://[USER@]HOST/PATH and exec:COMMAND. Without -D the variable SYNCLOG_DIR counts. "
                + "'synclog COMMAND --help' tells more.", indent: 0)
        text += "\nExit status:\n"
        for (code, meaning) in ExitCode.meanings { text += row("\(code)", meaning, column: 6) }
        text += "\nExample:\n  synclog demo\n"
        return text
    }

    /// The help of one command.
    static func command(_ command: Command) -> String {
        let operands = command.operands.isEmpty ? "" : " " + command.operands
        var text = ""
        let prefix = "Usage: synclog [-D DIR] \(command.name)"
        text += wrapped(prefix + " [OPTION]..." + operands, indent: 0, hanging: 6)
        text += "\n" + wrapped(command.summary.capitalizedFirst + ".", indent: 0)
        for paragraph in command.details {
            text += "\n"
            if paragraph.contains("\n") {
                text += paragraph + "\n"
            } else {
                text += wrapped(paragraph, indent: 0)
            }
        }
        if !command.options.isEmpty {
            text += "\nOptions:\n"
            for option in command.options { text += row(option.synopsis, option.help) }
        }
        text += "\nOptions for every command:\n"
        for option in Command.globalOptions { text += row(option.synopsis, option.help) }
        text += command.examples.count == 1 ? "\nExample:\n" : "\nExamples:\n"
        for example in command.examples { text += "  \(example)\n" }
        return text
    }

    private static func row(_ left: String, _ right: String, column: Int = indent) -> String {
        let lead = "  " + left
        let lines = wrap(right, to: width - column)
        var text = ""
        if lead.count + 2 > column {
            text += lead + "\n"
        } else {
            text += lead + String(repeating: " ", count: column - lead.count) + (lines.first ?? "") + "\n"
        }
        for line in lead.count + 2 > column ? lines[...] : lines.dropFirst() {
            text += String(repeating: " ", count: column) + line + "\n"
        }
        return text
    }

    private static func wrapped(_ text: String, indent: Int, hanging: Int = 0) -> String {
        let lines = wrap(text, to: width - indent - hanging)
        return lines.enumerated().map { place, line in
            String(repeating: " ", count: indent + (place == 0 ? 0 : hanging)) + line + "\n"
        }.joined()
    }

    /// Breaks text at spaces into lines of at most `width` characters.
    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if line.count + 1 + word.count <= width {
                line += " " + word
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
