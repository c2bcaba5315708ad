internal import TestSupport

/// The records of a run: names in random order, values like small JSON objects.
struct Workload {
    struct Record {
        var name: [UInt8]
        var value: [UInt8]
    }

    let seed: UInt64
    let records: [Record]
    /// FNV-1a over all names and values, so that two runs can be seen to have done the same work.
    let hash: UInt64

    init(seed: UInt64, count: Int) {
        var generator = SeededGenerator(seed: seed)
        var records: [Record] = []
        records.reserveCapacity(count)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for _ in 0..<count {
            let record = Self.record(using: &generator)
            for byte in record.name + record.value { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            records.append(record)
        }
        self.seed = seed
        self.records = records
        self.hash = hash
    }

    static func record(using generator: inout SeededGenerator, size: Int = 150) -> Record {
        let name = Array("r" + String(generator.next(), radix: 36))
        var value = "{\"title\":\"item \(generator.next() % 10_000)\",\"count\":\(generator.next() % 1000),"
        value += "\"done\":\(generator.next() % 2 == 0),\"note\":\""
        while value.utf8.count < size - 2 { value += Self.words[Int(generator.next() % 16)] + " " }
        return Record(name: name, value: Array((value + "\"}").utf8))
    }

    private static let words = [
        "milk", "bread", "apples", "tomorrow", "the", "of", "evening", "call", "with", "paper", "station",
        "write", "seven", "letter", "window", "and",
    ]
}

extension [UInt8] {
    /// The UTF-8 bytes of a text.
    init(_ text: String) { self = [UInt8](text.utf8) }
}
