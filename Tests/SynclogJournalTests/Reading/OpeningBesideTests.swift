import SynclogJournal
import SynclogTestKit
import TestSupport
import Testing

/// A reader that opens while a writer goes on.
@Suite struct OpeningBesideTests {
    /// The reader's size of the live file was older than its HEAD, and it reported commits as lost that were there.
    @Test(arguments: [1, 12] as [Int])
    func `a writer that goes on at any call of a reader's opening takes nothing from it`(burst: Int) throws {
        var call = 0
        var isThrough = false
        while !isThrough {
            let machine = MemoryFileSystem()
            let writer = try Journal.create(at: "/j", options: .test(machine, seed: 5))
            for number in 0..<6 { try writer.apply([put("before-\(number)", "x")]) }
            let known = try writer.head().commit
            let wrote = Monitor(false)
            let target = call
            let reader = machine.process { [writer] next in
                let isHere = wrote.withLock { done in
                    defer { if next.number == target { done = true } }
                    return next.number == target && !done
                }
                if isHere {
                    for number in 0..<burst {
                        do {
                            try writer.apply([put("between-\(number)", String(repeating: "y", count: 900))])
                        } catch {
                            Issue.record("call \(target): \(error)")
                        }
                    }
                }
                return .goesOn
            }
            do {
                let journal = try Journal.open(at: "/j", mode: .readOnly, options: .test(reader, seed: 6))
                let head = try journal.head().commit
                #expect(head >= known, "call \(call)")
                #expect(try journal.commits().map(\.info.number).filter { $0 <= known }.count == 6)
            } catch {
                Issue.record("call \(call): \(error)")
            }
            isThrough = !wrote.withLock { $0 }
            call += 1
        }
        #expect(call > 10)
    }
}
