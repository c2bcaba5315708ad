import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport
import Testing

/// The parts found in a stored record equal those that decoding it makes.
@Suite(.long) struct RecordPlacesTests {
    /// The fields at the places, with values made of them.
    private func fields(_ places: RecordPlaces, of value: [UInt8]) -> [Field] {
        places.fields.map { field in
            let fieldValue: RecordValue =
                switch field.value {
                case .string(let place): .string(String(decoding: value[place], as: UTF8.self))
                case .int64(let number): .int64(number)
                case .double(let number): .double(number)
                case .bytes(let place): .bytes(Array(value[place]))
                case .date(let milliseconds): .date(milliseconds: milliseconds)
                case .other(let place): RecordValue(item: value.span.extracting(place))
                }
            return Field(key: String(decoding: value[field.key], as: UTF8.self), value: fieldValue)
        }
    }

    /// Compares both readings of a value, which may be none.
    private func compare(_ value: [UInt8], _ places: inout RecordPlaces, _ what: String) {
        let stored = try? StoredRecord(value: value)
        let isRead = (try? places.read(value.span)) != nil
        #expect(isRead == (stored != nil), "\(what)")
        guard isRead, let stored else { return }
        #expect(String(decoding: value[places.type], as: UTF8.self).utf8.elementsEqual(stored.type.utf8))
        #expect(fields(places, of: value) == stored.fields.fields, "\(what)")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a record, whole or damaged, is read as decoding reads it`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var places = RecordPlaces()
        for _ in 0..<5 {
            var table = FieldTable()
            for number in 0..<Int.random(in: 0...12, using: &generator) {
                table["f\(number % 9)"] =
                    ValueCodecTests.all[Int.random(in: 0..<ValueCodecTests.all.count, using: &generator)].0
            }
            let trailing: [UInt8] = Bool.random(using: &generator) ? [] : [0x01, 0x81, 0x02]
            let whole = StoredRecord(type: "Note", fields: table, created: -5, trailing: trailing).encoded()
            compare(whole, &places, "seed \(seed)")
            for _ in 0..<40 {
                var damaged = whole
                let place = Int.random(in: 0..<whole.count, using: &generator)
                damaged[place] = UInt8.random(in: 0...255, using: &generator)
                compare(damaged, &places, "seed \(seed), byte \(place)")
            }
            compare(Array(whole.dropLast(Int.random(in: 0..<whole.count, using: &generator))), &places, "cut")
        }
    }

    @Test func `names out of order are put in order, and the last value of a name counts`() throws {
        var writer = CBORWriter()
        writer.array(3)
        writer.text("Note")
        writer.map(5)
        for (key, value) in [("b", 1), ("d", 2), ("a", 3), ("b", 4), ("c", 5)] as [(String, Int64)] {
            writer.text(key)
            writer.integer(value)
        }
        writer.integer(0)
        var places = RecordPlaces()
        compare(writer.bytes, &places, "names out of order")
        #expect(
            fields(places, of: writer.bytes)
                == [("a", 3), ("b", 4), ("c", 5), ("d", 2)].map { Field(key: $0.0, value: .int64($0.1)) })
    }

    @Test func `names are ordered by their bytes`() {
        let names = [
            "", "a", "ab", "b", "aaaaaaaa", "aaaaaaaab", "aaaaaaaaa", "\u{E9}", "e\u{301}", "z", "zzzzzzzzy",
        ]
        for first in names {
            for second in names {
                #expect(first.utf8.span.bytesPrecede(second.utf8.span) == first.bytesPrecede(second))
                #expect(first.utf8.span.hasSameBytes(as: second.utf8.span) == first.hasSameBytes(as: second))
            }
        }
    }
}
