import SynclogJournal

/// Something that knows the newest entry of a key.
protocol EntryLookup {
    func entry(for key: EntryKey) throws(JournalError) -> StoredEntry?
}

extension Journal: EntryLookup {}

/// What a decision sees of the state, and where it puts its entries.
///
/// Decisions are pure: they depend on this state and the request alone.
protocol DecisionState: EntryLookup {
    /// The number of the commit that is being decided.
    var number: UInt64 { get }
    /// Its log clock in microseconds since 1970.
    var clock: Int64 { get }

    mutating func put(_ key: EntryKey, value: [UInt8], firstSeen: UInt64?) throws(JournalError) -> UInt32
    mutating func delete(_ key: EntryKey, value: [UInt8], firstSeen: UInt64?) throws(JournalError) -> UInt32
}

extension CommitTransaction: DecisionState {}

/// A zone that is there.
struct LiveZone: Hashable, Sendable {
    /// The number of the commit that made it.
    var number: UInt64
    /// When it was made.
    var created: Timestamp
}

extension EntryLookup {
    /// The zone of a key, or why it cannot be used.
    func liveZone(_ key: EntryKey, id: RecordZone.ID) throws(JournalError) -> Result<LiveZone, SyncError> {
        guard let stored = try entry(for: key) else { return .failure(.zoneNotFound(id)) }
        do throws(CBORError) {
            if stored.entry.operation == .put {
                let content = try StoredZone(value: stored.entry.value)
                return .success(
                    LiveZone(
                        number: content.number == 0 ? stored.commit.number : content.number,
                        created: Timestamp(microsecondsSince1970: content.created)))
            }
            let deletion = try StoredZoneDeletion(value: stored.entry.value)
            return .failure(
                .zoneNotFound(id, reason: ZoneDeletionReason(rawValue: UInt8(clamping: deletion.reason))))
        } catch {
            return .failure(.notUnderstood(zoneID: id))
        }
    }
}
