/// Cursors and whether they belong to this journal's history.
extension Journal {
    /// A cursor for a position at or below the head.
    public func cursor(
        at position: JournalPosition, kind: Cursor.Kind = .journal, scope: UInt64 = 0, bound: UInt64 = 0
    ) throws(JournalError) -> Cursor {
        let session = try turn.snapshot().session(at: position.commit)
        return Cursor(
            kind: kind, journal: id, session: session.label, position: position, scope: scope, bound: bound)
    }

    /// Throws if a cursor does not belong to this journal's history as far as it is known now.
    ///
    /// A cursor of another journal is ``JournalError/foreignJournal``; one beyond the head in the session that is still in force is
    /// ``JournalError/ahead(head:)``; one whose session is not the one in force at its commit is
    /// ``JournalError/rolledBack(common:)``. While a recovery is pending nothing beyond the head is judged.
    public func validate(_ cursor: Cursor) throws(JournalError) {
        guard cursor.journal == id else { throw .foreignJournal }
        let snapshot = turn.snapshot()
        let commit = cursor.position.commit
        if commit <= snapshot.head.commit {
            if try snapshot.session(at: commit).label == cursor.session { return }
        } else {
            if snapshot.head.recoveryPending { throw .recoveryPending(path: path) }
            if cursor.session == snapshot.head.session { throw .ahead(head: snapshot.head.commit) }
        }
        throw .rolledBack(common: try lastCommon(of: cursor.session, before: commit, snapshot))
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
