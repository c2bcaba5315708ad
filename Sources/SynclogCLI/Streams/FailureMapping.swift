import Glibc
import SynclogJournal
import SynclogRecords
import SynclogReplication

extension CommandFailure {
    /// The failure of a journal, as one line with the next step.
    init(_ error: JournalError) {
        let (code, message, next) = Self.describe(error)
        self.init(code, message, next: next)
    }

    private static func describe(_ error: JournalError) -> (ExitCode, String, String) {
        switch error {
        case .file(let failure): return describe(failure)
        case .notFound(let path):
            return (
                .storage, "'\(shown(path))': no such directory",
                "make it by 'synclog init' or 'synclog replicate'"
            )
        case .notAJournal(let path):
            return (
                .storage, "'\(shown(path))' is no journal",
                "name another directory, or make one by 'synclog init'"
            )
        case .alreadyExists(let path):
            return (.storage, "'\(shown(path))' holds a journal already", "use it, or name another directory")
        case .notEmpty(let path):
            return (.storage, "'\(shown(path))' holds other files", "name a new or empty directory")
        case .readOnly(let path):
            return (
                .storage, "'\(shown(path))' is read-only", "give this user write permission, or use a copy"
            )
        case .networkFileSystem(let path, let kind):
            return (
                .storage, "'\(shown(path))' lies on a network file system (\(kind))",
                "keep the journal on its host and use -D ssh://HOST/PATH, or take the risk with --force-network"
            )
        case .busy(let pid):
            let holder = pid.map { "process \($0)" } ?? "another process"
            return (
                .busy, "busy: the journal is held by \(holder)",
                "wait for it to end, or give a longer --lock-timeout"
            )
        case .corrupted(let damage):
            return (.damage, text(damage), "run 'synclog verify'; take a copy before anything else")
        case .missingSegment(let path, let number):
            return (
                .damage, "'\(shown(path))': segment \(hexadecimal(number, digits: 16)) is missing",
                "put the file back; nothing was changed"
            )
        case .lostData(let acknowledged, let found):
            return (
                .damage,
                "acknowledged data is gone: commit \(acknowledged.commit) was at offset \(acknowledged.offset) of "
                    + "'\(shown(acknowledged.file))', the journal ends with commit \(found.commit) at offset "
                    + "\(found.offset) of '\(shown(found.file))'",
                "put the files back from a copy; nothing was changed"
            )
        case .durabilityUnknown(let failure):
            return (
                .storage,
                "'\(shown(failure.path))': \(systemText(failure.code)); whether the commit is durable is not known",
                "check the disk, then look by 'synclog get' before you repeat it"
            )
        case .unsupported(let path, let feature):
            return (
                .storage, "'\(shown(path))' needs a newer synclog (\(shown(feature)))", "update this program"
            )
        case .isFollower(let path):
            return (
                .storage, "'\(shown(path))' is a read-only copy of another journal", "write to its source"
            )
        case .closed: return (.storage, "the journal was closed", "run the command again")
        case .limitExceeded(let what, let limit, let actual):
            return (.usage, "\(what): \(actual), at most \(limit)", "make it smaller")
        case .relaxedNeedsExclusive:
            return (.usage, "relaxed commits need an exclusive journal", "open it exclusively")
        case .expired(let floor):
            return (
                .storage, "expired: nothing before commit \(floor) is kept",
                "read everything anew, without a cursor"
            )
        case .ahead(let head):
            return (
                .guarded, "the cursor lies beyond the end of the journal, commit \(head)",
                "see whether the journal was put back from a copy"
            )
        case .rolledBack(let common):
            return (
                .guarded,
                "rolled back: the journal is not the one the cursor has seen"
                    + (common.map { "; both have commit \($0)" } ?? ""),
                "the journal was restored, copied or forked; read everything anew, without a cursor"
            )
        case .recoveryPending(let path):
            return (
                .storage, "recoveryPending: the end of '\(shown(path))' is not proven yet",
                "wait for its writer, or let a command write once, for instance 'synclog zone create'"
            )
        case .foreignJournal:
            return (.storage, "the cursor belongs to another journal", "use it with that one")
        case .malformedCursor: return (.usage, "the cursor is malformed", "copy all of its characters")
        case .wrongScope:
            return (.usage, "the cursor was made for another use", "take one that 'synclog dump' printed")
        }
    }

