/// A record: typed fields under a name in a zone.
///
/// It is a value. What was changed since it was read is known by key, so a save sends no more than that.
public struct Record: Hashable, Sendable, Identifiable {
    /// The record's identity.
    public let recordID: ID
    /// The record's type: an ASCII letter, then letters, digits and `_`, at most 255.
    public var recordType: String
    /// The version this record was read in; nil for one that was never saved.
    public package(set) var recordChangeTag: ChangeTag?
    /// When the record was made, by the authority's clock.
    public package(set) var creationDate: Timestamp?
    /// When this version was saved, by the authority's clock.
    public package(set) var modificationDate: Timestamp?
    /// The number of the device that saved this version; 0 is a program on the database's own directory.
    public package(set) var modifiedByDevice: UInt32?
    /// The fields, as the authority would have them after a save.
    package var fields: FieldTable
    /// The keys changed since the record was read, each with the value it had.
    var originals: [FieldChange] = []
    /// The keys that were asked for when the record was read, rising; nil means all.
    package var fetched: [String]?
    /// What a newer version stored behind the parts this one knows: whole CBOR items.
    package var trailing: [UInt8] = []

    /// The record's identity.
    public var id: ID { recordID }

    /// Makes a record to be saved as new.
    public init(recordType: String, recordID: ID) {
        self.recordType = recordType
        self.recordID = recordID
        fields = FieldTable()
    }

    /// The value of a field; setting nil clears it.
    ///
    /// Either way the key counts as changed.
    public subscript(key: String) -> RecordValue? {
        get { fields[key] }
        set {
            let place = originals.place(of: key)
            if !place.found {
                originals.insert(FieldChange(key: key, value: fields[key]), at: place.offset)
            }
            fields[key] = newValue.map { value in value.seen(from: recordID.zoneID) }
        }
    }

    /// The keys with a value, in rising order of their bytes.
    public func allKeys() -> [String] { fields.fields.map(\.key) }

    /// The keys set or cleared since the record was read, in rising order of their bytes.
    public func changedKeys() -> [String] { originals.map(\.key) }

    /// The keys that were asked for when the record was read; nil means that it is whole.
    public var fetchedKeys: [String]? { fetched }

    /// The record as it was before any change to its fields.
    public var ancestor: Record {
        var ancestor = self
        for original in originals { ancestor.fields[original.key] = original.value }
        ancestor.originals = []
        return ancestor
    }

    /// What a save with a policy sends.
    package func changes(for policy: SavePolicy) -> [FieldChange] {
        var changes = originals.map { original in FieldChange(key: original.key, value: fields[original.key])
        }
        guard policy == .allKeys else { return changes }
        for field in fields.fields {
            let place = changes.place(of: field.key)
            if !place.found {
                changes.insert(FieldChange(key: field.key, value: field.value), at: place.offset)
            }
        }
        return changes
    }

    /// Takes over what the authority answered to a save of this record.
    package mutating func completeSave(_ saved: SavedRecord) {
        recordChangeTag = saved.changeTag
        creationDate = saved.creationDate
        modificationDate = saved.modificationDate
        modifiedByDevice = saved.device
        if saved.mergedWithOther, fetched == nil {
            var known = originals
            for field in fields.fields where !known.place(of: field.key).found {
                known.insert(FieldChange(key: field.key, value: nil), at: known.place(of: field.key).offset)
            }
            fetched = known.map(\.key)
        }
        originals = []
    }

    /// Compares everything, text by its bytes.
    public static func == (a: Record, b: Record) -> Bool {
        a.recordID == b.recordID && a.recordType.hasSameBytes(as: b.recordType)
            && a.recordChangeTag == b.recordChangeTag && a.creationDate == b.creationDate
            && a.modificationDate == b.modificationDate && a.modifiedByDevice == b.modifiedByDevice
            && a.fields == b.fields && a.originals == b.originals && a.trailing == b.trailing
            && (a.fetched == nil) == (b.fetched == nil) && haveSameBytes(a.fetched ?? [], b.fetched ?? [])
    }

    /// Hashes the identity and the version.
    public func hash(into hasher: inout Hasher) {
        recordID.hash(into: &hasher)
        hasher.combine(recordChangeTag)
        fields.hash(into: &hasher)
    }
}

extension RecordValue {
    /// The value with references to a zone by name turned into references to the own zone.
    func seen(from zoneID: RecordZone.ID) -> RecordValue {
        func seen(_ reference: Reference) -> Reference {
            guard let name = reference.zoneName, name.hasSameBytes(as: zoneID.zoneName) else {
                return reference
            }
            return Reference(recordName: reference.recordName, action: reference.action)
        }
        switch self {
        case .reference(let reference): return .reference(seen(reference))
        case .list(.references(let references)): return .list(.references(references.map(seen)))
        default: return self
        }
    }
}
