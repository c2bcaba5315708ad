package import SynclogJournal

extension SyncError {
    /// Makes an error of the journal one of the database.
    package init(_ error: JournalError) {
        self =
            switch error {
            case .file(let failure):
                SyncError(
                    failure.isOutOfSpace ? .quotaExceeded : .internalError,
                    "\(failure.call) failed on \(failure.path) with error \(failure.code)",
                    nextStep: failure.isOutOfSpace
                        ? "make room on the disk, then try again" : "check the disk and the permissions",
                    underlying: error)
            case .notFound(let path):
                SyncError(
                    .badContainer, "there is no directory \(path)",
                    nextStep: "make a database with synclog init",
                    underlying: error)
            case .notAJournal(let path):
                SyncError(
                    .badContainer, "\(path) is not a journal", nextStep: "name the directory of a database",
                    underlying: error)
            case .alreadyExists(let path):
                SyncError(
                    .invalidArguments, "there is a journal in \(path) already",
                    nextStep: "open it, or name another directory",
                    underlying: error)
            case .notEmpty(let path):
                SyncError(
                    .invalidArguments, "the directory \(path) holds other files",
                    nextStep: "name an empty directory",
                    underlying: error)
            case .readOnly(let path):
                SyncError(
                    .permissionFailure, "\(path) is open for reading only",
                    nextStep: "get write permission for the directory", underlying: error)
            case .networkFileSystem(let path, let kind):
                SyncError(
                    .permissionFailure, "\(path) lies on a network file system (\(kind))",
                    nextStep: "use ssh://host/path to reach the machine that has the disk", underlying: error)
            case .busy(let pid):
                SyncError(
                    .zoneBusy,
                    pid.map { pid in "process \(pid) holds the journal" }
                        ?? "another process holds the journal",
                    nextStep: "try again when it is done", retryAfter: .seconds(1), underlying: error)
            case .corrupted(let damage):
                SyncError(
                    .damaged, "\(damage.file) is damaged at offset \(damage.offset): \(damage.reason)",
                    nextStep: "run synclog verify and restore from a follower", underlying: error)
            case .missingSegment(let path, let number):
                SyncError(
                    .damaged, "segment \(number) of \(path) is missing",
                    nextStep: "put the file back, or restore from a follower", underlying: error)
            case .lostData(let acknowledged, let found):
                SyncError(
                    .damaged,
                    "the journal ends at commit \(found.commit) (\(found.file), offset \(found.offset)), "
                        + "but commit \(acknowledged.commit) was acknowledged "
                        + "(\(acknowledged.file), offset \(acknowledged.offset))",
                    nextStep: "put the missing bytes back, or restore from a follower", underlying: error)
            case .durabilityUnknown(let failure):
                SyncError(
                    .serverResponseLost,
                    "\(failure.call) failed on \(failure.path) with error \(failure.code), so "
                        + "whether the change is stored is not known",
                    nextStep: "check the disk, open the database again and repeat the operation",
                    underlying: error)
            case .unsupported(let path, let feature):
                SyncError(
                    .incompatibleVersion, "\(path) needs \(feature)",
                    nextStep: "use a newer version of synclog",
                    underlying: error)
            case .isFollower(let path):
                SyncError(
                    .permissionFailure, "\(path) follows another journal and takes no changes of its own",
                    nextStep: "send the change to the source", underlying: error)
            case .closed:
                SyncError(
                    .operationCancelled, "the database was closed", nextStep: "open it again",
                    underlying: error)
            case .limitExceeded(let what, let limit, let actual):
                SyncError(
                    .limitExceeded, "\(what) has \(actual), at most \(limit) are allowed",
                    nextStep: "send less at once", underlying: error)
            case .relaxedNeedsExclusive:
                SyncError(
                    .internalError, "relaxed commits need a journal opened in exclusive mode",
                    nextStep: "open it so", underlying: error)
            case .recoveryPending(let path):
                SyncError(
                    .serviceUnavailable, "the end of the journal in \(path) is not proven yet",
                    nextStep: "open it for writing once, or wait for its writer", retryAfter: .seconds(1),
                    underlying: error)
            case .expired, .ahead, .rolledBack, .foreignJournal, .malformedCursor, .wrongScope:
                SyncError(cursor: error)
            }
    }

    private init(cursor error: JournalError) {
        self =
            switch error {
            case .ahead(let head):
                SyncError(
                    .ahead, "the token is beyond the end of the database, which is commit \(head)",
                    nextStep: "find out what was lost before anything is fetched anew", underlying: error)
            case .rolledBack(let common):
                SyncError(
                    .rolledBack,
                    "the database was restored, copied or forked since the token was made"
                        + (common.map { commit in "; both have commit \(commit)" } ?? ""),
                    nextStep: "find out which copy is the right one before anything is fetched anew",
                    underlying: error)
            case .foreignJournal:
                SyncError(
                    .foreign, "the token belongs to another database",
                    nextStep: "fetch this database without a token",
                    underlying: error)
            case .malformedCursor:
                SyncError(
                    .invalidArguments, "the text is not a token", nextStep: "pass a token as it was given",
                    underlying: error)
            case .wrongScope:
                SyncError(
                    .wrongScope, "the token was made for another zone or for the database",
                    nextStep: "use each token where it came from", underlying: error)
            default:
                SyncError(
                    .changeTokenExpired, "the token is older than what is kept",
                    nextStep: "fetch everything anew without a token", underlying: error)
            }
    }
}

/// Runs a body of the journal and makes its error one of the database.
func mapped<Result>(_ body: () throws(JournalError) -> Result) throws(SyncError) -> Result {
    do throws(JournalError) {
        return try body()
    } catch {
        throw SyncError(error)
    }
}
