/// What the processes of a crash test do, step by step.
///
/// Its text has a step on each line, `@2 put 3` for a step of the second process; `processes 2` and `exclusive` stand at the
/// top; what follows `#` is a comment.
public struct CrashScript: Hashable, Sendable, CustomStringConvertible {
    /// One thing that a process does.
    public enum Step: Hashable, Sendable {
        /// One commit of so many records.
        case put(Int)
        /// One commit that deletes so many records.
        case delete(Int)
        /// So many commits that form one group.
        case group(Int)
        /// So many relaxed commits; exclusive mode only.
        case relaxed(Int)
        /// Makes relaxed commits durable.
        case sync
        /// Merges the segments that the tiers ask for.
        case compact
        /// Seals the live segment and merges everything.
        case compactAll
        /// Makes a zone and puts a record in it.
        case makeZone
        /// Deletes a zone.
        case dropZone
        /// Moves the clock on by so many days.
        case age(Int)
        /// Gives the follower a lease for so many days.
        case lease(Int)
        /// Runs the follower once.
        case follow
        /// Makes the follower a journal of its own.
        case promote
        /// Closes the journal and opens it again.
        case reopen
        /// Reads everything, without the lock.
        case read
        /// Lets a later call of a kind fail once with an error number, after so many that go well.
        case fail(MemoryFileSystem.Call, code: Int32, after: Int)
        /// Kills the process after so many further calls and starts it anew.
        case kill(after: Int)
    }

    /// A step and the process that does it, counted from 1.
    public struct Line: Hashable, Sendable {
        /// The process.
        public var process: Int
        /// The step.
        public var step: Step

        /// Makes a line.
        public init(_ step: Step, process: Int = 1) {
            self.process = process
            self.step = step
        }
    }

    /// A short name.
    public var name: String
    /// The number of processes.
    public var processes: Int
    /// Whether the journal is opened in exclusive mode.
    public var exclusive: Bool
    /// The steps.
    public var lines: [Line]

    /// Makes a script.
    public init(name: String, processes: Int = 1, exclusive: Bool = false, lines: [Line]) {
        self.name = name
        self.processes = processes
        self.exclusive = exclusive
        self.lines = lines
    }

    /// Whether a follower takes part.
    public var follows: Bool {
        lines.contains { line in
            switch line.step {
            case .follow, .promote, .lease: true
            default: false
            }
        }
    }

    /// The script as text.
    public var description: String {
        var text = "processes \(processes)\n"
        if exclusive { text += "exclusive\n" }
        for line in lines { text += (line.process == 1 ? "" : "@\(line.process) ") + line.step.text + "\n" }
        return text
    }
}

extension CrashScript.Step {
    /// The step as text.
    public var text: String {
        switch self {
        case .put(let count): "put \(count)"
        case .delete(let count): "delete \(count)"
        case .group(let count): "group \(count)"
        case .relaxed(let count): "relaxed \(count)"
        case .sync: "sync"
        case .compact: "compact"
        case .compactAll: "compact-all"
        case .makeZone: "make-zone"
        case .dropZone: "drop-zone"
        case .age(let days): "age \(days)"
        case .lease(let days): "lease \(days)"
        case .follow: "follow"
        case .promote: "promote"
        case .reopen: "reopen"
        case .read: "read"
        case .fail(let call, let code, let after): "fail \(call) \(code) \(after)"
        case .kill(let after): "kill \(after)"
        }
    }

    /// Reads a step's text; nil if it is none.
    init?(_ words: [Substring]) {
        let numbers = words.dropFirst().compactMap { Int($0) }.filter { $0 >= 0 && $0 <= 1_000_000 }
        func number(_ make: (Int) -> Self) -> Self? {
            words.count == 2 && numbers.count == 1 ? make(numbers[0]) : nil
        }
        func plain(_ step: Self) -> Self? { words.count == 1 ? step : nil }
        let found: Self? =
            switch words.first {
            case "put": number(Self.put)
            case "delete": number(Self.delete)
            case "group": number(Self.group)
            case "relaxed": number(Self.relaxed)
            case "age": number(Self.age)
            case "lease": number(Self.lease)
            case "kill": number { .kill(after: $0) }
            case "sync": plain(.sync)
            case "compact": plain(.compact)
            case "compact-all": plain(.compactAll)
            case "make-zone": plain(.makeZone)
            case "drop-zone": plain(.dropZone)
            case "follow": plain(.follow)
            case "promote": plain(.promote)
            case "reopen": plain(.reopen)
            case "read": plain(.read)
            case "fail":
                if words.count == 4, numbers.count == 2,
                    let call = MemoryFileSystem.Call.allCases.first(where: { "\($0)" == words[1] })
                {
                    .fail(call, code: Int32(numbers[0]), after: numbers[1])
                } else {
                    nil
                }
            default: nil
            }
        guard let found else { return nil }
        self = found
    }
}

extension CrashScript {
    /// A line that is no step, or not one of an exclusive journal's only process.
    public struct SyntaxError: Error, Hashable, Sendable {
        /// The number of the line, from 1.
        public var line: Int
    }

    /// Reads a script.
    public init(name: String, text: String) throws(SyntaxError) {
        self.init(name: name, lines: [])
        for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard let first = words.first else { continue }
            if first == "processes", words.count == 2, let count = Int(words[1]), (1...3).contains(count),
                !exclusive || count == 1
            {
                processes = count
                continue
            }
            if first == "exclusive", words.count == 1, processes == 1 {
                exclusive = true
                continue
            }
            var process = 1
            if first.hasPrefix("@") {
                guard let number = Int(first.dropFirst()), (1...processes).contains(number) else {
                    throw SyntaxError(line: place + 1)
                }
                process = number
                words.removeFirst()
            }
            guard let step = Step(words) else { throw SyntaxError(line: place + 1) }
            lines.append(Line(step, process: process))
        }
    }
}
