package import SynclogJournal

// A record outside a journal: as an archive of its system fields, and whole, as messages carry it.

extension CBORWriter {
    /// Writes a zone's identity.
    package mutating func zoneID(_ id: RecordZone.ID) {
        array(2)
        text(id.ownerName)
        text(id.zoneName)
    }

    /// Writes a record's identity.
    package mutating func recordID(_ id: Record.ID) {
        array(2)
        zoneID(id.zoneID)
        text(id.recordName)
    }

    /// Writes a tag, or null.
    package mutating func changeTag(_ tag: ChangeTag?) { optionalText(tag?.text) }

    /// Writes a whole record as it was read; changes that were not saved are not marked.
    package mutating func record(_ record: Record) {
        array(4)
        systemFields(of: record)
        fields(record.fields)
        if let fetched = record.fetched {
            array(fetched.count)
            for key in fetched { text(key) }
        } else {
            null()
        }
        byteString(record.trailing)
    }

    fileprivate mutating func systemFields(of record: Record) {
        array(7)
        unsigned(1)
        recordID(record.recordID)
        text(record.recordType)
        changeTag(record.recordChangeTag)
        optionalInteger(record.creationDate?.microsecondsSince1970)
        optionalInteger(record.modificationDate?.microsecondsSince1970)
        optionalInteger(record.modifiedByDevice.map(Int64.init))
    }

    private mutating func optionalInteger(_ value: Int64?) {
        if let value { integer(value) } else { null() }
    }
}

extension CBORReader {
    /// Reads a zone's identity.
    package mutating func zoneID() throws(CBORError) -> RecordZone.ID {
        let count = try array()
        let owner = try text()
        let name = try text()
        try skip(items: count - 2)
        return RecordZone.ID(zoneName: name, ownerName: owner)
    }

    /// Reads a record's identity.
    package mutating func recordID() throws(CBORError) -> Record.ID {
        let count = try array()
        let zone = try zoneID()
        let name = try text()
        try skip(items: count - 2)
        return Record.ID(recordName: name, zoneID: zone)
    }

    /// Reads a tag, or null.
    package mutating func changeTag() throws(CBORError) -> ChangeTag? {
        let start = offset
        guard let text = try optionalText() else { return nil }
        guard let tag = ChangeTag(text) else { throw CBORError(offset: start) }
        return tag
    }

    /// Reads a whole record.
    package mutating func record() throws(CBORError) -> Record {
        let count = try array()
        var record = try systemFields()
        record.fields = try fields()
        record.fetched = nil
        if !(try nullIfPresent()) {
            var fetched: [String] = []
            for _ in 0..<(try array()) { fetched.append(try text()) }
            record.fetched = fetched
        }
        record.trailing = try byteString()
        try skip(items: count - 4)
        return record
    }

    fileprivate mutating func systemFields() throws(CBORError) -> Record {
        let count = try array()
        guard try unsigned() >= 1 else { throw error() }
        let id = try recordID()
        var record = Record(recordType: try text(), recordID: id)
        record.recordChangeTag = try changeTag()
        record.creationDate = try optionalInteger().map(Timestamp.init(microsecondsSince1970:))
        record.modificationDate = try optionalInteger().map(Timestamp.init(microsecondsSince1970:))
        record.modifiedByDevice = try optionalInteger().map { UInt32(truncatingIfNeeded: $0) }
        record.fetched = []
        try skip(items: count - 7)
        return record
    }

    private mutating func optionalInteger() throws(CBORError) -> Int64? {
        try nullIfPresent() ? nil : try integer()
    }

    /// Skips elements that a newer version added.
    package mutating func skip(items count: Int) throws(CBORError) {
        for _ in 0..<max(0, count) { try skip() }
    }
}

extension Record {
    /// Identity, type, version and stamps without the fields, as bytes that a program can keep.
    public var systemFields: [UInt8] {
        var writer = CBORWriter(capacity: 128)
        writer.systemFields(of: self)
        return writer.bytes
    }

    /// Makes a record from kept system fields.
    ///
    /// Its fields count as not fetched: a save sends what is set on it and keeps the rest.
    public init(systemFields: [UInt8]) throws(SyncError) {
        do throws(CBORError) {
            var reader = CBORReader(systemFields)
            self = try reader.systemFields()
            guard reader.isAtEnd else { throw reader.error() }
        } catch {
            throw SyncError(
                .invalidArguments, "the archive of system fields is not one",
                nextStep: "fetch the record from the database")
        }
    }

    /// Makes the record that a put holds.
    package init(_ stored: StoredEntry, recordID: ID, desiredKeys: [String]? = nil) throws(CBORError) {
        let content = try StoredRecord(value: stored.entry.value)
        self.init(recordType: content.type, recordID: recordID)
        if let desiredKeys {
            fields = content.fields.selecting(desiredKeys)
            fetched = desiredKeys.sorted { $0.bytesPrecede($1) }
        } else {
            fields = content.fields
        }
        recordChangeTag = ChangeTag(stored)
        creationDate = Timestamp(microsecondsSince1970: content.created)
        modificationDate = Timestamp(microsecondsSince1970: stored.commit.clock)
        modifiedByDevice = stored.commit.device
        trailing = content.trailing
    }
}

extension ChangeTag {
    /// The tag of a stored version.
    package init(_ stored: StoredEntry) {
        self.init(
            commit: stored.commit.number, index: stored.entry.index, checksum: crc32c(stored.entry.value))
    }
}

extension Record.ID {
    /// The key of the record in a zone of a number.
    package func key(inZone number: UInt64) -> EntryKey {
        EntryKey(space: .record, zone: number, name: Array(recordName.utf8))
    }
}
