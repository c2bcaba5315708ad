public import SynclogJournal

/// What can go wrong with a database, with CloudKit's names for what CloudKit knows.
public struct SyncError: Error, Hashable, Sendable {
    /// What went wrong, as an open set: authorities and later versions may have codes of their own.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name.
        public var rawValue: String

        /// Makes a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        private init(_ name: String) { rawValue = name }

        /// A fault in the program.
        public static let internalError = Code("internalError")
        /// Some items failed; see ``SyncError/itemErrors``.
        public static let partialFailure = Code("partialFailure")
        /// There is no network.
        public static let networkUnavailable = Code("networkUnavailable")
        /// The authority was not reached.
        public static let networkFailure = Code("networkFailure")
        /// The authority is another container's, or there is no database.
        public static let badContainer = Code("badContainer")
        /// The authority cannot answer now.
        public static let serviceUnavailable = Code("serviceUnavailable")
        /// The authority wants fewer requests.
        public static let requestRateLimited = Code("requestRateLimited")
        /// The authority does not know who asks.
        public static let notAuthenticated = Code("notAuthenticated")
        /// Who asks may not do this.
        public static let permissionFailure = Code("permissionFailure")
        /// The record is not there, or not any more.
        public static let unknownItem = Code("unknownItem")
        /// The request is not well formed.
        public static let invalidArguments = Code("invalidArguments")
        /// The authority has another version than the one this change was based on.
        public static let serverRecordChanged = Code("serverRecordChanged")
        /// The authority refused for good.
        public static let serverRejectedRequest = Code("serverRejectedRequest")
        /// A newer version is needed.
        public static let incompatibleVersion = Code("incompatibleVersion")
        /// A unique value is taken.
        public static let constraintViolation = Code("constraintViolation")
        /// The call was cancelled.
        public static let operationCancelled = Code("operationCancelled")
        /// The token is too old, or its zone was made again: read everything anew.
        public static let changeTokenExpired = Code("changeTokenExpired")
        /// Another item of the same zone failed, so nothing of the zone was stored.
        public static let batchRequestFailed = Code("batchRequestFailed")
        /// Others write; try again later.
        public static let zoneBusy = Code("zoneBusy")
        /// The database's scope does not allow this.
        public static let badDatabase = Code("badDatabase")
        /// The storage is full.
        public static let quotaExceeded = Code("quotaExceeded")
        /// The zone is not there.
        public static let zoneNotFound = Code("zoneNotFound")
        /// The request or a record is too large.
        public static let limitExceeded = Code("limitExceeded")
        /// The person removed the zone: ask before making it again.
        public static let userDeletedZone = Code("userDeletedZone")
        /// The record that a reference names must be there.
        public static let referenceViolation = Code("referenceViolation")
        /// The request may or may not have been done: ask again with the same operation id.
        public static let serverResponseLost = Code("serverResponseLost")

        /// Another copy of this device has made requests: take a new device id.
        public static let deviceCloned = Code("deviceCloned")
        /// The operation is older than what is kept of it: whether it was done is not known any more.
        public static let operationForgotten = Code("operationForgotten")
        /// The token was made for another scope.
        public static let wrongScope = Code("wrongScope")
        /// The database is an older copy of itself.
        public static let rolledBack = Code("rolledBack")
        /// The token is beyond the end of the database.
        public static let ahead = Code("ahead")
        /// The token or request belongs to another database.
        public static let foreign = Code("foreign")
        /// The database belongs to another owner than expected.
        public static let ownerChanged = Code("ownerChanged")
        /// This is known by name but not built yet.
        public static let reserved = Code("reserved")
        /// Stored bytes are damaged or missing.
        public static let damaged = Code("damaged")
    }

    /// The failure of one item of a request.
    public struct ItemError: Hashable, Sendable {
        /// The failure; it names the record or the zone.
        public var error: SyncError

        /// Makes an item's failure.
        public init(error: SyncError) { self.error = error }
    }

    /// What went wrong.
    public var code: Code
    /// What is wrong, in a sentence without a full stop and without user data.
    public var reason: String
    /// What to do about it, in a sentence without a full stop.
    public var nextStep: String
    /// The record this is about.
    public var recordID: Record.ID?
    /// The zone this is about.
    public var zoneID: RecordZone.ID?
    /// How long to wait before another try, where the authority said so.
    public var retryAfter: Duration?
    /// Why the zone is gone, where it is known to have been there.
    public var zoneDeletionReason: ZoneDeletionReason?
    /// The failures of single items, in the order of the request.
    public var itemErrors: [ItemError]
    /// In a conflict: what the authority has; nil if there is none or it was too much for one answer.
    public var serverRecord: Record?
    /// In a conflict: what was to be saved.
    public var clientRecord: Record?
    /// In a conflict: what the client started from.
    public var ancestorRecord: Record?
    /// The journal's error behind this one.
    public var underlying: JournalError?

    /// Makes an error.
    public init(
        _ code: Code, _ reason: String, nextStep: String, recordID: Record.ID? = nil,
        zoneID: RecordZone.ID? = nil,
        retryAfter: Duration? = nil, zoneDeletionReason: ZoneDeletionReason? = nil,
        itemErrors: [ItemError] = [],
        serverRecord: Record? = nil, underlying: JournalError? = nil
    ) {
        self.code = code
        self.reason = reason
        self.nextStep = nextStep
        self.recordID = recordID
        self.zoneID = zoneID
        self.retryAfter = retryAfter
        self.zoneDeletionReason = zoneDeletionReason
        self.itemErrors = itemErrors
        self.serverRecord = serverRecord
        self.underlying = underlying
    }
}

extension SyncError: CustomStringConvertible {
    /// Where, what, and the next step; no user data.
    public var description: String {
        var text = ""
        if let recordID {
            text = "record \(recordID.recordName) in zone \(recordID.zoneID.zoneName): "
        } else if let zoneID {
            text = "zone \(zoneID.zoneName): "
        }
        text += reason
        if let retryAfter { text += " (try again in \(retryAfter.components.seconds) s)" }
        return text + "; " + nextStep
    }
}
