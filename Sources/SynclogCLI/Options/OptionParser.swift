/// Splits the words of a command line by an option table.
///
/// Short options cluster (`-fn20`), values attach or follow, long options take `=` and unique prefixes, `--` ends options.
struct OptionParser: Sendable {
    /// The table.
    var options: [Option]
    /// Stop at the first word that is no option, and leave the rest to a sub-command.
    var stopsAtOperand = false

    /// Reads the words from `start` on.
    /// - Returns: What was found, and the index of the first word not read.
    func parse(_ words: [String], from start: Int = 0) throws(CommandFailure) -> (ParsedArguments, next: Int)
    {
        var result = ParsedArguments()
        var index = start
        while index < words.count {
            let word = words[index]
            if word == "--" {
                if stopsAtOperand { return (result, index + 1) }
                result.operands += words[(index + 1)...]
                return (result, words.count)
            }
            if word.hasPrefix("--") {
                try long(word, words, &index, &result)
            } else if word.hasPrefix("-"), word.utf8.count > 1 {
                try cluster(word, words, &index, &result)
            } else if stopsAtOperand {
                return (result, index)
            } else {
                result.operands.append(word)
            }
            index += 1
        }
        return (result, index)
    }

    private func long(
        _ word: String, _ words: [String], _ index: inout Int, _ result: inout ParsedArguments
    ) throws(CommandFailure) {
        let body = word.dropFirst(2)
        let equals = body.firstIndex(of: "=")
        let name = String(body[..<(equals ?? body.endIndex)])
        let attached = equals.map { String(body[body.index(after: $0)...]) }
        let option = try lookUp(name)
        switch option.argument {
        case .none:
            guard attached == nil else { throw .usage("option '--\(option.name)' takes no value") }
            result.add(option.name, nil)
        case .required(let value):
            if let attached {
                result.add(option.name, attached)
            } else {
                result.add(option.name, try following("--\(option.name)", value, words, &index))
            }
        case .optional(_, let follows):
            result.add(option.name, attached ?? next(words, &index, if: follows))
        }
    }

    private func cluster(
        _ word: String, _ words: [String], _ index: inout Int, _ result: inout ParsedArguments
    ) throws(CommandFailure) {
        var rest = word.dropFirst()
        while let letter = rest.popFirst() {
            guard let option = options.first(where: { $0.letter == letter }) else {
                throw .usage("unknown option '-\(shown(String(letter)))'")
            }
            switch option.argument {
            case .none:
                result.add(option.name, nil)
                continue
            case .required(let value):
                if rest.isEmpty {
                    result.add(option.name, try following("-\(letter)", value, words, &index))
                } else {
                    result.add(option.name, String(rest))
                }
            case .optional(_, let follows):
                result.add(option.name, rest.isEmpty ? next(words, &index, if: follows) : String(rest))
            }
            return
        }
    }

    private func lookUp(_ name: String) throws(CommandFailure) -> Option {
        if let exact = options.first(where: { $0.name == name }) { return exact }
        let candidates = name.isEmpty ? [] : options.filter { $0.name.hasPrefix(name) }
        if candidates.count == 1 { return candidates[0] }
        if candidates.isEmpty { throw .usage("unknown option '--\(shown(name))'") }
        let list = candidates.map { "--\($0.name)" }.joined(separator: ", ")
        throw .usage("option '--\(shown(name))' may be \(list)", next: "write more of it")
    }

    private func following(
        _ option: String, _ value: String, _ words: [String], _ index: inout Int
    ) throws(CommandFailure) -> String {
        guard index + 1 < words.count else { throw .usage("option '\(option)' needs a value: \(value)") }
        index += 1
        return words[index]
    }

    private func next(_ words: [String], _ index: inout Int, if follows: (String) -> Bool) -> String? {
        guard index + 1 < words.count, follows(words[index + 1]) else { return nil }
        index += 1
        return words[index]
    }
}
