/// Keeping leases for those who follow.
extension Journal {
    /// Whether a lease of a holder that has everything up to a commit would be another one than is stored.
    ///
    /// A lease moves only when data passed it: entries that are only this journal's own housekeeping, leases included, do not
    /// count, so that two who have nothing to tell each other write nothing.
    public func leaseIsDue(of holder: [UInt8], at commit: UInt64) throws(JournalError) -> Bool {
        try reading { snapshot throws(JournalError) in
            guard let stored = try snapshot.entry(for: Lease.key(holder)),
                let lease = Lease(value: stored.entry.value), lease.isLive(at: snapshot.clock),
                lease.commit <= commit
            else { return true }
            var reader = try JournalReader(
                snapshot, from: .end(of: lease.commit), backward: false, filter: .all)
            while let next = try reader.next(), next.info.number <= commit {
                if next.entries.contains(where: { $0.isData }) { return true }
            }
            return false
        }
    }

    /// Writes the lease of a holder that has everything up to a commit; it lasts as long as ``JournalRetention/leases`` says.
    ///
    /// Nothing is written where tombstones above that commit were dropped already: the holder's cursor is expired.
    @available(*, noasync)
    public func renewLease(of holder: [UInt8], kind: Lease.Kind, at commit: UInt64) throws(JournalError) {
        let time = options.retention.leases.microseconds
        _ = try self.commit { transaction throws(JournalError) in
            let floor = try transaction.entry(for: Floor.key(zone: Floor.highest))
            if let floor = floor.flatMap({ Floor.commit($0.entry.value) }), commit < floor { return }
            let old = try transaction.entry(for: Lease.key(holder))
            let (until, overflow) = transaction.clock.addingReportingOverflow(time)
            let lease = Lease(kind: kind, commit: commit, until: overflow ? .max : until)
            try transaction.put(Lease.key(holder), value: lease.value, firstSeen: old?.entry.firstSeen)
        }
    }
}

extension Entry {
    /// Whether it is more than the journal's own housekeeping.
    fileprivate var isData: Bool {
        guard operation != .note else { return false }
        switch key.space {
        case .lease, .session, .floor, .reserve: return false
        default: return true
        }
    }
}
