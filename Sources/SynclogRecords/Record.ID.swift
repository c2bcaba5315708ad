extension Record {
    /// The identity of a record: its name and its zone, compared as bytes.
    public struct ID: Hashable, Sendable {
        /// The record's name, 1 to 255 bytes of UTF-8 without a leading `_`.
        public let recordName: String
        /// The zone the record is in.
        public let zoneID: RecordZone.ID

        /// Makes an identity.
        public init(recordName: String, zoneID: RecordZone.ID = .default) {
            self.recordName = recordName
            self.zoneID = zoneID
        }

        /// Compares bytes.
        public static func == (a: ID, b: ID) -> Bool {
            a.recordName.hasSameBytes(as: b.recordName) && a.zoneID == b.zoneID
        }

        /// Hashes bytes.
        public func hash(into hasher: inout Hasher) {
            recordName.hashBytes(into: &hasher)
            zoneID.hash(into: &hasher)
        }
    }
}

/// A record to be deleted, with the version that was last seen.
public struct RecordDeletion: Hashable, Sendable {
    /// The record.
    public var recordID: Record.ID
    /// The version last seen; the deletion fails if there is another one.
    ///
    /// Nil deletes whatever is there.
    public var changeTag: ChangeTag?

    /// Makes a deletion.
    public init(recordID: Record.ID, changeTag: ChangeTag? = nil) {
        self.recordID = recordID
        self.changeTag = changeTag
    }

    /// Makes the deletion of a record in the version at hand.
    public init(_ record: Record) { self.init(recordID: record.recordID, changeTag: record.recordChangeTag) }
}

/// How a save treats the version that the authority has.
public enum SavePolicy: UInt8, Hashable, Sendable, CaseIterable {
    /// Sends changed keys; fails with `serverRecordChanged` if the authority has another version.
    case ifServerRecordUnchanged = 0
    /// Sends changed keys and compares nothing.
    case changedKeys = 1
    /// Sends all local keys and compares nothing; keys that only the authority has stay.
    case allKeys = 2
}
