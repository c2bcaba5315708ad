#if DEBUG || FUZZING
    import SynclogJournal

    @testable import SynclogRecords

    /// CBOR items, values, records and what a database stores: understood bytes are the same when written and read again.
    func fuzzRecord(_ bytes: [UInt8]) {
        checkItems(bytes)
        checkRoundTrip("a value", bytes, { try $0.recordValue() }, { $0.recordValue($1) })
        checkRoundTrip("a record", bytes, { try $0.record() }, { $0.record($1) })
        checkRoundTrip("a record's identity", bytes, { try $0.recordID() }, { $0.recordID($1) })
        checkRoundTrip("fields", bytes, { try $0.fields() }, { $0.fields($1) })
        checkStored("a record", bytes, { try StoredRecord(value: $0) }, { $0.encoded() })
        checkStored("a tombstone", bytes, { try StoredTombstone(value: $0) }, { $0.encoded() })
        checkStored("a zone", bytes, { try StoredZone(value: $0) }, { $0.encoded() })
        checkStored("a zone's deletion", bytes, { try StoredZoneDeletion(value: $0) }, { $0.encoded() })
        checkStored("a database", bytes, { try StoredDatabase(value: $0) }, { $0.encoded() })
        checkStored("system fields", bytes, { try Record(systemFields: $0) }, { $0.systemFields })
        checkPlaces(bytes)
        if let lease = Lease(value: bytes) {
            require(Lease(value: lease.value) == lease, "a lease changes")
        }
    }

    /// Skipping finds the same items as the two readers, and never goes beyond the end.
    private func checkItems(_ bytes: [UInt8]) {
        var reader = CBORReader(bytes)
        var scanner = CBORScanner(bytes.span)
        while !reader.isAtEnd {
            let start = reader.offset
            let item = try? reader.rawItem()
            let place = try? scanner.skip()
            require(item?.count == place?.count, "reader and scanner differ about an item")
            guard let item else { break }
            require(item == Array(bytes[start..<reader.offset]), "an item is not what lies there")
            require(reader.offset == scanner.offset && reader.offset <= bytes.count, "beyond the end")
        }
    }

    private func checkRoundTrip<Value: Equatable>(
        _ what: String, _ bytes: [UInt8], _ read: (inout CBORReader) throws -> Value,
        _ write: (inout CBORWriter, Value) -> Void
    ) {
        var reader = CBORReader(bytes)
        guard let value = try? read(&reader) else { return }
        require(reader.offset <= bytes.count, "\(what) goes beyond the end")
        var writer = CBORWriter()
        write(&writer, value)
        var again = CBORReader(writer.bytes)
        let second = try? read(&again)
        require(second == value, "\(what) changes when it is written and read")
        require(again.isAtEnd, "\(what) is not read to its end")
        var twice = CBORWriter()
        if let second { write(&twice, second) }
        require(twice.bytes == writer.bytes, "\(what) is written in two ways")
    }

    private func checkStored<Value: Equatable>(
        _ what: String, _ bytes: [UInt8], _ read: ([UInt8]) throws -> Value, _ write: (Value) -> [UInt8]
    ) {
        guard let value = try? read(bytes) else { return }
        let written = write(value)
        let again = try? read(written)
        require(again == value, "\(what) changes when it is stored and read")
        require(again.map(write) == written, "\(what) is stored in two ways")
    }

    /// The reader that makes no values finds what the other one finds.
    private func checkPlaces(_ bytes: [UInt8]) {
        var places = RecordPlaces()
        let stored = try? StoredRecord(value: bytes)
        let found = (try? places.read(bytes.span)) != nil
        require(found == (stored != nil), "one reader takes a record that the other refuses")
        guard let stored else { return }
        require(Array(bytes[places.type]) == Array(stored.type.utf8), "two types of one record")
        require(places.fields.count == stored.fields.fields.count, "two numbers of fields of one record")
        for (place, field) in zip(places.fields, stored.fields.fields) {
            require(Array(bytes[place.key]) == Array(field.key.utf8), "two names of one field")
            let value: RecordValue =
                switch place.value {
                case .string(let text): .string(String(decoding: bytes[text], as: UTF8.self))
                case .int64(let number): .int64(number)
                case .double(let number): .double(number)
                case .bytes(let content): .bytes(Array(bytes[content]))
                case .date(let milliseconds): .date(milliseconds: milliseconds)
                case .other(let item): RecordValue(item: bytes.span.extracting(item))
                }
            require(value == field.value, "two values of one field")
        }
    }

    /// One value of each kind and more.
    let someValues: [RecordValue] = [
        .string("e\u{301}=\u{1F600}"), .int64(.min), .int64(1 << 53 + 1), .double(-0.0), .double(.nan),
        .double(0.1),
        .bytes([0, 255, 16]), .date(milliseconds: -1), .date(milliseconds: .max),
        .date(milliseconds: 1_700_000_000_000),
        .location(
            Location(
                latitude: 52.5, longitude: -13.4, altitude: 3, horizontalAccuracy: 1, timestampMilliseconds: 5
            )),
        .reference(Reference(recordName: "r", zoneName: "z")), .reference(Reference(recordName: "r")),
        .list(.strings(["a", ""])), .list(.int64s([1, .max])), .list(.doubles([1, .infinity])),
        .list(.bytes([[1], []])),
        .list(.dates(milliseconds: [1, -1])), .list(.locations([Location(latitude: 1, longitude: 2)])),
        .list(
            .references([
                Reference(recordName: "a", zoneName: "y"), Reference(recordName: "b", zoneName: "y"),
            ])),
        .list(.int64s([])), .unknown(UnknownValue(cbor: [0x82, 0x18, 0x63, 0x61, 0x78])),
    ]

    func recordSeeds() -> [[UInt8]] {
        var seeds = someValues.map(\.cbor)
        var record = Record(
            recordType: "Note", recordID: Record.ID(recordName: "n", zoneID: RecordZone.ID(zoneName: "notes"))
        )
        for (place, value) in someValues.enumerated() { record["f\(place)"] = value }
        var writer = CBORWriter()
        writer.record(record)
        seeds.append(writer.bytes)
        seeds.append(record.systemFields)
        seeds.append(StoredRecord(type: "Note", fields: record.fields, created: 7).encoded())
        let tag = ChangeTag(commit: 9, index: 1, checksum: 0xABCD)
        seeds.append(StoredTombstone(type: "Note", baseTag: tag).encoded())
        seeds.append(StoredTombstone(type: "Note", baseTag: nil).encoded())
        seeds.append(StoredZone(number: 4, created: 5, deletedBefore: 2, reasonBefore: 1).encoded())
        seeds.append(StoredZoneDeletion(reason: 1).encoded())
        seeds.append(StoredDatabase(container: "c", scope: "private", owner: "me", created: 1).encoded())
        for value in [[UInt8](0...40), []] as [[UInt8]] {
            seeds.append(RecordValue.bytes(value).cbor)
            seeds.append(RecordValue.list(.bytes(Array(repeating: value, count: 30))).cbor)
        }
        let long = "a name that is longer than one vector register, and not only ASCII: \u{E9}\u{1F600}"
        for name in [long, "", "\u{7FF}\u{800}\u{FFFF}\u{10000}"] {
            seeds.append(RecordValue.string(name).cbor)
            seeds.append(RecordValue.list(.strings(Array(repeating: name, count: 20))).cbor)
            seeds.append(RecordValue.reference(Reference(recordName: name, zoneName: name)).cbor)
            var record = Record(
                recordType: "T",
                recordID: Record.ID(recordName: name, zoneID: RecordZone.ID(zoneName: name, ownerName: name)))
            record[name] = .string(name)
            record["a"] = .string("a")
            record.completeSave(
                SavedRecord(
                    changeTag: tag, creationDate: Timestamp(microsecondsSince1970: 5),
                    modificationDate: Timestamp(microsecondsSince1970: .max), device: 9, mergedWithOther: true
                ))
            record["a"] = nil
            var writer = CBORWriter()
            writer.record(record)
            seeds.append(writer.bytes)
            seeds.append(record.systemFields)
        }
        seeds.append(Lease(kind: .replica, commit: .max, until: .min).value)
        seeds.append(Lease(kind: .device, commit: 7, until: 8, expired: true).value)
        // Every head of an item, with arguments of every width, whole and cut off.
        for head in UInt8.min ... .max {
            seeds += [[head], [head, 0x01, 0x41], [head] + [UInt8](repeating: 0xFF, count: 9)]
            seeds.append([head] + [UInt8](repeating: 0, count: 7) + [0x02, 0x61, 0x61, 0x18, 0x20])
        }
        return seeds
    }
#endif
