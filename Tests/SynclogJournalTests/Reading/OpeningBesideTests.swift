import SynclogJournal
import SynclogTestKit
import TestSupport
import Testing

/// Handles that open while a writer goes on.
@Suite struct OpeningBesideTests {
    /// What a writer does in the middle of an opening.
    enum Beside: Hashable, CaseIterable {
        case oneCommit, rolls, merge
    }

    /// The reader's size of the live file was older than its HEAD, and it reported commits as lost that were there; a merge
    /// took away the merged segment whose header an opening for writing looks at before it has the lock.
    @Test(arguments: [JournalMode.readOnly, .shared], Beside.allCases)
    func `a writer that goes on at any call of an opening takes nothing from it`(
        mode: JournalMode, beside: Beside
    ) throws {
        var call = 0
        var isThrough = false
        while !isThrough {
            let machine = MemoryFileSystem()
            let writer = try Journal.create(at: "/j", options: .test(machine, seed: 5))
            for number in 0..<6 { try writer.apply([put("before-\(number)", "x")]) }
            if beside == .merge { _ = try writer.compact(everything: true) }
            let known = try writer.head().commit
            let state = Monitor((wrote: false, locked: false))
            let target = call
            let process = machine.process { [writer] next in
                let isHere = state.withLock { state in
                    if next.kind == .lock { state.locked = true }
                    guard next.number == target, !state.wrote, !state.locked else { return false }
                    state.wrote = true
                    return true
                }
                if isHere {
                    do { try Self.goOn(writer, beside) } catch { Issue.record("call \(target): \(error)") }
                }
                return .goesOn
            }
            do {
                let journal = try Journal.open(at: "/j", mode: mode, options: .test(process, seed: 6))
                defer { journal.close() }
                let head = try journal.head().commit
                #expect(head >= known, "call \(call)")
                #expect(try journal.commits().map(\.info.number).filter { $0 <= known }.count == 6)
            } catch {
                Issue.record("call \(call): \(error)")
            }
            isThrough = !state.withLock { $0.wrote }
            call += 1
        }
        #expect(call > (mode == .readOnly ? 10 : 2))
    }

    private static func goOn(_ writer: Journal, _ beside: Beside) throws {
        for number in 0..<(beside == .rolls ? 12 : 1) {
            try writer.apply([put("between-\(number)", String(repeating: "y", count: 900))])
        }
        if beside == .merge { _ = try writer.compact(everything: true) }
    }

    /// Waiting for a writer counted against the looks at an old listing, and segment 2 was reported as missing.
    @Test func `a reader that waited for a commit finds the segment that begins with it`() throws {
        let machine = MemoryFileSystem()
        let writer = try Journal.create(at: "/j", options: .test(machine, seed: 15))
        try writer.apply([put("before", "x")])
        let live = machine.segments(of: "/j")[0]
        // A writer that is between its write and HEAD for long: the bytes of a commit that HEAD does not name.
        let later = machine.copy()
        try Journal.open(at: "/j", options: .test(later, seed: 16)).apply([put("between", "y")])
        try machine.setContents(live, #require(later.contents(live)))
        let state = Monitor((waits: 0, isDone: false))
        let process = machine.process { next in
            let isHere = state.withLock { state in
                guard next.kind == .open, next.path == "/j/HEAD", state.waits == 20, !state.isDone
                else { return false }
                state.isDone = true
                return true
            }
            if isHere {
                // It ends, and the next one gives the commit a segment of its own.
                do { _ = try recovered(machine) } catch { Issue.record("\(error)") }
            }
            return .goesOn
        }
        var options = JournalOptions.test(process, seed: 17)
        options.pause = { _ in state.withLock { $0.waits += 1 } }
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: options)
        #expect(machine.segments(of: "/j").count == 2)
        #expect(state.withLock { $0.waits } == 20)
        let names = try reader.commits().flatMap(\.entries).map(\.key.name)
        #expect(names == [recordKey("before").name, recordKey("between").name])
    }
}
