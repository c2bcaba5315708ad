import SynclogJournal

// The errors of the authority, with their texts.

extension SyncError {
    static func zoneNotFound(_ id: RecordZone.ID, reason: ZoneDeletionReason? = nil) -> SyncError {
        switch reason {
        case .purged:
            SyncError(
                .userDeletedZone, "the zone was removed together with its data",
                nextStep: "ask before making it again", zoneID: id, zoneDeletionReason: reason)
        case .encryptedDataReset:
            SyncError(
                .zoneNotFound, "the zone was deleted because encrypted data was reset",
                nextStep: "make the zone again and send the local records", zoneID: id,
                zoneDeletionReason: reason)
        case .deleted, nil:
            SyncError(
                .zoneNotFound, reason == nil ? "there is no such zone" : "the zone was deleted",
                nextStep: "make the zone first", zoneID: id, zoneDeletionReason: reason)
        }
    }

    static func notUnderstood(recordID: Record.ID? = nil, zoneID: RecordZone.ID? = nil) -> SyncError {
        SyncError(
            .incompatibleVersion, "a stored entry has a form that this version does not know",
            nextStep: "use a newer version of synclog", recordID: recordID, zoneID: zoneID)
    }

    static func invalid(
        _ reason: String, nextStep: String, recordID: Record.ID? = nil, zoneID: RecordZone.ID? = nil
    ) -> SyncError {
        SyncError(.invalidArguments, reason, nextStep: nextStep, recordID: recordID, zoneID: zoneID)
    }

    static func limit(
        _ what: String, max: Int, actual: Int, unit: String, nextStep: String, recordID: Record.ID? = nil,
        zoneID: RecordZone.ID? = nil
    ) -> SyncError {
        SyncError(
            .limitExceeded, "\(what) has \(actual) \(unit), at most \(max) are allowed", nextStep: nextStep,
            recordID: recordID, zoneID: zoneID)
    }

    static func unknownItem(_ id: Record.ID) -> SyncError {
        SyncError(
            .unknownItem, "there is no such record",
            nextStep: "save it as a new one, or delete the local copy",
            recordID: id)
    }

    static func serverRecordChanged(_ id: Record.ID, insert: Bool, server: Record?) -> SyncError {
        SyncError(
            .serverRecordChanged,
            insert ? "there is a record of this name already" : "another version was saved meanwhile",
            nextStep: "merge into the server's record and save that", recordID: id, serverRecord: server)
    }

    static func batchRequestFailed(_ id: Record.ID) -> SyncError {
        SyncError(
            .batchRequestFailed, "another record of the zone failed, so nothing of the zone was stored",
            nextStep: "mend the other record and send all of them again", recordID: id)
    }

    static let deviceCloned = SyncError(
        .deviceCloned, "another copy of this device has made requests under the same device id",
        nextStep: "take a new device id and send the request again")

    static let operationForgotten = SyncError(
        .operationForgotten,
        "the outcome of this operation is not kept any longer, and it was not done again",
        nextStep: "fetch the changes, then send what is still missing as a new operation")

    /// What a repeat of a refused item is told.
    static func refusedBefore(_ code: Code, recordID: Record.ID?, zoneID: RecordZone.ID?) -> SyncError {
        SyncError(
            code, "this item was refused when the operation was done first",
            nextStep: "fetch the record and send the change as a new operation", recordID: recordID,
            zoneID: zoneID)
    }
}
