internal import SynclogJournal
internal import SynclogRecords

// A database's answer in a message. Each array may be longer in a newer version; the rest is skipped.

extension DatabaseAnswer {
    private enum Kind: UInt64 {
        case identified = 0
        case modifiedRecords = 1
        case records = 2
        case recordZoneChanges = 3
        case databaseChanges = 4
        case modifiedRecordZones = 5
        case recordZones = 6
    }

    /// The answer as `[who, kind, parts…]`.
    var wireBytes: [UInt8] {
        var writer = CBORWriter(capacity: 1024)
        func start(_ kind: Kind, _ parts: Int) {
            writer.array(2 + parts)
            writer.array(6)
            writer.journalID(database)
            writer.text(container)
            writer.text(owner)
            writer.unsigned(session)
            writer.unsigned(head)
            writer.optionalOperation(lastOperation)
            writer.unsigned(kind.rawValue)
        }
        switch body {
        case .identified: start(.identified, 0)
        case .modifiedRecords(let saves, let deletions):
            start(.modifiedRecords, 2)
            writer.results(saves) { $0.savedRecord($1) }
            writer.failures(deletions)
        case .records(let records):
            start(.records, 1)
            writer.results(records) { $0.record($1) }
        case .recordZoneChanges(let page):
            start(.recordZoneChanges, 4)
            writer.array(page.modifications.count)
            for record in page.modifications { writer.record(record) }
            writer.array(page.deletions.count)
            for deletion in page.deletions {
                writer.array(2)
                writer.recordID(deletion.recordID)
                writer.text(deletion.recordType)
            }
            writer.cursor(page.changeToken.cursor)
            writer.bool(page.moreComing)
        case .databaseChanges(let page):
            start(.databaseChanges, 4)
            writer.array(page.modifications.count)
            for id in page.modifications { writer.zoneID(id) }
            writer.array(page.deletions.count)
            for deletion in page.deletions {
                writer.array(2)
                writer.zoneID(deletion.zoneID)
                writer.unsigned(UInt64(deletion.reason.rawValue))
            }
            writer.cursor(page.changeToken.cursor)
            writer.bool(page.moreComing)
        case .modifiedRecordZones(let saves, let deletions):
            start(.modifiedRecordZones, 2)
            writer.results(saves) { $0.recordZone($1) }
            writer.failures(deletions)
        case .recordZones(let zones):
            start(.recordZones, 1)
            writer.array(zones.count)
            for zone in zones { writer.recordZone(zone) }
        }
        return writer.bytes
    }

    /// Understands the bytes of an answer.
    init(wireBytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(wireBytes)
        let count = try reader.array()
        try reader.need(2, of: count)
        self = try reader.fields(6) { reader throws(CBORError) in
            DatabaseAnswer(
                database: try reader.journalID(), container: try reader.text(), owner: try reader.text(),
                session: try reader.unsigned(), head: try reader.unsigned(),
                lastOperation: try reader.optionalOperation(), body: .identified)
        }
        guard let kind = Kind(rawValue: try reader.unsigned()) else { throw reader.error() }
        let known: Int
        switch kind {
        case .identified: known = 0
        case .modifiedRecords:
            known = 2
            try reader.need(2 + known, of: count)
            body = .modifiedRecords(
                saves: try reader.results { reader throws(CBORError) in try reader.savedRecord() },
                deletions: try reader.failures())
        case .records:
            known = 1
            try reader.need(2 + known, of: count)
            body = .records(try reader.results { reader throws(CBORError) in try reader.record() })
        case .recordZoneChanges:
            known = 4
            try reader.need(2 + known, of: count)
            let records = try reader.items { reader throws(CBORError) in try reader.record() }
            let deletions = try reader.items { reader throws(CBORError) in
                try reader.fields(2) { reader throws(CBORError) in
                    RecordZoneChanges.Deletion(recordID: try reader.recordID(), recordType: try reader.text())
                }
            }
            body = .recordZoneChanges(
                RecordZoneChanges(
                    modifications: records, deletions: deletions,
                    changeToken: ChangeToken(try reader.cursor()),
                    moreComing: try reader.bool()))
        case .databaseChanges:
            known = 4
            try reader.need(2 + known, of: count)
            let zones = try reader.items { reader throws(CBORError) in try reader.zoneID() }
            let deletions = try reader.items { reader throws(CBORError) in
                try reader.fields(2) { reader throws(CBORError) in
                    DatabaseChanges.Deletion(zoneID: try reader.zoneID(), reason: try reader.deletionReason())
                }
            }
            body = .databaseChanges(
                DatabaseChanges(
                    modifications: zones, deletions: deletions, changeToken: ChangeToken(try reader.cursor()),
                    moreComing: try reader.bool()))
        case .modifiedRecordZones:
            known = 2
            try reader.need(2 + known, of: count)
            body = .modifiedRecordZones(
                saves: try reader.results { reader throws(CBORError) in try reader.recordZone() },
                deletions: try reader.failures())
        case .recordZones:
            known = 1
            try reader.need(2 + known, of: count)
            body = .recordZones(try reader.items { reader throws(CBORError) in try reader.recordZone() })
        }
        for _ in 2 + known..<count { try reader.skip() }
        guard reader.isAtEnd else { throw reader.error() }
    }
}

