internal import SynclogJournal

/// Where two journals that began as one went apart.
enum Lineage {
    /// The last commit that both have, by their sessions, newest first; nil when the lists share none.
    ///
    /// A session has one writer's line of commits and is never continued by a copy, so two journals with the same
    /// session are equal up to the end of the shorter of the two.
    static func lastCommon(
        _ own: [SessionInfo], through ownHead: UInt64, _ other: [SessionInfo], through otherHead: UInt64
    ) -> UInt64? {
        var ends: [UInt64: (commit: UInt64, end: UInt64)] = [:]
        var end = otherHead
        for session in other {
            if ends[session.label] == nil { ends[session.label] = (session.commit, end) }
            end = session.commit > 0 ? session.commit - 1 : 0
        }
        end = ownHead
        for session in own {
            if let found = ends[session.label], found.commit == session.commit { return min(end, found.end) }
            end = session.commit > 0 ? session.commit - 1 : 0
        }
        return nil
    }
}
