internal import Glibc

/// The program `synclog-bench`.
@main
enum SynclogBenchmark {
    static func main() {
        do {
            try run(CommandLine.arguments.dropFirst())
        } catch let error as BenchmarkError {
            fail(error.text)
        } catch {
            fail("\(error)")
        }
    }

    private static func run(_ words: ArraySlice<String>) throws {
        if words.first == "--child" { return try ChildRole.run(words.dropFirst()) }
        let options = try BenchmarkOptions(words)
        if options.help { return print(BenchmarkOptions.helpText) }
        if options.counts {
            var counts = Counts(options)
            return try counts.run()
        }
        var run = BenchmarkRun(options)
        try run.run()
    }

    private static func fail(_ text: String) -> Never {
        fflush(nil)
        let line = Array("synclog-bench: \(text)\n".utf8)
        _ = write(2, line, line.count)
        exit(1)
    }
}