    private static func describe(_ failure: FileError) -> (ExitCode, String, String) {
        let next =
            switch failure.code {
            case _ where failure.isOutOfSpace:
                "make room on the disk, or delete records and run 'synclog compact'"
            case EACCES, EPERM, EROFS: "give this user permission, or use a copy"
            case ENOENT: "check the path"
            default: "check the disk and the path"
            }
        return (.storage, "'\(shown(failure.path))': \(failure.call): \(systemText(failure.code))", next)
    }

    /// Damage, with file, offset and commits.
    static func text(_ damage: Damage) -> String {
        let commits = damage.commits.map { ", \(text($0))" } ?? ""
        return "'\(shown(damage.file))', offset \(damage.offset)\(commits): \(damage.reason)"
    }

    /// A range of commits; its end may not be known.
    static func text(_ commits: ClosedRange<UInt64>) -> String {
        commits.upperBound == .max
            ? "commits from \(commits.lowerBound)" : "commits \(commits.lowerBound) to \(commits.upperBound)"
    }

    /// The failure of a database, as one line with the next step.
    init(_ error: SyncError) {
        if let journal = error.underlying, error.recordID == nil, error.zoneID == nil {
            self.init(journal)
            return
        }
        if error.code == .partialFailure, let first = error.itemErrors.first {
            self.init(first.error)
            return
        }
        var place = ""
        if let id = error.recordID {
            place = "record '\(shown(id.recordName))' in zone '\(shown(id.zoneID.zoneName))': "
        } else if let id = error.zoneID {
            place = "zone '\(shown(id.zoneName))': "
        }
        var next = error.nextStep
        if let seconds = error.retryAfter?.components.seconds { next += ", in \(seconds) s" }
        let code = error.underlying.map { CommandFailure($0).code } ?? Self.exitCode(error.code)
        self.init(code, place + shown(error.reason), next: shown(next))
    }

    private static func exitCode(_ code: SyncError.Code) -> ExitCode {
        switch code {
        case .unknownItem, .serverRecordChanged, .zoneNotFound, .userDeletedZone, .batchRequestFailed,
            .constraintViolation, .referenceViolation, .operationForgotten:
            .notSo
        case .invalidArguments, .limitExceeded, .reserved, .wrongScope: .usage
        case .changeTokenExpired, .quotaExceeded, .badContainer, .badDatabase, .permissionFailure,
            .incompatibleVersion, .serverRejectedRequest:
            .storage
        case .damaged: .damage
        case .rolledBack, .ahead, .foreign, .ownerChanged, .deviceCloned: .guarded
        case .zoneBusy: .busy
        default: .remote
        }
    }
}

extension CommandFailure {
    /// The failure of a copy or a connection, as one line with the next step.
    init(_ error: ReplicationError) {
        switch error {
        case .journal(let error): self.init(error)
        case .sync(let error): self.init(error)
        case .badSource: self.init(.usage, shown(error.description))
        case .syncFolder, .notAFollower, .closed: self.init(.storage, shown(error.description))
        case .unreachable, .timeout, .protocolViolation, .unsupportedVersion, .sourceFailed:
            self.init(.remote, shown(error.description))
        case .stopped(let reason):
            switch reason {
            case .rolledBack: self.init(.guarded, "rolled back: " + shown(reason.description))
            case .unknownZone: self.init(.notSo, shown(reason.description))
            case .expired: self.init(.storage, "expired: " + shown(reason.description))
            case .foreign, .ahead, .otherZones, .filteredSource:
                self.init(.guarded, shown(reason.description))
            }
        }
    }
}

/// Runs something that throws a journal's error.
func journal<Result>(_ body: () throws(JournalError) -> Result) throws(CommandFailure) -> Result {
    do throws(JournalError) { return try body() } catch { throw CommandFailure(error) }
}

/// Runs something that throws a database's error.
func database<Result>(_ body: () async throws(SyncError) -> Result) async throws(CommandFailure) -> Result {
    do throws(SyncError) { return try await body() } catch { throw CommandFailure(error) }
}
