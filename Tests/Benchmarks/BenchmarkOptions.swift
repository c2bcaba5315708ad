/// What the command line asks for.
struct BenchmarkOptions {
    var scale = 10_000
    var rounds = 3
    var seed: UInt64 = 1
    var cases: [BenchmarkCase] = []
    var json = false
    var counts = false
    var alone = false
    var help = false
    var tool: String?

    init(_ words: some Collection<String>) throws(BenchmarkError) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            switch word {
            case "--json": json = true
            case "--counts": counts = true
            case "--alone": alone = true
            case "-h", "--help": help = true
            case "--case":
                let names = try Self.value(of: word, &words)
                for name in names.split(separator: ",") { cases.append(try Self.named(String(name))) }
            case "--scale": scale = try Self.number(of: word, &words, in: 100...100_000_000)
            case "--rounds": rounds = try Self.number(of: word, &words, in: 1...1000)
            case "--seed": seed = UInt64(try Self.number(of: word, &words, in: 0...Int.max))
            case "--tool": tool = try Self.value(of: word, &words)
            default:
                throw BenchmarkError("there is no option '\(word)'; 'synclog-bench --help' lists them")
            }
        }
        if cases.isEmpty { cases = BenchmarkCase.all }
    }

    func wants(_ names: String...) -> Bool { cases.contains { names.contains($0.name) } }

    private static func named(_ name: String) throws(BenchmarkError) -> BenchmarkCase {
        guard let found = BenchmarkCase.all.first(where: { $0.name == name }) else {
            throw BenchmarkError(
                "there is no case '\(name)'; there are "
                    + BenchmarkCase.all.map(\.name).joined(separator: ", "))
        }
        return found
    }

    private static func value(
        of option: String, _ words: inout ArraySlice<String>
    ) throws(BenchmarkError) -> String {
        guard let value = words.popFirst(), !value.isEmpty else {
            throw BenchmarkError("\(option) needs a value; 'synclog-bench --help' shows which")
        }
        return value
    }

    private static func number(
        of option: String, _ words: inout ArraySlice<String>, in range: ClosedRange<Int>
    ) throws(BenchmarkError) -> Int {
        let text = try value(of: option, &words)
        guard let number = Int(text), range.contains(number) else {
            throw BenchmarkError(
                "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    static let helpText: String = {
        var text = """
            Usage: synclog-bench [OPTION]...

            Measure the journal beside bare loops and, if built with --traits
            PeerBenchmarks, beside SQLite, RocksDB and LMDB: the same records in the
            same random order, all in this process, in turn, round by round. These keep
            their values by name or by sequence; both are tried, the better one counts.

            Each line has the medians, and the ratio of synclog's to each other's. What is
            read back is compared: a contestant with wrong counts or bytes ends the run.
            Times depend on the disk: files are made below TMPDIR, or /tmp.

            Options:
              --scale N           records (10000); a million and more shows the limits
              --rounds N          how often everything is done (3)
              --seed N            another workload (1)
              --case NAME,...     only these cases; may be given again
              --alone             without the peers
              --json              one JSON object a line
              --counts            count allocations, bytes and files instead of measuring
                                  times; fails if there are more than allowed
              --tool PATH         the program synclog for put-cold and dump-json
                                  (the one beside this program)
              -h, --help          print this help

            Cases:

            """
        for kind in BenchmarkCase.all {
            let name = kind.name + String(repeating: " ", count: 10 - kind.name.count)
            text += "  \(name)  \(kind.about) (\(kind.unit))\n"
        }
        return text + """

            Examples:
              synclog-bench --case commit1,commit16
              synclog-bench --scale 1000000 --json
            """
    }()
}

/// One thing that is measured.
struct BenchmarkCase {
    var name: String
    var unit: String
    var higherIsBetter: Bool
    var about: String

    static let all = [
        BenchmarkCase("commit1", "commits/s", true, "durable commits of one record of 256 B"),
        BenchmarkCase("commit16", "commits/s", true, "the same by 16 threads"),
        BenchmarkCase("bulk250", "records/s", true, "durable commits of 250 records"),
        BenchmarkCase("scan", "records/s", true, "all records in order of change, just opened"),
        BenchmarkCase("point", "reads/s", true, "records by random name"),
        BenchmarkCase("point-hot", "reads/s", true, "the same among few records"),
        BenchmarkCase("open", "ms", false, "opening"),
        BenchmarkCase("delta", "ms", false, "the last 100 changes"),
        BenchmarkCase("memory", "MiB", false, "peak of a process that opens and scans"),
        BenchmarkCase("disk", "B/record", false, "size after compaction"),
        BenchmarkCase("follow", "MB/s", true, "a follower catching up over a pipe"),
        BenchmarkCase("put-cold", "ms", false, "a process that puts one record"),
        BenchmarkCase("dump-json", "entries/s", true, "'dump -o json' beside journalctl"),
    ]

    private init(_ name: String, _ unit: String, _ higherIsBetter: Bool, _ about: String) {
        self.name = name
        self.unit = unit
        self.higherIsBetter = higherIsBetter
        self.about = about
    }
}
