import SynclogJournal
import SynclogRecords
import TestSupport
import Testing

/// Field values as CBOR, and back.
@Suite struct ValueCodecTests {
    static let all: [(RecordValue, String)] = [
        (.string(""), "60"),
        (.string("a\u{0}b"), "63610062"),
        (.string("\u{E9}"), "62c3a9"),
        (.string("e\u{301}"), "6365cc81"),
        (.string("🌍"), "64f09f8c8d"),
        (.int64(0), "00"),
        (.int64(-1), "20"),
        (.int64(.max), "1b7fffffffffffffff"),
        (.int64(.min), "3b7fffffffffffffff"),
        (.double(1), "fb3ff0000000000000"),
        (.double(-0.0), "fb8000000000000000"),
        (.double(.infinity), "fb7ff0000000000000"),
        (.double(-.infinity), "fbfff0000000000000"),
        (.double(.nan), "fb7ff8000000000000"),
        (.double(-.signalingNaN), "fb7ff8000000000000"),
        (.double(.leastNonzeroMagnitude), "fb0000000000000001"),
        (.bytes([]), "40"),
        (.bytes([0, 255]), "4200ff"),
        (.date(milliseconds: 0), "820100"),
        (.date(milliseconds: -1), "820120"),
        (.date(milliseconds: .min), "82013b7fffffffffffffff"),
        (
            .location(Location(latitude: 1, longitude: -1, verticalAccuracy: 0, timestampMilliseconds: 7)),
            "8202a4686c61746974756465fb3ff0000000000000696c6f6e676974756465fbbff0000000000000"
                + "6974696d657374616d700770766572746963616c4163637572616379fb0000000000000000"
        ),
        (.reference(Reference(recordName: "r")), "84036172f600"),
        (.reference(Reference(recordName: "r", zoneName: "z")), "84036172617a00"),
        (.list(.strings([])), "820405"),
        (.list(.strings(["a", ""])), "840405616160"),
        (.list(.int64s([1, -1])), "8404060120"),
        (.list(.doubles([.nan])), "830407fb7ff8000000000000"),
        (.list(.bytes([[1], []])), "840408410140"),
        (.list(.dates(milliseconds: [5])), "830401820105"),
        (.list(.locations([])), "820402"),
        (.list(.references([Reference(recordName: "r")])), "83040384036172f600"),
    ]

    @Test(arguments: all) func `a value is written as the article says, and read back`(
        value: RecordValue, hex: String
    ) throws {
        #expect(hexadecimal(value.cbor) == hex)
        #expect(RecordValue(cbor: try #require(unhexed(hex))) == value)
    }

    @Test(arguments: [
        ("null", "f6"), ("true", "f5"), ("a half", "f93c00"), ("a single", "fa3f800000"), ("a tag", "c100"),
        ("a map", "a0"), ("an empty array", "80"), ("a kind of later", "82186301"),
        ("an asset", "8310410102"),
        ("an encrypted value", "821141ff"), ("a longer date", "83010500"),
        ("a longer reference", "85036172f60000"),
        ("a list of later", "83040901"), ("a list of two kinds", "840405610101"),
        ("a place without longitude", "8202a1686c61746974756465fb3ff0000000000000"),
        ("a number beyond 64 bits", "1bffffffffffffffff"), ("text that is not UTF-8", "61ff"),
        ("a place with an int", "8202a2686c6174697475646501696c6f6e67697475646502"),
    ]) func `what is not known is kept as it is`(what: String, hex: String) throws {
        let bytes = try #require(unhexed(hex))
        let value = try #require(RecordValue(cbor: bytes), "\(what)")
        #expect(value == .unknown(UnknownValue(cbor: bytes)))
        #expect(value.cbor == bytes)
    }

    @Test func `a reader never traps on noise`() {
        var generator = SeededGenerator(seed: 4711)
        for _ in 0..<20_000 {
            let noise = generator.bytes(Int.random(in: 0...40, using: &generator))
            guard let value = RecordValue(cbor: noise) else { continue }
            if case .unknown = value {
                #expect(value.cbor == noise)
            } else {
                #expect(RecordValue(cbor: value.cbor) == value)
            }
        }
    }

    @Test func `values are equal when they are stored equally`() {
        let values = Self.all.map(\.0)
        for (place, first) in values.enumerated() {
            for (other, second) in values.enumerated() {
                let stored = first.cbor == second.cbor
                #expect((first == second) == stored, "\(place) and \(other)")
                if stored { #expect(first.hashValue == second.hashValue) }
            }
        }
    }
}

/// What the put of a record and its kin hold.
@Suite struct StoredValuesTests {
    @Test func `a record keeps what a newer version put behind its parts`() throws {
        let bytes = try #require(unhexed("856154a261610161628218630a05f58101"))
        let record = try StoredRecord(value: bytes)
        #expect(record.type == "T")
        #expect(record.fields["a"] == .int64(1))
        #expect(record.fields["b"] == .unknown(UnknownValue(cbor: [0x82, 0x18, 0x63, 0x0A])))
        #expect(record.created == 5)
        #expect(record.encoded() == bytes)
    }

    @Test func `tombstones, zones and facts are read back`() throws {
        for tag in [nil, ChangeTag(commit: 0xABC, index: 1, checksum: 2)] {
            let tombstone = StoredTombstone(type: "T", baseTag: tag)
            #expect(try StoredTombstone(value: tombstone.encoded()) == tombstone)
        }
        let zone = StoredZone(number: 7, created: -8, deletedBefore: 9, reasonBefore: 2)
        #expect(try StoredZone(value: zone.encoded()) == zone)
        #expect(try StoredZoneDeletion(value: StoredZoneDeletion(reason: 1).encoded()).reason == 1)
        let facts = StoredDatabase(container: "c", scope: "private", owner: "o", created: 3)
        #expect(try StoredDatabase(value: facts.encoded()) == facts)
        let names = try StoredZone.names(in: StoredZone.key(owner: "o", name: "z"))
        #expect(names.owner == "o" && names.name == "z")
    }

    @Test(arguments: [
        ("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 100_000, "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"),
    ]) func `digests are SHA-256`(text: String, count: Int, digest: String) {
        #expect(hexadecimal(SHA256.digest(of: Array(String(repeating: text, count: count).utf8))) == digest)
    }
}
