import SynclogJournal

// What can be said about a request without looking at the state.

/// One item of a request to modify records.
enum ModifyItem: Hashable, Sendable {
    case save(RecordSave)
    case delete(RecordDeletion)

    var recordID: Record.ID {
        switch self {
        case .save(let save): save.recordID
        case .delete(let deletion): deletion.recordID
        }
    }
}

extension DatabaseRequest.ModifyRecords {
    /// The saves, then the deletions.
    var items: [ModifyItem] { saves.map { .save($0) } + deletions.map { .delete($0) } }

    /// The digest by which a repeat is known.
    func digest() -> [UInt8] {
        var writer = CBORWriter(capacity: 4096)
        writer.array(4)
        writer.unsigned(UInt64(savePolicy.rawValue))
        writer.bool(atomically)
        writer.array(saves.count)
        for save in saves { writer.save(save) }
        writer.array(deletions.count)
        for deletion in deletions {
            writer.array(2)
            writer.recordID(deletion.recordID)
            writer.changeTag(deletion.changeTag)
        }
        return SHA256.digest(of: writer.bytes)
    }
}

extension CBORWriter {
    /// Writes what a save sends.
    package mutating func save(_ save: RecordSave) {
        array(4)
        recordID(save.recordID)
        text(save.recordType)
        changeTag(save.baseTag)
        changes(save.changes)
    }

    /// Writes changes as a map; null clears a field.
    package mutating func changes(_ changes: [FieldChange]) {
        map(changes.count)
        for change in changes {
            text(change.key)
            if let value = change.value { recordValue(value) } else { null() }
        }
    }
}

/// The digest of a request to modify zones.
func zonesDigest(saving: [RecordZone.ID], deleting: [RecordZone.ID], reason: ZoneDeletionReason) -> [UInt8] {
    var writer = CBORWriter(capacity: 256)
    writer.array(3)
    writer.array(saving.count)
    for id in saving { writer.zoneID(id) }
    writer.array(deleting.count)
    for id in deleting { writer.zoneID(id) }
    writer.unsigned(UInt64(reason.rawValue))
    return SHA256.digest(of: writer.bytes)
}

extension DatabaseLimits {
    func check(sizeOf request: DatabaseRequest.ModifyRecords) throws(SyncError) {
        let size =
            request.saves.reduce(0) { sum, save in sum + self.size(of: save) } + request.deletions.count * 64
        guard size <= requestSizeMax else {
            throw .limit(
                "the request", max: requestSizeMax, actual: size, unit: "bytes",
                nextStep: "split it into halves and send both")
        }
    }

    func check(itemCount: Int) throws(SyncError) {
        guard itemCount <= itemCountMax else {
            throw .limit(
                "the request", max: itemCountMax, actual: itemCount, unit: "items",
                nextStep: "split it into halves and send both")
        }
    }

    /// What is wrong with one item, or nil.
    func problem(with item: ModifyItem) -> SyncError? {
        let id = item.recordID
        if let error = nameProblem(id) { return error }
        guard case .save(let save) = item else { return nil }
        guard isIdentifier(save.recordType) else {
            return .invalid(
                "the record's type is not a letter followed by letters, digits and _ (1 to \(identifierSizeMax))",
                nextStep: "choose another type", recordID: id)
        }
        for change in save.changes {
            guard isIdentifier(change.key) else {
                return .invalid(
                    "a field's name is not a letter followed by letters, digits and _ (1 to \(identifierSizeMax))",
                    nextStep: "choose another name", recordID: id)
            }
            if let name = change.value?.reservedName {
                return SyncError(
                    .reserved,
                    "the field \(change.key) has a value of the kind \"\(name)\", which is reserved",
                    nextStep: "store it as another kind", recordID: id)
            }
        }
        for (first, second) in zip(save.changes, save.changes.dropFirst())
        where !first.key.bytesPrecede(second.key) {
            return .invalid(
                "the fields are not in rising order of their names, each once",
                nextStep: "sort them by the bytes of their names", recordID: id)
        }
        let size = self.size(of: save)
        return size <= recordSizeMax ? nil : tooLarge(id, size: size)
    }

    func tooLarge(_ id: Record.ID, size: Int) -> SyncError {
        .limit(
            "the record", max: recordSizeMax, actual: size, unit: "bytes",
            nextStep: "make the record smaller",
            recordID: id)
    }

    private func size(of save: RecordSave) -> Int {
        var writer = CBORWriter(capacity: 256)
        writer.save(save)
        return writer.bytes.count
    }

    private func nameProblem(_ id: Record.ID) -> SyncError? {
        let size = id.recordName.utf8.count
        guard size >= 1, size <= nameSizeMax else {
            return .invalid(
                "the record's name has \(size) bytes, 1 to \(nameSizeMax) are allowed",
                nextStep: "choose another name", recordID: id)
        }
        guard id.recordName.utf8.first != UInt8(ascii: "_") else {
            return SyncError(
                .reserved, "record names that begin with _ are reserved", nextStep: "choose another name",
                recordID: id)
        }
        return nil
    }

    /// What is wrong with the name of a zone to be made, or nil.
    func problem(with id: RecordZone.ID) -> SyncError? {
        let size = id.zoneName.utf8.count
        guard size >= 1, size <= nameSizeMax else {
            return .invalid(
                "the zone's name has \(size) bytes, 1 to \(nameSizeMax) are allowed",
                nextStep: "choose another name", zoneID: id)
        }
        guard
            id.zoneName.utf8.first != UInt8(ascii: "_")
                || id.zoneName.hasSameBytes(as: RecordZone.ID.defaultZoneName)
        else {
            return SyncError(
                .reserved, "zone names that begin with _ are reserved", nextStep: "choose another name",
                zoneID: id)
        }
        return nil
    }

    private func isIdentifier(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, bytes.count <= identifierSizeMax, isLetter(first) else { return false }
        return bytes.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_")
        }
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
