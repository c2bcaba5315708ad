package import SynclogJournal

// What entries hold; the article records-format has the tables. Arrays may be longer than known: later versions
// add elements at the end.

/// What the put of a record holds.
package struct StoredRecord: Hashable, Sendable {
    package var type: String
    package var fields: FieldTable
    /// Microseconds since 1970.
    package var created: Int64
    /// What a newer version stored behind these: whole CBOR items.
    package var trailing: [UInt8] = []

    package init(type: String, fields: FieldTable, created: Int64, trailing: [UInt8] = []) {
        self.type = type
        self.fields = fields
        self.created = created
        self.trailing = trailing
    }

    package init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        let count = try reader.array()
        type = try reader.text()
        fields = try reader.fields()
        created = try reader.integer()
        trailing = try reader.rawItems(count - 3)
    }

    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 128)
        writer.array(3 + countItems(trailing))
        writer.text(type)
        writer.fields(fields)
        writer.integer(created)
        writer.raw(trailing)
        return writer.bytes
    }
}

/// What the delete of a record holds.
package struct StoredTombstone: Hashable, Sendable {
    package var type: String
    package var baseTag: ChangeTag?

    package init(type: String, baseTag: ChangeTag?) {
        self.type = type
        self.baseTag = baseTag
    }

    package init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        _ = try reader.array()
        type = try reader.text()
        if !(try reader.nullIfPresent()) {
            baseTag = ChangeTag(String(decoding: try reader.byteString(), as: UTF8.self))
        }
    }

    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 64)
        writer.array(2)
        writer.text(type)
        if let baseTag { writer.byteString(Array(baseTag.text.utf8)) } else { writer.null() }
        return writer.bytes
    }
}

/// What the put of a zone holds.
package struct StoredZone: Hashable, Sendable {
    /// The zone's number; 0 stands for the commit this is in.
    package var number: UInt64
    /// Microseconds since 1970.
    package var created: Int64
    /// The commit that deleted the zone of this name before; 0 if there was none.
    package var deletedBefore: UInt64
    /// Why that was, meaningless without one.
    package var reasonBefore: UInt64

    package init(number: UInt64 = 0, created: Int64, deletedBefore: UInt64 = 0, reasonBefore: UInt64 = 0) {
        self.number = number
        self.created = created
        self.deletedBefore = deletedBefore
        self.reasonBefore = reasonBefore
    }

    package init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        _ = try reader.array()
        number = try reader.unsigned()
        created = try reader.integer()
        deletedBefore = try reader.unsigned()
        reasonBefore = try reader.unsigned()
    }

    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 32)
        writer.array(4)
        writer.unsigned(number)
        writer.integer(created)
        writer.unsigned(deletedBefore)
        writer.unsigned(reasonBefore)
        return writer.bytes
    }

    /// The key of a zone.
    package static func key(owner: String, name: String) -> EntryKey {
        var writer = CBORWriter(capacity: 64)
        writer.array(2)
        writer.text(owner)
        writer.text(name)
        return EntryKey(space: .zone, name: writer.bytes)
    }

    /// The owner and the name in a zone's key.
    package static func names(in key: EntryKey) throws(CBORError) -> (owner: String, name: String) {
        var reader = CBORReader(key.name)
        _ = try reader.array()
        return (try reader.text(), try reader.text())
    }
}

/// What the delete of a zone holds.
package struct StoredZoneDeletion: Hashable, Sendable {
    package var reason: UInt64

    package init(reason: UInt64) { self.reason = reason }

    package init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        _ = try reader.array()
        reason = try reader.unsigned()
    }

    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 4)
        writer.array(1)
        writer.unsigned(reason)
        return writer.bytes
    }
}

/// What the put of the database's own facts holds.
package struct StoredDatabase: Hashable, Sendable {
    package static let key = EntryKey(space: .database, name: [])

    package var container: String
    package var scope: String
    package var owner: String
    /// Microseconds since 1970.
    package var created: Int64

    package init(container: String, scope: String, owner: String, created: Int64) {
        self.container = container
        self.scope = scope
        self.owner = owner
        self.created = created
    }

    package init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        _ = try reader.array()
        container = try reader.text()
        scope = try reader.text()
        owner = try reader.text()
        created = try reader.integer()
    }

    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 64)
        writer.array(4)
        writer.text(container)
        writer.text(scope)
        writer.text(owner)
        writer.integer(created)
        return writer.bytes
    }
}

/// The number of whole CBOR items in bytes.
private func countItems(_ bytes: [UInt8]) -> Int {
    var reader = CBORReader(bytes)
    var count = 0
    while !reader.isAtEnd, (try? reader.skip()) != nil { count += 1 }
    return count
}