extension CBORWriter {
    /// Each result is `[value]` or `[null, error]`.
    fileprivate mutating func results<Value>(
        _ results: [Result<Value, SyncError>], _ body: (inout CBORWriter, Value) -> Void
    ) {
        array(results.count)
        for result in results {
            switch result {
            case .success(let value):
                array(1)
                body(&self, value)
            case .failure(let error):
                array(2)
                null()
                syncError(error)
            }
        }
    }

    fileprivate mutating func failures(_ errors: [SyncError?]) {
        array(errors.count)
        for error in errors { optional(error) { $0.syncError($1) } }
    }

    fileprivate mutating func savedRecord(_ saved: SavedRecord) {
        array(5)
        changeTag(saved.changeTag)
        integer(saved.creationDate.microsecondsSince1970)
        integer(saved.modificationDate.microsecondsSince1970)
        unsigned(UInt64(saved.device))
        bool(saved.mergedWithOther)
    }

    fileprivate mutating func recordZone(_ zone: RecordZone) {
        array(2)
        zoneID(zone.zoneID)
        optional(zone.creationDate) { $0.integer($1.microsecondsSince1970) }
    }
}

extension CBORReader {
    fileprivate mutating func results<Value>(
        _ body: (inout CBORReader) throws(CBORError) -> Value
    ) throws(CBORError) -> [Result<Value, SyncError>] {
        try items { reader throws(CBORError) in
            let count = try reader.array()
            try reader.need(1, of: count)
            if try !reader.nullIfPresent() {
                let value = try body(&reader)
                for _ in 1..<count { try reader.skip() }
                return .success(value)
            }
            try reader.need(2, of: count)
            let error = try reader.syncError()
            for _ in 2..<count { try reader.skip() }
            return .failure(error)
        }
    }

    fileprivate mutating func failures() throws(CBORError) -> [SyncError?] {
        try items { reader throws(CBORError) in
            try reader.optional { reader throws(CBORError) in try reader.syncError() }
        }
    }

    fileprivate mutating func savedRecord() throws(CBORError) -> SavedRecord {
        try fields(5) { reader throws(CBORError) in
            let failure = reader.error()
            guard let tag = try reader.changeTag() else { throw failure }
            let created = Timestamp(microsecondsSince1970: try reader.integer())
            let modified = Timestamp(microsecondsSince1970: try reader.integer())
            return SavedRecord(
                changeTag: tag, creationDate: created, modificationDate: modified,
                device: try reader.unsigned32(),
                mergedWithOther: try reader.bool())
        }
    }

    fileprivate mutating func recordZone() throws(CBORError) -> RecordZone {
        try fields(2) { reader throws(CBORError) in
            let id = try reader.zoneID()
            let created = try reader.optional { reader throws(CBORError) in try reader.integer() }
            return RecordZone(
                zoneID: id, creationDate: created.map { Timestamp(microsecondsSince1970: $0) })
        }
    }
}
