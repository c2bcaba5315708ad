import Glibc
import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

/// The Nth system call of a follower's run fails once, or it and all later ones, in the source or in the copy: a typed error or
/// success, no file stays open, and the next run has everything and leaves nothing behind.
///
/// Found by it: an error while reading FOLLOWER was told with another error's number; an old copy that a rebuild had replaced
/// stayed for ever when its removal was cut short.
///
/// Each error at each call with `SYNCLOG_EVERY_BYTE=1`; else the errors take turns.
@Suite struct FailingCallTests {
    enum Kind: CaseIterable {
        case newCopy, goesOn, rebuild, expired
    }

    private struct Outcome {
        var error: ReplicationError?
        /// The head that a run which succeeded told.
        var head: UInt64?
    }

    /// A source of some segments, and for all kinds but a new copy a copy that lags behind.
    private static func start(_ kind: Kind) throws -> MemoryFileSystem {
        let system = MemoryFileSystem(tracksDurability: true)
        var options = options(system, seed: 1)
        options.retention.tombstones = .zero
        let source = try Journal.create(at: "/source", options: options)
        defer { source.close() }
        var workload = Workload(seed: 61, names: 12, valueSizeMax: 400)
        for _ in 0..<15 { try source.apply(workload.next()) }
        if kind != .newCopy {
            _ = try follower(system, kind == .expired ? .expired : .newCopy, seed: 2).run()
            for _ in 0..<10 { try source.apply(workload.next()) }
        }
        if kind == .expired { _ = try source.compact(everything: true) }
        for path in ["/source", "/"] { try system.syncDirectory(path) }
        return system
    }

    private static func options(_ system: MemoryFileSystem, seed: UInt64) -> JournalOptions {
        .test(system, segmentSize: 8 << 10, seed: seed)
    }

    private static func follower(
        _ system: MemoryFileSystem, _ kind: Kind, seed: UInt64
    ) throws(ReplicationError) -> Follower {
        var options = Follower.Options()
        options.journal = self.options(system, seed: seed)
        options.rebuild = kind == .rebuild
        let source = try DirectorySource(path: "/source", options: self.options(system, seed: seed + 1))
        return Follower(at: "/copy", source: kind == .expired ? Leaseless(source) : source, options: options)
    }

    @Test(arguments: Kind.allCases)
    func `any call fails while a copy follows`(kind: Kind) async throws {
        let start = try Self.start(kind)
        let all = getenv("SYNCLOG_EVERY_BYTE") != nil
        let report = await onOwnThread {
            FailureLoop(everything: all).run(from: start) { files, failure in
                var outcome = Outcome()
                do throws(ReplicationError) {
                    let follower = try Self.follower(files, kind, seed: 5)
                    failure.arm()
                    outcome.head = try follower.run().head
                } catch {
                    outcome.error = error
                }
                return outcome
            } check: { outcome, machine, failure in
                check(outcome, machine, failure, kind)
            }
        }
        if all { print("\(kind): \(report.calls) calls, \(report.runs) runs") }
        #expect(report.calls > 60)
        for problem in report.problems { Issue.record("\(problem)") }
    }

    private func check(
        _ outcome: Outcome, _ machine: MemoryFileSystem, _ failure: FailureLoop.Failure, _ kind: Kind
    ) -> [String] {
        var problems: [String] = []
        switch outcome.error {
        case nil: break
        case .journal(let error) where failure.explains(error): break
        case .some(let error): problems.append("an error that does not say it: \(error)")
        }
        if !machine.openFiles.isEmpty { problems.append("open files: \(machine.openFiles)") }
        for (name, left) in [("killed", machine.copy()), ("power lost", machine.afterPowerLoss())] {
            do {
                problems += try aftermath(left, outcome, kind).map { "\(name): \($0)" }
            } catch {
                problems.append("\(name): \(error)")
            }
            if !left.openFiles.isEmpty { problems.append("\(name): open files \(left.openFiles)") }
        }
        return problems
    }

    private func aftermath(_ left: MemoryFileSystem, _ outcome: Outcome, _ kind: Kind) throws -> [String] {
        var problems: [String] = []
        // Readers do not see the source's last commit before its next writer has proved its end.
        let source = try Journal.open(at: "/source", options: Self.options(left, seed: 77))
        if let head = outcome.head {
            let copy = try Journal.open(at: "/copy", options: Self.options(left, seed: 78))
            if try copy.head().commit < head { problems.append("the copy lost what the run had told") }
            copy.close()
        }
        try source.apply([PlannedEntry(.put, recordKey("after"), value: textValue("x"))])
        source.close()
        // Who asked for a rebuild and saw it fail asks again; it goes on with what it had.
        let next = kind == .rebuild && outcome.error == nil ? .goesOn : kind
        _ = try Self.follower(left, next, seed: 80).run()
        let (copied, expected) = (
            try allCommits("/copy", Self.options(left, seed: 82)),
            try allCommits("/source", Self.options(left, seed: 83))
        )
        if copied != expected { problems.append("the copy is not the same") }
        let report = try Journal.open(at: "/copy", mode: .readOnly, options: Self.options(left, seed: 84))
            .verify()
        if !report.isSound || !report.strays.isEmpty { problems.append("verify: \(report)") }
        let names = try left.list("/").filter { kind != .rebuild || !$0.hasPrefix("copy.replaced-") }
        if names.sorted() != ["copy", "source"] {
            problems.append("left beside the copy: \(names.sorted())")
        }
        if let tmp = try? left.list("/copy/tmp"), !tmp.isEmpty { problems.append("in tmp: \(tmp)") }
        return problems
    }
}
