import SynclogJournal
import TestSupport
import Testing

/// CBOR and CRC32C against published examples, and bytes that are neither.
@Suite struct CodecTests {
    @Test func `CRC32C gives the published values`() {
        #expect(crc32c(Array("123456789".utf8)) == 0xE306_9283)
        #expect(crc32c([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(crc32c([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(crc32c(Array(0..<32)) == 0x46DD_794E)
        #expect(crc32c([]) == 0)
    }

    @Test func `CRC32C goes on from an earlier value at any split`() {
        var generator = SeededGenerator(seed: 1)
        let bytes = generator.bytes(133)
        for split in 0...bytes.count {
            #expect(crc32c(Array(bytes[split...]), seed: crc32c(Array(bytes[..<split]))) == crc32c(bytes))
        }
    }

    /// RFC 8949, appendix A.
    @Test(
        arguments: [
            (0, [0x00]), (1, [0x01]), (10, [0x0A]), (23, [0x17]), (24, [0x18, 0x18]), (100, [0x18, 0x64]),
            (1000, [0x19, 0x03, 0xE8]), (1_000_000, [0x1A, 0x00, 0x0F, 0x42, 0x40]),
            (1_000_000_000_000, [0x1B, 0, 0, 0, 0xE8, 0xD4, 0xA5, 0x10, 0]), (-1, [0x20]), (-10, [0x29]),
            (-100, [0x38, 0x63]),
            (-1000, [0x39, 0x03, 0xE7]), (Int64.max, [0x1B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (Int64.min, [0x3B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(Int64, [UInt8])])
    func `integers are written shortest and read back`(value: Int64, bytes: [UInt8]) throws {
        var writer = CBORWriter()
        writer.integer(value)
        #expect(writer.bytes == bytes)
        var reader = CBORReader(bytes)
        #expect(try reader.integer() == value)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [
        0.0, -0.0, 1.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
    ])
    func `doubles keep their bits`(value: Double) throws {
        var writer = CBORWriter()
        writer.double(value)
        #expect(writer.bytes.count == 9)
        var reader = CBORReader(writer.bytes)
        let read = try reader.double()
        #expect(read.bitPattern == value.bitPattern || read.isNaN && value.isNaN)
    }

    @Test func `text keeps its bytes and refuses what is not UTF-8`() throws {
        for text in ["", "é", "e\u{301}", "\u{0}", "👨‍👩‍👧"] {
            var writer = CBORWriter()
            writer.text(text)
            var reader = CBORReader(writer.bytes)
            #expect(Array(try reader.text().utf8) == Array(text.utf8))
        }
        for bytes in [[0x62, 0xC3, 0x28], [0x61, 0xFF], [0x63, 0xED, 0xA0, 0x80]] as [[UInt8]] {
            var reader = CBORReader(bytes)
            #expect(throws: CBORError(offset: 0)) { try reader.text() }
        }
    }

    @Test(
        arguments: [
            [], [0x18], [0x19, 0x01], [0x1C], [0x1F], [0x41], [0x5A, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x7B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xBB, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x01], [0x82, 0x01], [0xA1, 0x01], [0xC1], [0x9F, 0xFF],
            [0x5F, 0xFF],
        ] as [[UInt8]])
    func `cut, endless and huge items are refused`(bytes: [UInt8]) {
        var reader = CBORReader(bytes)
        #expect(throws: CBORError.self) { try reader.skip() }
    }

    @Test func `nesting without end is refused, not followed`() {
        var reader = CBORReader([UInt8](repeating: 0x81, count: 100_000))
        #expect(throws: CBORError.self) { try reader.skip() }
        var tags = CBORReader([UInt8](repeating: 0xC1, count: 100_000))
        #expect(throws: CBORError.self) { try tags.skip() }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `random bytes are read or refused, never more than there are`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = generator.bytes(Int.random(in: 0...200, using: &generator))
        var reader = CBORReader(bytes)
        while !reader.isAtEnd, let item = try? reader.rawItem() {
            #expect(!item.isEmpty)
            #expect(reader.offset <= bytes.count)
        }
    }
}
