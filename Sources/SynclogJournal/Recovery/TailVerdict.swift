/// What lies above the proven end of a live segment, as a scan found it.
struct TailFindings {
    /// The last commit proven durable: HEAD, the segment's header, every `syncedThrough`, a footer.
    var proven: UInt64
    /// The whole commits after the known end, as the last commit of each whole block that ends one.
    var wholeThrough: UInt64
    /// Where the bytes begin that are no whole commit, and why.
    var damage: (offset: UInt64, reason: String)?
    /// The highest commit number that any header names, valid tail or not.
    var highestSeen: UInt64
}

/// What recovery must do with a tail.
enum TailVerdict: Equatable {
    /// Everything found is proven.
    case clean
    /// Bytes above the proof are not whole: keep them aside and drop them.
    case torn
    /// Proven commits are damaged: change nothing.
    case corrupted(offset: UInt64, commits: ClosedRange<UInt64>, reason: String)

    /// Decides about a tail: damage at or below the proof is corruption, above it a torn tail.
    init(_ findings: TailFindings) {
        guard let damage = findings.damage else {
            self = .clean
            return
        }
        if findings.proven > findings.wholeThrough {
            self = .corrupted(
                offset: damage.offset, commits: findings.wholeThrough + 1...findings.proven,
                reason: damage.reason)
        } else {
            self = .torn
        }
    }
}
