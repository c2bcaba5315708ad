internal import SynclogJournal
internal import SynclogRecords

// A database's error in a message. The journal's error behind it stays on its machine; its words are in the reason.

extension SyncError {
    /// The error alone, as bytes.
    var wireBytes: [UInt8] {
        var writer = CBORWriter(capacity: 256)
        writer.syncError(self)
        return writer.bytes
    }

    /// Understands the bytes of an error.
    init(wireBytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(wireBytes)
        self = try reader.syncError()
        guard reader.isAtEnd else { throw reader.error() }
    }
}

extension CBORWriter {
    mutating func syncError(_ error: SyncError) {
        array(9)
        text(error.code.rawValue)
        text(error.reason)
        text(error.nextStep)
        optional(error.recordID) { $0.recordID($1) }
        optional(error.zoneID) { $0.zoneID($1) }
        optional(error.retryAfter) { writer, delay in
            writer.integer(
                delay.components.seconds * 1000 + delay.components.attoseconds / 1_000_000_000_000_000)
        }
        optional(error.zoneDeletionReason) { $0.unsigned(UInt64($1.rawValue)) }
        array(error.itemErrors.count)
        for item in error.itemErrors { syncError(item.error) }
        optional(error.serverRecord) { $0.record($1) }
    }
}

extension CBORReader {
    /// Errors inside errors beyond this depth are refused.
    private static let syncErrorDepthMax = 4

    mutating func syncError(depth: Int = 0) throws(CBORError) -> SyncError {
        guard depth < Self.syncErrorDepthMax else { throw error() }
        return try fields(9) { reader throws(CBORError) in
            let code = SyncError.Code(rawValue: try reader.text())
            let reason = try reader.text()
            let nextStep = try reader.text()
            let recordID = try reader.optional { reader throws(CBORError) in try reader.recordID() }
            let zoneID = try reader.optional { reader throws(CBORError) in try reader.zoneID() }
            let delay = try reader.optional { reader throws(CBORError) in try reader.integer() }
            let deletion = try reader.optional { reader throws(CBORError) in try reader.deletionReason() }
            let items = try reader.items { reader throws(CBORError) in
                SyncError.ItemError(error: try reader.syncError(depth: depth + 1))
            }
            let record = try reader.optional { reader throws(CBORError) in try reader.record() }
            return SyncError(
                code, reason, nextStep: nextStep, recordID: recordID, zoneID: zoneID,
                retryAfter: delay.map { .milliseconds($0) }, zoneDeletionReason: deletion, itemErrors: items,
                serverRecord: record)
        }
    }
}
