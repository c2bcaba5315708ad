/// Waits for a later commit: woken by the file system, and looking by itself every two seconds.
struct ChangeWait: Sendable {
    let turn: Turn
    let path: String
    let fileSystem: any FileSystem

    private static let lookEvery = Duration.seconds(2)

    func run(after commit: UInt64, timeout: Duration) throws(JournalError) -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        let watch = try? fileSystem.watch(path)
        while true {
            if try turn.refreshed().head.commit > commit { return true }
            let left = deadline - clock.now
            if left <= .zero { return false }
            guard let watch else {
                // Without a watch there is nothing to be woken by.
                _ = Monitor(()).wait(timeout: min(left, .milliseconds(200))) { _ -> Bool? in nil }
                continue
            }
            watch.wait(timeout: min(left, Self.lookEvery))
        }
    }
}
