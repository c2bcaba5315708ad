/// How long to wait before the next attempt: doubling with chance, up to a minute.
struct Backoff: Hashable, Sendable {
    /// The first wait.
    static let delayMin: Duration = .milliseconds(500)
    /// The longest wait.
    static let delayMax: Duration = .seconds(60)

    private var exponent = 0

    /// The next wait: between half and all of the step, so that many followers do not come back at once.
    mutating func next(random: UInt64) -> Duration {
        let step = min(Self.delayMax, Self.delayMin * (1 << min(exponent, 10)))
        exponent += 1
        return step / 2 + step / 2 * Double(random >> 11) / Double(1 << 53 as UInt64)
    }

    /// The next wait is the first one again.
    mutating func reset() { exponent = 0 }
}
