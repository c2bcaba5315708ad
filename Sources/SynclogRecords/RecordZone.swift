/// A zone: the unit of change feed, of atomic commit and of deletion.
public struct RecordZone: Hashable, Sendable, Identifiable {
    /// The identity of a zone: its name and its owner, both compared as bytes.
    public struct ID: Hashable, Sendable {
        /// The name of the zone that every database has.
        public static let defaultZoneName = "_defaultZone"
        /// Stands for the owner of the database that is asked.
        public static let defaultOwnerName = "__defaultOwner__"
        /// The zone that every database has.
        public static let `default` = ID(zoneName: defaultZoneName)

        /// The zone's name.
        public let zoneName: String
        /// The owner's id, or ``defaultOwnerName`` for the owner of the database.
        public let ownerName: String

        /// Makes an identity.
        public init(zoneName: String, ownerName: String = defaultOwnerName) {
            self.zoneName = zoneName
            self.ownerName = ownerName
        }

        /// Compares bytes.
        public static func == (a: ID, b: ID) -> Bool {
            a.zoneName.hasSameBytes(as: b.zoneName) && a.ownerName.hasSameBytes(as: b.ownerName)
        }

        /// Hashes bytes.
        public func hash(into hasher: inout Hasher) {
            zoneName.hashBytes(into: &hasher)
            ownerName.hashBytes(into: &hasher)
        }
    }

    /// The zone's identity.
    public let zoneID: ID
    /// When the zone was made, nil for one that was not read from a database.
    public internal(set) var creationDate: Timestamp?

    /// The zone's identity.
    public var id: ID { zoneID }

    /// Makes a zone to be saved.
    public init(zoneID: ID) { self.zoneID = zoneID }

    /// Makes a zone of the database's owner to be saved.
    public init(zoneName: String) { self.init(zoneID: ID(zoneName: zoneName)) }

    package init(zoneID: ID, creationDate: Timestamp?) {
        self.zoneID = zoneID
        self.creationDate = creationDate
    }
}

/// Why a zone is gone.
public enum ZoneDeletionReason: UInt8, Hashable, Sendable, CaseIterable {
    /// A program deleted it.
    case deleted = 0
    /// The person removed the data: wipe local copies, do not send them again without asking.
    case purged = 1
    /// Encrypted data was reset: local copies should be sent again.
    case encryptedDataReset = 2
}

/// A time as the authority told it.
public struct Timestamp: Hashable, Sendable, Comparable {
    /// Microseconds since 1970.
    public var microsecondsSince1970: Int64

    /// Makes a time.
    public init(microsecondsSince1970: Int64) { self.microsecondsSince1970 = microsecondsSince1970 }

    /// Orders times.
    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        a.microsecondsSince1970 < b.microsecondsSince1970
    }
}
