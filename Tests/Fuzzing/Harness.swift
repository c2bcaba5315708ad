#if DEBUG || FUZZING
    /// One of the things that can be fuzzed.
    struct Harness: Sendable {
        /// The name on the command line, and of the corpus below Fixtures/corpora.
        var name: String
        /// Does something with bytes, and traps if what comes of it is wrong.
        var run: @Sendable ([UInt8]) -> Void
        /// An input with a change that keeps its structure, made from a seed; nil for an input that has none.
        var mutated: (@Sendable ([UInt8], UInt64) -> [UInt8]?)?
        /// Valid inputs to begin a corpus with.
        var seeds: @Sendable () -> [[UInt8]]

        static let all = [
            Harness(name: "journal", run: fuzzJournal, mutated: mutatedJournal, seeds: journalSeeds),
            Harness(name: "wire", run: fuzzWire, mutated: mutatedWire, seeds: wireSeeds),
            Harness(name: "record", run: fuzzRecord, mutated: mutatedRecord, seeds: recordSeeds),
            Harness(
                name: "command-line", run: fuzzCommandLine, mutated: mutatedCommandLine,
                seeds: commandLineSeeds
            ),
        ]
    }

    private func mutatedJournal(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8]? {
        guard let start = JournalMutator.start(bytes) else { return nil }
        var mutator = JournalMutator(seed: seed)
        return mutator.mutated(bytes, from: start)
    }

    /// A stream's frames have no items to change.
    private func mutatedWire(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8]? {
        guard let first = bytes.first, first % 4 != 3 else { return nil }
        var mutator = CBORMutator(seed: seed)
        return mutator.mutated(bytes, from: 1)
    }

    private func mutatedRecord(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8]? {
        var mutator = CBORMutator(seed: seed)
        return mutator.mutated(bytes, from: 0)
    }

    private func mutatedCommandLine(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8]? {
        guard let first = bytes.first else { return nil }
        if Kind.allCases[Int(first) % Kind.allCases.count] == .value, seed & 2 == 0 {
            var mutator = CBORMutator(seed: seed)
            return mutator.mutated(bytes, from: 1)
        }
        var mutator = WordMutator(seed: seed)
        return mutator.mutated(bytes, from: 1)
    }

    /// Ends the process with a reason, so that the fuzzer keeps the input.
    func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
        guard condition else { fatalError(reason()) }
    }
#endif
