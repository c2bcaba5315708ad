internal import SynclogJournal
internal import SynclogRecords

// A database request in a message. Each array may be longer in a newer version; the rest is skipped.

extension DatabaseRequest {
    enum Kind: UInt64 {
        case identify = 0
        case modifyRecords = 1
        case records = 2
        case recordZoneChanges = 3
        case databaseChanges = 4
        case modifyRecordZones = 5
        case allRecordZones = 6
    }

    /// The request as `[context, kind, parts…]`.
    var wireBytes: [UInt8] {
        var writer = CBORWriter(capacity: 1024)
        func start(_ kind: Kind, _ parts: Int) {
            writer.array(2 + parts)
            writer.context(context)
            writer.unsigned(kind.rawValue)
        }
        switch body {
        case .identify: start(.identify, 0)
        case .modifyRecords(let body):
            start(.modifyRecords, 4)
            writer.array(body.saves.count)
            for save in body.saves { writer.recordSave(save) }
            writer.array(body.deletions.count)
            for deletion in body.deletions {
                writer.array(2)
                writer.recordID(deletion.recordID)
                writer.changeTag(deletion.changeTag)
            }
            writer.unsigned(UInt64(body.savePolicy.rawValue))
            writer.bool(body.atomically)
        case .records(let ids, let desiredKeys):
            start(.records, 2)
            writer.array(ids.count)
            for id in ids { writer.recordID(id) }
            writer.optional(desiredKeys) { $0.texts($1) }
        case .recordZoneChanges(let zoneID, let token, let desiredKeys, let limit):
            start(.recordZoneChanges, 4)
            writer.zoneID(zoneID)
            writer.optional(token) { $0.cursor($1.cursor) }
            writer.optional(desiredKeys) { $0.texts($1) }
            writer.integer(Int64(limit))
        case .databaseChanges(let token, let limit):
            start(.databaseChanges, 2)
            writer.optional(token) { $0.cursor($1.cursor) }
            writer.integer(Int64(limit))
        case .modifyRecordZones(let saving, let deleting, let reason):
            start(.modifyRecordZones, 3)
            for ids in [saving, deleting] {
                writer.array(ids.count)
                for id in ids { writer.zoneID(id) }
            }
            writer.unsigned(UInt64(reason.rawValue))
        case .allRecordZones: start(.allRecordZones, 0)
        }
        return writer.bytes
    }

    /// Understands the bytes of a request.
    init(wireBytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(wireBytes)
        let count = try reader.array()
        try reader.need(2, of: count)
        let context = try reader.context()
        guard let kind = Kind(rawValue: try reader.unsigned()) else { throw reader.error() }
        let body: Body
        let known: Int
        switch kind {
        case .identify:
            known = 0
            body = .identify
        case .modifyRecords:
            known = 4
            try reader.need(2 + known, of: count)
            let saves = try reader.items { reader throws(CBORError) in try reader.recordSave() }
            let deletions = try reader.items { reader throws(CBORError) in
                try reader.fields(2) { reader throws(CBORError) in
                    RecordDeletion(recordID: try reader.recordID(), changeTag: try reader.changeTag())
                }
            }
            guard let number = UInt8(exactly: try reader.unsigned()),
                let policy = SavePolicy(rawValue: number)
            else { throw reader.error() }
            body = .modifyRecords(
                ModifyRecords(
                    saves: saves, deletions: deletions, savePolicy: policy, atomically: try reader.bool()))
        case .records:
            known = 2
            try reader.need(2 + known, of: count)
            let ids = try reader.items { reader throws(CBORError) in try reader.recordID() }
            body = .records(
                ids: ids, desiredKeys: try reader.optional { reader throws(CBORError) in try reader.texts() })
        case .recordZoneChanges:
            known = 4
            try reader.need(2 + known, of: count)
            body = .recordZoneChanges(
                zoneID: try reader.zoneID(), since: try reader.changeToken(),
                desiredKeys: try reader.optional { reader throws(CBORError) in try reader.texts() },
                resultsLimit: Int(try reader.integer()))
        case .databaseChanges:
            known = 2
            try reader.need(2 + known, of: count)
            body = .databaseChanges(since: try reader.changeToken(), resultsLimit: Int(try reader.integer()))
        case .modifyRecordZones:
            known = 3
            try reader.need(2 + known, of: count)
            let saving = try reader.items { reader throws(CBORError) in try reader.zoneID() }
            let deleting = try reader.items { reader throws(CBORError) in try reader.zoneID() }
            body = .modifyRecordZones(saving: saving, deleting: deleting, reason: try reader.deletionReason())
        case .allRecordZones:
            known = 0
            body = .allRecordZones
        }
        for _ in 2 + known..<count { try reader.skip() }
        guard reader.isAtEnd else { throw reader.error() }
        self.init(body, context: context)
    }
}

