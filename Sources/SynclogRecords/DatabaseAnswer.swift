/// What a database answers, and who it is.
public struct DatabaseAnswer: Hashable, Sendable {
    /// The database that answers.
    public var database: DatabaseID
    /// The container it was made for.
    public var container: String
    /// The owner's id.
    public var owner: String
    /// The session in force at the head.
    public var session: UInt64
    /// The number of the last commit.
    public var head: UInt64
    /// The last operation known of the device that asks.
    public var lastOperation: OperationID?
    /// What was asked for.
    public var body: Body

    /// Makes an answer.
    public init(
        database: DatabaseID, container: String, owner: String, session: UInt64, head: UInt64,
        lastOperation: OperationID? = nil, body: Body
    ) {
        self.database = database
        self.container = container
        self.owner = owner
        self.session = session
        self.head = head
        self.lastOperation = lastOperation
        self.body = body
    }

    /// What was asked for.
    public enum Body: Hashable, Sendable {
        /// Only who the database is.
        case identified
        /// One result for each save and each deletion, in the order of the request.
        case modifiedRecords(saves: [Result<SavedRecord, SyncError>], deletions: [SyncError?])
        /// One result for each name, in the order of the request.
        case records([Result<Record, SyncError>])
        /// A page of a zone's changes.
        case recordZoneChanges(RecordZoneChanges)
        /// A page of the database's changed zones.
        case databaseChanges(DatabaseChanges)
        /// One result for each zone to save and to delete, in the order of the request.
        case modifiedRecordZones(saves: [Result<RecordZone, SyncError>], deletions: [SyncError?])
        /// All zones, in rising order of their names' bytes.
        case recordZones([RecordZone])
    }
}

/// What the authority made of a saved record.
public struct SavedRecord: Hashable, Sendable {
    /// The new version.
    public var changeTag: ChangeTag
    /// When the record was made.
    public var creationDate: Timestamp
    /// When this version was saved.
    public var modificationDate: Timestamp
    /// The number of the device that saved it.
    public var device: UInt32
    /// Whether the authority had another version than the one the save was based on, so that the record may hold
    /// more fields than were sent.
    public var mergedWithOther: Bool

    /// Makes the result of a save.
    public init(
        changeTag: ChangeTag, creationDate: Timestamp, modificationDate: Timestamp, device: UInt32,
        mergedWithOther: Bool
    ) {
        self.changeTag = changeTag
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.device = device
        self.mergedWithOther = mergedWithOther
    }
}

/// A page of a zone's changes: one answer per record, the newest.
public struct RecordZoneChanges: Hashable, Sendable {
    /// A record that is gone.
    public struct Deletion: Hashable, Sendable {
        /// The record.
        public var recordID: Record.ID
        /// The type it had.
        public var recordType: String

        /// Makes a deletion.
        public init(recordID: Record.ID, recordType: String) {
            self.recordID = recordID
            self.recordType = recordType
        }

        /// Compares bytes.
        public static func == (a: Deletion, b: Deletion) -> Bool {
            a.recordID == b.recordID && a.recordType.hasSameBytes(as: b.recordType)
        }

        /// Hashes the record's identity.
        public func hash(into hasher: inout Hasher) { recordID.hash(into: &hasher) }
    }

    /// The records saved since the token, in the order of their versions.
    public var modifications: [Record]
    /// The records deleted since the token, in the order of their deletions.
    public var deletions: [Deletion]
    /// The place after this page.
    public var changeToken: ChangeToken
    /// Whether there may be more behind ``changeToken``; a page can be empty and still say so.
    public var moreComing: Bool

    /// Makes a page.
    public init(modifications: [Record], deletions: [Deletion], changeToken: ChangeToken, moreComing: Bool) {
        self.modifications = modifications
        self.deletions = deletions
        self.changeToken = changeToken
        self.moreComing = moreComing
    }
}

/// A page of the zones that changed.
///
/// Where a zone is in both lists it was deleted and then made again.
public struct DatabaseChanges: Hashable, Sendable {
    /// A zone that is gone.
    public struct Deletion: Hashable, Sendable {
        /// The zone.
        public var zoneID: RecordZone.ID
        /// Why it is gone.
        public var reason: ZoneDeletionReason

        /// Makes a deletion.
        public init(zoneID: RecordZone.ID, reason: ZoneDeletionReason) {
            self.zoneID = zoneID
            self.reason = reason
        }
    }

    /// The zones made or with changed records since the token, in the order of their last changes.
    public var modifications: [RecordZone.ID]
    /// The zones deleted since the token; apply them before the modifications.
    public var deletions: [Deletion]
    /// The place after this page.
    public var changeToken: ChangeToken
    /// Whether there may be more behind ``changeToken``.
    public var moreComing: Bool

    /// Makes a page.
    public init(
        modifications: [RecordZone.ID], deletions: [Deletion], changeToken: ChangeToken, moreComing: Bool
    ) {
        self.modifications = modifications
        self.deletions = deletions
        self.changeToken = changeToken
        self.moreComing = moreComing
    }
}
