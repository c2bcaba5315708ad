internal import SynclogRecords
internal import TestSupport

/// The records of a run: names in random order, values as the authority stores them.
///
/// A value is a record of type Note with a title, a count, a flag, a date and a text that fills it up to about 150 bytes. The
/// words come from a vocabulary of 1000 with frequent and rare ones, so that LZ4 finds about as much in 16 KiB of them as
/// in the notes of people; the program prints what it found as the raw value of the case disk.
struct Workload {
    struct Record: Sendable {
        var name: [UInt8]
        var value: [UInt8]
    }

    let seed: UInt64
    let records: [Record]
    /// FNV-1a over all names and values, so that two runs can be seen to have done the same work.
    let hash: UInt64

    init(seed: UInt64, count: Int, size: Int = 150) {
        var generator = SeededGenerator(seed: seed)
        var records: [Record] = []
        records.reserveCapacity(count)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for _ in 0..<count {
            let record = Self.record(using: &generator, size: size)
            for byte in record.name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            for byte in record.value { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            records.append(record)
        }
        self.seed = seed
        self.records = records
        self.hash = hash
    }

    /// What a walk over all records must find.
    var walk: Walk {
        var walk = Walk()
        for record in records { walk.add(record.name.span, record.value.span) }
        return walk
    }

    private static func record(using generator: inout SeededGenerator, size: Int) -> Record {
        let name = self.name(using: &generator)
        var table = FieldTable()
        for field in fields(using: &generator, size: size) { _ = table.append(field) }
        let created = 1_700_000_000_000_000 + Int64(generator.next() % 10_000_000_000_000)
        let value = StoredRecord(type: "Note", fields: table, created: created).encoded()
        return Record(name: Array(name.utf8), value: value)
    }

    /// A record's name: 64 random bits in base 36.
    static func name(using generator: inout SeededGenerator) -> String {
        "r" + String(generator.next(), radix: 36)
    }

    /// The fields of a record whose encoding is about `size` bytes.
    static func fields(using generator: inout SeededGenerator, size: Int) -> [Field] {
        let title = text(using: &generator, size: 16)
        // What the other fields, their names and the type take.
        let note = text(using: &generator, size: max(8, size - title.utf8.count - 66))
        return [
            Field(key: "changed", value: .date(milliseconds: date(using: &generator))),
            Field(key: "count", value: .int64(Int64(generator.next() % 1000))),
            Field(key: "done", value: .int64(Int64(generator.next() % 2))),
            Field(key: "note", value: .string(note)),
            Field(key: "title", value: .string(title)),
        ]
    }

    private static func date(using generator: inout SeededGenerator) -> Int64 {
        1_700_000_000_000 + Int64(generator.next() % 10_000_000_000)
    }

    /// Words with blanks between them, at least `size` bytes less one word.
    private static func text(using generator: inout SeededGenerator, size: Int) -> String {
        var text = ""
        while true {
            let bits = generator.next()
            // The square makes the first words frequent.
            let share = Double(bits >> 11) / 9_007_199_254_740_992
            let word = words[Int(share * share * Double(words.count))]
            if text.utf8.count + word.utf8.count + 1 > size { return text.isEmpty ? word : text }
            text += text.isEmpty ? word : " " + word
        }
    }

    /// Words of two to four syllables, always the same.
    private static let words: [String] = {
        var generator = SeededGenerator(seed: 0x776F_7264)
        let onsets = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "sh"]
        let rests = ["a", "e", "i", "o", "u", "an", "er", "in", "ou", "el", "ar", "is"]
        return (0..<1000).map { _ in
            (0..<2 + generator.next() % 3).map { _ in
                onsets[Int(generator.next() % UInt64(onsets.count))]
                    + rests[Int(generator.next() % UInt64(rests.count))]
            }.joined()
        }
    }()
}

/// What a walk over records found: how many, how many bytes, and a sum of bytes from both ends of each, so that the
/// content must be looked at.
struct Walk: Hashable, Sendable {
    var count = 0
    var bytes = 0
    var sum = 0

    @inline(__always)
    mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        count += 1
        bytes += name.count + value.count
        sum &+= Int(name[name.count - 1]) &+ Int(value[0]) &+ Int(value[value.count - 1])
    }

    /// Adds what begins with the name's size and the name.
    @inline(__always)
    mutating func add(named content: UnsafeRawBufferPointer) {
        let end = 1 + Int(content[0])
        add(
            UnsafeRawBufferPointer(rebasing: content[1..<end]),
            UnsafeRawBufferPointer(rebasing: content[end...]))
    }

    @inline(__always)
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        count += 1
        bytes += name.count + value.count
        sum &+= Int(name[name.count - 1]) &+ Int(value[0]) &+ Int(value[value.count - 1])
    }
}
