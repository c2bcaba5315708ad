import Glibc

#if DEBUG
    @testable import SynclogJournal
#endif

#if FUZZING
    /// The harness that SYNCLOG_FUZZ names.
    private let chosen: Harness = {
        let name = getenv("SYNCLOG_FUZZ").map { String(cString: $0) } ?? ""
        guard let harness = Harness.all.first(where: { $0.name == name }) else {
            say("SYNCLOG_FUZZ names none of: \(Harness.all.map(\.name).joined(separator: ", "))")
            exit(2)
        }
        return harness
    }()

    /// What libFuzzer calls with each input.
    @c(LLVMFuzzerTestOneInput) public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
        chosen.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    }

    /// What libFuzzer offers: one of its own changes.
    @_silgen_name("LLVMFuzzerMutate")
    private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>?, _ size: Int, _ sizeMax: Int) -> Int

    /// What libFuzzer calls for a changed input: its own changes, and every second time one that keeps the input's structure.
    @c(LLVMFuzzerCustomMutator) public func mutateInput(
        _ data: UnsafeMutablePointer<UInt8>?, _ size: Int, _ sizeMax: Int, _ seed: UInt32
    ) -> Int {
        guard seed & 1 == 0, let data,
            let changed = chosen.mutated?(
                Array(UnsafeBufferPointer(start: data, count: size)), UInt64(seed))
        else {
            return mutateBytes(data, size, sizeMax)
        }
        let mutated = changed.prefix(sizeMax)
        for (place, byte) in mutated.enumerated() { data[place] = byte }
        return mutated.count
    }
#elseif DEBUG
    /// Runs every file of corpora once, without libFuzzer: `SynclogFuzz HARNESS [DIR|FILE]...`; `--seeds HARNESS DIR` makes
    /// the first.
    @main
    struct Replay {
        static func main() throws {
            var words = CommandLine.arguments.dropFirst()
            let makesSeeds = words.first == "--seeds"
            if makesSeeds { words.removeFirst() }
            guard let name = words.popFirst(), let harness = Harness.all.first(where: { $0.name == name })
            else {
                say("usage: SynclogFuzz [--seeds] \(Harness.all.map(\.name).joined(separator: "|")) DIR...")
                exit(2)
            }
            for directory in words {
                if makesSeeds {
                    try writeSeeds(of: harness, to: directory)
                } else {
                    try replay(harness, directory)
                }
            }
            if !makesSeeds {
                // They hold more than a corpus made small by its edges keeps: damage of every field.
                let seeds = harness.seeds()
                for (place, seed) in seeds.enumerated() {
                    say("\(name): seed-\(place)")
                    harness.run(seed)
                }
                print("\(name): \(seeds.count) seeds")
            }
        }

        private static func writeSeeds(of harness: Harness, to directory: String) throws {
            for (place, seed) in harness.seeds().enumerated() {
                let file = try PosixFileSystem.shared.open("\(directory)/seed-\(place)", .create)
                try file.truncate(to: 0)
                try file.write(seed, at: 0)
            }
        }

        private static func replay(_ harness: Harness, _ path: String) throws {
            let isDirectory = try PosixFileSystem.shared.status(path)?.isDirectory ?? false
            let paths =
                isDirectory ? try PosixFileSystem.shared.list(path).sorted().map { "\(path)/\($0)" } : [path]
            for path in paths {
                guard let size = try PosixFileSystem.shared.status(path)?.size else { continue }
                let file = try PosixFileSystem.shared.open(path, .read)
                // Said before, so that a trap names its input.
                say(path)
                harness.run(try file.bytes(at: 0, count: Int(size)))
            }
            print("\(harness.name): \(paths.count) inputs")
        }
    }
#else
    /// A release build sees no internal names; it says what does.
    @main
    struct Unavailable {
        static func main() {
            say("Use a debug build, or Tests/Fuzzing/run.")
            exit(2)
        }
    }
#endif

/// Writes a line to standard error.
private func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(2, line, line.count)
}
