#if DEBUG || FUZZING
    /// One of the things that can be fuzzed.
    struct Harness: Sendable {
        /// The name on the command line, and of the corpus below Fixtures/corpora.
        var name: String
        /// Does something with bytes, and traps if what comes of it is wrong.
        var run: @Sendable ([UInt8]) -> Void
        /// Valid inputs to begin a corpus with.
        var seeds: @Sendable () -> [[UInt8]]

        static let all = [
            Harness(name: "journal", run: fuzzJournal, seeds: journalSeeds),
            Harness(name: "wire", run: fuzzWire, seeds: wireSeeds),
            Harness(name: "record", run: fuzzRecord, seeds: recordSeeds),
            Harness(name: "command-line", run: fuzzCommandLine, seeds: commandLineSeeds),
        ]
    }

    /// Ends the process with a reason, so that the fuzzer keeps the input.
    func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
        guard condition else { fatalError(reason()) }
    }
#endif
