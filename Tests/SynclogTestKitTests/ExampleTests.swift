import SynclogJournal
import SynclogTestKit
import Testing

/// The example of the article "Crash-testing your own program", as it stands there.
@Suite struct ExampleTests {
    /// A counter that lives in a file of its own.
    struct CounterFile {
        var files: any FileSystem
        var syncs: Bool

        func load() throws -> UInt8 {
            guard try files.status("/counter") != nil else { return 0 }
            let bytes = try files.open("/counter", .read).contents()
            guard bytes.count == 1 else { throw Wrong(what: "the counter is empty") }
            return bytes[0]
        }

        func save(_ value: UInt8) throws {
            let file = try files.open("/counter.new", .create)
            try file.write([value], at: 0)
            if syncs { try file.sync() }
            try files.rename("/counter.new", to: "/counter", replacing: true)
            try files.syncDirectory("/")
        }
    }

    struct Wrong: Error {
        var what: String
    }

    func sweep(syncs: Bool) -> CrashSweep.Report {
        let acknowledged = SharedCounter()
        return CrashSweep(seed: 1).run(
            program: { files in
                let counter = CounterFile(files: files, syncs: syncs)
                for value in 1...5 as ClosedRange<UInt8> {
                    try counter.save(value)
                    acknowledged.value = value
                }
            },
            check: { image in
                let found = try CounterFile(files: image, syncs: syncs).load()
                guard found == acknowledged.value || found == acknowledged.value + 1 else {
                    throw Wrong(what: "found \(found), acknowledged was \(acknowledged.value)")
                }
            })
    }

    @Test func `a file that is renamed before it is synced is found empty`() throws {
        let report = sweep(syncs: false)
        let failure = try #require(report.failure)
        #expect(failure.reason.contains("empty") || failure.reason.contains("found 0"), "\(failure.reason)")
        #expect(failure.image.contents("/counter") != nil)
    }

    @Test func `with the sync no crash is left that loses the counter`() {
        let report = sweep(syncs: true)
        #expect(report.failure == nil, "\(report.failure?.reason ?? "")")
        #expect(report.programError == nil)
        #expect(report.states > 60)
    }
}

/// A number that the check reads while the program waits.
final class SharedCounter: @unchecked Sendable {
    // The check runs on the program's thread, inside one of its calls.
    var value: UInt8 = 0
}
