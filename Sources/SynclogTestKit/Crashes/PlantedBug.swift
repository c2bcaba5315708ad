internal import SynclogJournal

/// A known bug that a crash test can plant, to prove that it would notice one like it.
public enum PlantedBug: String, CaseIterable, Sendable {
    case noDirectorySync = "no-directory-sync"
    case acknowledgeBeforeSync = "acknowledge-before-sync"
    case renameBeforeSync = "rename-before-sync"
    case retriedSync = "retried-sync"
    case ignoredLock = "ignored-lock"
    case headTrusted = "head-trusted-over-scan"
    case appendBehindSurvivors = "append-behind-unsynced-survivors"
    case syncInPlace = "sync-in-place-of-copy"
    case tagReuse = "tag-reuse-after-dropped-tail"
    case tornTailClean = "torn-tail-taken-for-clean"
    case checksumIgnored = "checksum-ignored"
    case unlinkBeforePublish = "unlink-before-publish"
    case floorAfterDelete = "floor-after-delete"
    case tombstoneTooEarly = "tombstone-dropped-too-early"
    case leaseIgnored = "lease-ignored"
    case cursorUnchecked = "follower-applies-before-check"
    case numbersNotReserved = "relaxed-numbers-not-reserved"

    /// What it does, in a few words.
    public var summary: String {
        switch self {
        case .noDirectorySync: "directories are never synced"
        case .acknowledgeBeforeSync: "commits are acknowledged without a sync of their file"
        case .renameBeforeSync: "a new segment gets its name before its content is synced"
        case .retriedSync: "a failed sync is tried again, and believed"
        case .ignoredLock: "the lock counts as free whoever holds it"
        case .headTrusted: "what lies behind the end that HEAD names is cut off"
        case .appendBehindSurvivors: "commits of a dead process are taken as they lie"
        case .syncInPlace: "commits of a dead process are synced where they lie"
        case .tagReuse: "numbers of a dropped tail are given again"
        case .tornTailClean: "a commit of which only a part is there counts"
        case .checksumIgnored: "recovery does not look at checksums"
        case .unlinkBeforePublish: "merged segments go before the new one has its name"
        case .floorAfterDelete: "the floor is written after what lies below it was deleted"
        case .tombstoneTooEarly: "a tombstone goes while an older put of its key is still stored"
        case .leaseIgnored: "a tombstone goes though a live lease has not passed it"
        case .cursorUnchecked: "a follower is given blocks whatever its cursor says"
        case .numbersNotReserved: "relaxed commits do not reserve their numbers"
        }
    }

    /// The shapes of scripts in which it can show; nil means all.
    var shapes: [CrashScript.Shape]? {
        switch self {
        case .tombstoneTooEarly, .unlinkBeforePublish: [.compaction, .retention]
        case .floorAfterDelete, .cursorUnchecked: [.retention, .compaction]
        case .leaseIgnored: [.lease]
        case .numbersNotReserved: [.relaxed]
        default: nil
        }
    }

    /// Runs one seed with the bug planted; nil if it does not show, cannot show in that seed's script, or if the seed fails without
    /// it too, for then it was not the bug that was noticed.
    public func search(seed: UInt64) -> CrashTest.Report? {
        let script = CrashScript.random(seed: seed)
        if let shapes, !shapes.contains(where: { $0.rawValue == script.name }) { return nil }
        let report = CrashTest(seed: seed, script: script, bug: self).run()
        guard report.failure != nil, CrashTest(seed: seed, script: script).run().failure == nil else {
            return nil
        }
        return report
    }

    /// Plants it in the options of a journal.
    func plant(in options: inout JournalOptions) {
        switch self {
        case .headTrusted: options.rules.scansBeyondHead = false
        case .appendBehindSurvivors: options.rules.movesSurvivors = false
        case .syncInPlace: options.rules.copiesSurvivors = false
        case .tagReuse: options.rules.numbersAboveDropped = false
        case .tornTailClean: options.rules.dropsTornTails = false
        case .checksumIgnored: options.rules.checksPayloads = false
        case .unlinkBeforePublish: options.rules.publishesBeforeUnlink = false
        case .floorAfterDelete: options.rules.raisesFloorsFirst = false
        case .tombstoneTooEarly: options.rules.keepsTombstonesOverPuts = false
        case .leaseIgnored: options.rules.respectsLeases = false
        case .cursorUnchecked: options.rules.checksCursors = false
        case .numbersNotReserved: options.rules.reservesNumbers = false
        case .noDirectorySync, .acknowledgeBeforeSync, .renameBeforeSync, .retriedSync, .ignoredLock:
            options.fileSystem = FaultyFileSystem(options.fileSystem, bug: self)
        }
    }
}
