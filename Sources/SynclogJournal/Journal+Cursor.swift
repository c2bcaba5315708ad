/// Cursors and whether they belong to this journal's history.
extension Journal {
    /// A cursor for a position at or below the head.
    public func cursor(
        at position: JournalPosition, kind: Cursor.Kind = .journal, scope: UInt64 = 0, bound: UInt64 = 0
    ) throws(JournalError) -> Cursor {
        let session = try session(at: position.commit)
        return Cursor(
            kind: kind, journal: id, session: session.label, position: position, scope: scope, bound: bound)
    }

    /// Throws if a cursor does not belong to this journal's history as far as it is known now.
    ///
    /// A cursor below its floor is ``JournalError/expired(floor:)``; one at the start of the journal is not, it has seen nothing.
    ///
    /// A cursor of another journal is ``JournalError/foreignJournal``; one beyond the head in the session that is still in force is
    /// ``JournalError/ahead(head:)``; one whose session is not the one in force at its commit is
    /// ``JournalError/rolledBack(common:)``. While a recovery is pending nothing beyond the head is judged.
    public func validate(_ cursor: Cursor) throws(JournalError) {
        guard cursor.journal == id else { throw .foreignJournal }
        try reading { snapshot throws(JournalError) in try validate(cursor, snapshot) }
    }

    private func validate(_ cursor: Cursor, _ snapshot: JournalSnapshot) throws(JournalError) {
        let commit = cursor.position.commit
        if commit <= snapshot.head.commit {
            if try snapshot.session(at: commit).label == cursor.session {
                // A walk from the beginning has no use for tombstones up to its bound.
                let seen = cursor.bound > 0 ? cursor.bound : commit
                let floor = try floor(of: cursor, snapshot)
                if seen < floor, commit > 0 { throw .expired(floor: floor) }
                return
            }
            let dropped = try snapshot.floor(zone: Floor.sessions)
            if commit <= dropped { throw .expired(floor: max(dropped, try floor(of: cursor, snapshot))) }
        } else {
            if snapshot.head.recoveryPending { throw .recoveryPending(path: path) }
            if cursor.session == snapshot.head.session { throw .ahead(head: snapshot.head.commit) }
        }
        throw .rolledBack(common: try lastCommon(of: cursor.session, before: commit, snapshot))
    }

    /// The lowest usable position for a cursor's kind and scope.
    private func floor(of cursor: Cursor, _ snapshot: JournalSnapshot) throws(JournalError) -> UInt64 {
        switch cursor.kind {
        case .journal: try snapshot.highestFloor()
        case .database: try snapshot.floor(zone: 0)
        case .zone: try snapshot.floor(zone: cursor.scope)
        }
    }

    /// The last commit of a session as this journal has it, if it has it.
    private func lastCommon(
        of label: UInt64, before commit: UInt64, _ snapshot: JournalSnapshot
    ) throws(JournalError) -> UInt64? {
        guard label != 0 else { return 0 }
        let name = (0..<8).map { UInt8(truncatingIfNeeded: label >> UInt64(56 - $0 * 8)) }
        guard let start = try snapshot.position(of: EntryKey(space: .session, name: name))?.commit else {
            return nil
        }
        guard let next = try snapshot.nextSession(after: start) else {
            return min(commit, snapshot.head.commit)
        }
        return min(commit, next.commit - 1)
    }
}
