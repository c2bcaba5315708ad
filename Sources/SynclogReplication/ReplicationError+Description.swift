internal import SynclogJournal
internal import SynclogRecords

extension ReplicationError: CustomStringConvertible {
    /// What happened, where, and what can be done next; never a field's value or a secret.
    public var description: String {
        switch self {
        case .badSource(let text, let reason):
            "'\(text)' is no source: \(reason); give a directory, ssh://[user@]host/path or exec:COMMAND"
        case .syncFolder(let path, let tool):
            "\(path) lies in a folder of \(tool), which copies files while they are written; "
                + "keep the journal elsewhere and use ssh://host/path from other machines"
        case .unreachable(let source, let reason):
            "\(source) cannot be reached: \(reason); try again later, what was copied stays"
        case .timeout(let source, let waitedFor):
            "\(source) did not answer: waited too long for \(waitedFor); try again later, what was copied stays"
        case .protocolViolation(let source, let what):
            "\(source) does not speak the synclog protocol: \(what); the command must run 'synclog serve --stdio' "
                + "and print nothing else on its standard output"
        case .unsupportedVersion(let source, let theirs, let ours):
            "\(source) speaks version \(theirs) of the protocol, this program version \(ours); "
                + "bring both to the same version"
        case .sourceFailed(let source, let reason): "\(source) cannot answer: \(reason)"
        case .notAFollower(let path):
            "\(path) is a journal of its own and follows nobody; give an empty or new directory for the copy"
        case .stopped(let reason): reason.description
        case .closed: "the connection was closed from this side"
        case .journal(let error): SyncError(error).description
        case .sync(let error): error.description
        }
    }
}

extension StopReason: CustomStringConvertible {
    /// What the follower met, and that it changed nothing.
    public var description: String {
        switch self {
        case .rolledBack(let common, let own):
            "the source was restored, copied or forked: its history differs from this follower's "
                + (common.map { "after commit \($0)" } ?? "at an unknown commit")
                + " (this follower has up to \(own)); nothing was changed; to take the source's history, "
                + "run replicate --rebuild, which keeps the old copy aside"
        case .foreign(let expected, let found):
            "the source is journal \(found), this follower was made from \(expected); nothing was changed; "
                + "correct the source, or take the new one by replicate --rebuild, which keeps the old copy aside"
        case .ahead(let own, let source):
            "the source ends at commit \(source), before this follower's \(own): it lost its end or was put back; "
                + "nothing was changed; repair the source, or take it as it is by replicate --rebuild, "
                + "which keeps the old copy aside"
        case .expired(let floor):
            "the source keeps nothing before commit \(floor), and a rebuild expired as well; nothing was changed; "
                + "try again when the source is quieter"
        case .otherZones(let stored, let asked):
            "this follower holds \(zoneList(stored)), asked for was \(zoneList(asked)); nothing was changed; "
                + "give the same zones, or make it anew by replicate --rebuild"
        case .filteredSource(let zones):
            "the source is itself a follower of \(zoneList(zones)) and cannot give other ones; "
                + "ask for the same zones, or follow its own source"
        case .unknownZone(let name):
            "the source has never had a zone '\(name)'; see its zones by 'synclog zones'"
        }
    }

    private func zoneList(_ names: [String]?) -> String {
        guard let names else { return "all zones" }
        return (names.count == 1 ? "zone " : "zones ") + names.map { "'\($0)'" }.joined(separator: ", ")
    }
}
