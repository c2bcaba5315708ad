import Glibc
import SynclogJournal
import TestSupport

/// Whether the long form of the exhaustive tests is asked for (SYNCLOG_EVERY_BYTE=1).
let everyByte = getenv("SYNCLOG_EVERY_BYTE") != nil

/// One put of a record with a text.
func put(_ name: String, _ text: String, zone: UInt64 = 1) -> PlannedEntry {
    PlannedEntry(.put, recordKey(name, zone: zone), value: textValue(text))
}

/// Commits of a workload until a condition holds.
func fill(
    _ journal: Journal, _ model: inout JournalModel, _ workload: inout Workload, count: Int
) throws(JournalError) {
    for _ in 0..<count { model.commits.append(try journal.apply(workload.next())) }
}

/// Opens for writing, reads all and closes again.
func recovered(_ system: MemoryFileSystem, at path: String = "/j") throws(JournalError) -> [Commit] {
    let journal = try Journal.open(at: path, options: .test(system, seed: 77))
    defer { journal.close() }
    return try journal.commits()
}

/// This process's id.
func processIdentifier() -> Int32 { getpid() }
