public import SynclogJournal

/// The identity of a database: that of its journal.
public typealias DatabaseID = JournalID

/// The identity of a device: 128 random bits.
public struct DeviceID: Hashable, Sendable {
    /// The upper 64 bits.
    public var high: UInt64
    /// The lower 64 bits.
    public var low: UInt64

    /// Makes an identity from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The identity of an operation, by which its repeats are known.
///
/// A device counts its operations and adds 64 random bits. A program without a device takes 128 random bits.
public struct OperationID: Hashable, Sendable {
    /// The device's counter, from 1; random bits without a device.
    public var counter: UInt64
    /// Random bits.
    public var bits: UInt64

    /// Makes an identity.
    public init(counter: UInt64, bits: UInt64) {
        self.counter = counter
        self.bits = bits
    }

    /// Makes an identity of 128 random bits, for a program without a device.
    public static func random() -> OperationID {
        OperationID(counter: .random(in: .min ... .max), bits: .random(in: .min ... .max))
    }
}

/// Who asks, and what he takes for granted.
public struct RequestContext: Hashable, Sendable {
    /// The database that must answer; nil for any.
    public var database: DatabaseID?
    /// The owner it must have; nil for any.
    public var owner: String?
    /// The device that asks; nil for a program on the database's own directory, or a command.
    public var device: DeviceID?
    /// The last operation whose answer the device has kept; its outcome need not be kept any longer.
    public var confirmedOperation: OperationID?
    /// The operation of this request, or the device's open one in a request that only reads.
    public var operation: OperationID?

    /// Makes a context that takes nothing for granted.
    public init() {}
}

/// One question to a database.
public struct DatabaseRequest: Hashable, Sendable {
    /// Who asks, and what he takes for granted.
    public var context: RequestContext
    /// What is asked.
    public var body: Body

    /// Makes a request.
    public init(_ body: Body, context: RequestContext = RequestContext()) {
        self.body = body
        self.context = context
    }

    /// What is asked.
    public enum Body: Hashable, Sendable {
        /// Only who the database is.
        case identify
        /// Saves and deletes records.
        case modifyRecords(ModifyRecords)
        /// Reads records by name; `desiredKeys` nil means all fields, an empty list none.
        case records(ids: [Record.ID], desiredKeys: [String]?)
        /// Reads a page of a zone's changes; a limit of 0 is the authority's choice.
        case recordZoneChanges(
            zoneID: RecordZone.ID, since: ChangeToken?, desiredKeys: [String]?, resultsLimit: Int)
        /// Reads a page of the database's changed zones; a limit of 0 is the authority's choice.
        case databaseChanges(since: ChangeToken?, resultsLimit: Int)
        /// Makes and deletes zones.
        case modifyRecordZones(saving: [RecordZone.ID], deleting: [RecordZone.ID], reason: ZoneDeletionReason)
        /// Reads all zones.
        case allRecordZones
    }

    /// Records to save and delete.
    public struct ModifyRecords: Hashable, Sendable {
        /// The saves.
        public var saves: [RecordSave]
        /// The deletions.
        public var deletions: [RecordDeletion]
        /// How saves treat the version that the authority has.
        public var savePolicy: SavePolicy
        /// Whether a failure stops everything of its zone.
        public var atomically: Bool

        /// Makes the body of a request.
        public init(
            saves: [RecordSave], deletions: [RecordDeletion], savePolicy: SavePolicy, atomically: Bool
        ) {
            self.saves = saves
            self.deletions = deletions
            self.savePolicy = savePolicy
            self.atomically = atomically
        }
    }
}

/// What a save sends of a record.
public struct RecordSave: Hashable, Sendable {
    /// The record.
    public var recordID: Record.ID
    /// Its type.
    public var recordType: String
    /// The version it is based on; nil for a new record.
    public var baseTag: ChangeTag?
    /// The fields to be set or cleared, in rising order of their names' bytes.
    public var changes: [FieldChange]

    /// Makes a save.
    public init(recordID: Record.ID, recordType: String, baseTag: ChangeTag?, changes: [FieldChange]) {
        self.recordID = recordID
        self.recordType = recordType
        self.baseTag = baseTag
        self.changes = changes
    }

    /// Makes a save of what a policy sends of a record.
    public init(_ record: Record, policy: SavePolicy) {
        self.init(
            recordID: record.recordID, recordType: record.recordType, baseTag: record.recordChangeTag,
            changes: record.changes(for: policy))
    }

    /// Compares text by its bytes.
    public static func == (a: RecordSave, b: RecordSave) -> Bool {
        a.recordID == b.recordID && a.recordType.hasSameBytes(as: b.recordType) && a.baseTag == b.baseTag
            && a.changes == b.changes
    }

    /// Hashes the record's identity and the base.
    public func hash(into hasher: inout Hasher) {
        recordID.hash(into: &hasher)
        hasher.combine(baseTag)
    }
}
