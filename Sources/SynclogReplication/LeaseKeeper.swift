internal import SynclogJournal

/// Keeps leases for followers in the journal that they follow, as far as it can be written.
///
/// A lease holds deletions back for a follower that is away. Without one a follower has the retention only, and is made anew
/// when it was away for longer; so no failure here keeps it from following.
final class LeaseKeeper: Sendable {
    /// A follower waits no longer than this for other writers' lock.
    private static let lockTimeout: Duration = .seconds(1)

    private let path: String
    private let options: JournalOptions
    /// A handle that is open for writing already, if there is one.
    private let writer: Journal?
    private let refused: @Sendable (JournalError) -> Void
    private let wasRefused = Monitor(false)

    /// Keeps leases in the journal at a path; `refused` is called once, with why it cannot be written.
    init(
        path: String, options: JournalOptions, writer: Journal? = nil,
        refused: @escaping @Sendable (JournalError) -> Void
    ) {
        self.path = path
        self.options = options
        self.writer = writer.flatMap { $0.mode == .readOnly ? nil : $0 }
        self.refused = refused
    }

    /// Writes the lease of a follower that has everything up to a commit, if it is not there already.
    ///
    /// - Parameter reader: A handle for reading, which tells whether there is anything to write.
    func renew(_ holder: [UInt8], at commit: UInt64, seenBy reader: Journal) {
        // A copy of a copy has the floors of the first source, and who opens for writing would decide on a pending recovery.
        guard !reader.isFollower, !wasRefused.withLock({ $0 }) else { return }
        do throws(JournalError) {
            guard try !reader.head().recoveryPending, try reader.leaseIsDue(of: holder, at: commit) else {
                return
            }
            if let writer { return try writer.renewLease(of: holder, kind: .replica, at: commit) }
            var options = options
            options.compacts = false
            options.lockTimeout = min(options.lockTimeout, Self.lockTimeout)
            let journal = try Journal.open(at: path, mode: .shared, options: options)
            defer { journal.close() }
            try journal.renewLease(of: holder, kind: .replica, at: commit)
        } catch {
            switch error {
            case .readOnly, .file:
                let isFirst = wasRefused.withLock { told in
                    defer { told = true }
                    return !told
                }
                if isFirst { refused(error) }
            // The next start tries again; what is wrong with the journal is told by reading it.
            default: break
            }
        }
    }
}
