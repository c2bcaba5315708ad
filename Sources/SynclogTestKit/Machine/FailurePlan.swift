/// Which calls of a ``MemoryFileSystem`` fail.
public struct FailurePlan: Sendable {
    /// One kind of failure.
    public struct Rule: Sendable {
        /// The calls it hits; empty means all but reads and stats.
        public var calls: Set<MemoryFileSystem.Call>
        /// Only paths with this in them.
        public var pathContains: String
        /// How many calls go well before the first failure.
        public var skipping: Int
        /// How many calls fail, then they go well again.
        public var times: Int
        /// The error number.
        public var code: Int32
        /// How many bytes a failing write writes all the same.
        public var bytesBefore: Int

        /// Makes a rule.
        public init(
            _ calls: Set<MemoryFileSystem.Call>, pathContains: String = "", skipping: Int = 0,
            times: Int = .max, code: Int32, bytesBefore: Int = 0
        ) {
            self.calls = calls
            self.pathContains = pathContains
            self.skipping = skipping
            self.times = times
            self.code = code
            self.bytesBefore = bytesBefore
        }
    }

    /// The rules, asked in order.
    public var rules: [Rule]
    private var seen: [Int]

    /// Makes a plan; without rules nothing fails.
    public init(_ rules: [Rule] = []) {
        self.rules = rules
        seen = Array(repeating: 0, count: rules.count)
    }

    mutating func turn(of call: MemoryFileSystem.Call, path: String) -> Rule? {
        for (place, rule) in rules.enumerated() {
            let named = rule.calls.isEmpty ? call != .read && call != .status : rule.calls.contains(call)
            guard named, rule.pathContains.isEmpty || path.contains(rule.pathContains) else { continue }
            seen[place] += 1
            let turn = seen[place] - 1 - rule.skipping
            if turn >= 0, turn < rule.times { return rule }
        }
        return nil
    }
}
