import SynclogJournal

/// How far a walk is: where its next page starts, and what is carried in its tokens so that pages tell together what
/// one large page would.
///
/// A token of an unfinished walk names the head at the walk's start as its bound, and in place of an index the
/// distance back to where the walk began: 0 for the beginning of everything.
struct WalkStage: Hashable, Sendable {
    /// The commit after which the next page starts.
    var start: UInt64
    /// The commit after which the walk started.
    var origin: UInt64
    /// The head when the walk started.
    var bound: UInt64

    init(_ token: ChangeToken?, head: UInt64) {
        guard let cursor = token?.cursor else {
            self.init(start: 0, origin: 0, bound: head)
            return
        }
        let commit = cursor.position.commit
        guard cursor.bound > 0 else {
            self.init(start: commit, origin: commit, bound: max(head, commit))
            return
        }
        let distance = cursor.position.index
        let isKnown = distance < UInt32.max && UInt64(distance) <= commit
        self.init(
            start: commit, origin: distance == 0 ? 0 : isKnown ? commit - UInt64(distance) : commit,
            bound: cursor.bound)
    }

    private init(start: UInt64, origin: UInt64, bound: UInt64) {
        self.start = start
        self.origin = origin
        self.bound = bound
    }

    /// Whether the walk started at the beginning of everything.
    var isFromBeginning: Bool { origin == 0 }

    /// Whether a deletion is told: not if the walk began after it, or if nobody who walks can have seen the key.
    ///
    /// What was dead when the walk began was in no earlier page of it; what died later may have been in one.
    func tellsDeletion(at commit: UInt64, firstSeen: UInt64) -> Bool {
        commit > origin && firstSeen <= (commit <= bound ? origin : start)
    }

    /// The token behind a page that ends with a commit.
    func token(
        at end: UInt64, moreComing: Bool, kind: Cursor.Kind, scope: UInt64, _ journal: Journal
    ) throws(SyncError) -> ChangeToken {
        let distance = origin == 0 ? 0 : UInt32(clamping: end - origin)
        let position =
            moreComing ? JournalPosition(commit: end, index: distance) : JournalPosition.end(of: end)
        return ChangeToken(
            try mapped { () throws(JournalError) in
                try journal.cursor(at: position, kind: kind, scope: scope, bound: moreComing ? bound : 0)
            })
    }
}