extension CBORWriter {
    mutating func texts(_ texts: [String]) {
        array(texts.count)
        for text in texts { self.text(text) }
    }

    private mutating func operation(_ id: OperationID) {
        array(2)
        unsigned(id.counter)
        unsigned(id.bits)
    }

    mutating func optionalOperation(_ id: OperationID?) { optional(id) { $0.operation($1) } }

    fileprivate mutating func context(_ context: RequestContext) {
        array(5)
        optional(context.database) { $0.journalID($1) }
        optional(context.owner) { $0.text($1) }
        optional(context.device) { $0.journalID(JournalID(high: $1.high, low: $1.low)) }
        optionalOperation(context.confirmedOperation)
        optionalOperation(context.operation)
    }

    fileprivate mutating func recordSave(_ save: RecordSave) {
        array(4)
        recordID(save.recordID)
        text(save.recordType)
        changeTag(save.baseTag)
        // Null would be a value that a newer version may have; a field to be cleared stands alone.
        array(save.changes.count)
        for change in save.changes {
            array(change.value == nil ? 1 : 2)
            text(change.key)
            if let value = change.value { recordValue(value) }
        }
    }
}

extension CBORReader {
    /// Reads an array of any number of items; memory grows only with items that are there.
    mutating func items<Value>(
        _ body: (inout CBORReader) throws(CBORError) -> Value
    ) throws(CBORError) -> [Value] {
        try list(max: .max, body)
    }

    mutating func texts() throws(CBORError) -> [String] {
        try items { reader throws(CBORError) in try reader.text() }
    }

    mutating func changeToken() throws(CBORError) -> ChangeToken? {
        try optional { reader throws(CBORError) in ChangeToken(try reader.cursor()) }
    }

    mutating func deletionReason() throws(CBORError) -> ZoneDeletionReason {
        let failure = error()
        guard let number = UInt8(exactly: try unsigned()), let reason = ZoneDeletionReason(rawValue: number)
        else { throw failure }
        return reason
    }

    mutating func optionalOperation() throws(CBORError) -> OperationID? {
        try optional { reader throws(CBORError) in
            try reader.fields(2) { reader throws(CBORError) in
                OperationID(counter: try reader.unsigned(), bits: try reader.unsigned())
            }
        }
    }

    fileprivate mutating func context() throws(CBORError) -> RequestContext {
        try fields(5) { reader throws(CBORError) in
            var context = RequestContext()
            context.database = try reader.optional { reader throws(CBORError) in try reader.journalID() }
            context.owner = try reader.optional { reader throws(CBORError) in try reader.text() }
            context.device = try reader.optional { reader throws(CBORError) in
                let id = try reader.journalID()
                return DeviceID(high: id.high, low: id.low)
            }
            context.confirmedOperation = try reader.optionalOperation()
            context.operation = try reader.optionalOperation()
            return context
        }
    }

    fileprivate mutating func recordSave() throws(CBORError) -> RecordSave {
        try fields(4) { reader throws(CBORError) in
            let id = try reader.recordID()
            let type = try reader.text()
            let tag = try reader.changeTag()
            let changes = try reader.items { reader throws(CBORError) in
                let count = try reader.array()
                let failure = reader.error()
                guard count == 1 || count == 2 else { throw failure }
                let key = try reader.text()
                return FieldChange(key: key, value: count == 1 ? nil : try reader.recordValue())
            }
            return RecordSave(recordID: id, recordType: type, baseTag: tag, changes: changes)
        }
    }
}
