import SynclogJournal
import TestLanes
import TestSupport
import Testing

@Suite(.long) struct ChurnTests {
    /// A process that puts one record and goes, again and again: the directory stays near the size of what is live.
    @Test func `processes that come and go leave a small directory`() throws {
        let directory = TemporaryDirectory()
        var options = JournalOptions()
        options.segmentSize = everyByte ? nil : 64 * 1024
        let path = directory("j")
        let processes = everyByte ? 100_000 : 3000
        let names = 1000
        let made = try Journal.create(at: path, options: options)
        made.close()
        var generator = SeededGenerator(seed: 91)
        var segmentsMax = 0
        for process in 0..<processes {
            let journal = try Journal.open(at: path, options: options)
            let name = "name-\(Int.random(in: 0..<names, using: &generator))"
            try journal.apply([put(name, "value \(process) " + String(repeating: "x", count: 120))])
            if process % 500 == 0 { segmentsMax = max(segmentsMax, try journal.verify().segments.count) }
            journal.close()
        }
        let journal = try Journal.open(at: path, options: options)
        let report = try journal.verify()
        #expect(report.isSound)
        let size = report.segments.reduce(0) { $0 + $1.size }
        let live = UInt64(names * 300)
        print(
            "\(processes) processes: \(size) bytes, \(report.segments.count) segments, at most \(segmentsMax)"
        )
        #expect(size < 3 * live + 60 * UInt64(processes) + 4 * UInt64(options.segmentSize ?? 1 << 20))
        #expect(segmentsMax < 16)
        #expect(try PosixFileSystem.shared.list(path + "/tmp").isEmpty)
    }
}
