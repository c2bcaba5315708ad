internal import Glibc

/// Makes the directory of a new journal.
struct JournalBirth {
    let path: String
    let options: JournalOptions

    init(path: String, options: JournalOptions) {
        self.path = path
        self.options = options
    }

    private var fileSystem: any FileSystem { options.fileSystem }
    private var parent: String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// Locks and syncs cannot be relied on across a network.
    func refuseNetwork() throws(JournalError) {
        if options.allowsNetworkFileSystem { return }
        let place =
            try journalErrors { () throws(FileError) in try fileSystem.status(path) } == nil ? parent : path
        if try journalErrors({ () throws(FileError) in try fileSystem.status(place) }) == nil { return }
        if let kind = try journalErrors({ () throws(FileError) in try fileSystem.networkKind(place) }) {
            throw .networkFileSystem(path: path, kind: kind)
        }
    }

    /// Makes the directory, or takes one that is empty but for what journals leave behind.
    func makeDirectory() throws(JournalError) {
        try refuseNetwork()
        do {
            if let status = try fileSystem.status(path) {
                let names = status.isDirectory ? try fileSystem.list(path) : []
                if !status.isDirectory { throw FileError(call: "mkdir", path: path, code: EEXIST) }
                if names.contains(where: { SegmentName($0) != nil }) {
                    throw JournalError.alreadyExists(path: path)
                }
                guard names.allSatisfy({ SegmentDirectory.otherNames.contains($0) }) else {
                    throw JournalError.notEmpty(path: path)
                }
            } else {
                try fileSystem.makeDirectory(path)
            }
            try fileSystem.syncDirectory(parent)
        } catch {
            throw Self.journalError(error, path)
        }
    }

    /// Makes the directory with an empty first segment.
    func make(id: JournalID, follower: [UInt8]?) throws(JournalError) {
        try makeDirectory()
        let directory = SegmentDirectory(path: path, fileSystem: fileSystem)
        let lock = try DirectoryLock(directory: path, options: options)
        _ = try lock.take(exclusive: false, timeout: options.lockTimeout)
        defer { lock.release() }
        do {
            if let follower {
                let file = try fileSystem.open(directory.followerPath, .create)
                try file.truncate(to: 0)
                try file.write(follower, at: 0)
                try file.sync()
                // Its name goes first: a segment without it would be a journal that follows nobody.
                try fileSystem.syncDirectory(path)
            }
        } catch {
            throw Self.journalError(error, path)
        }
        let header = SegmentHeader(
            journal: id, session: SessionInfo(label: 0, commit: 0, clock: 0), number: 1, firstCommit: 1,
            previousLast: 0, previousChain: 0, previousGeneration: 0, salt: options.random(), clock: 0)
        do throws(JournalError) {
            try directory.publish(
                header.encoded(), as: SegmentName(number: 1, generation: 0), random: options.random())
        } catch {
            if case .file(let failure) = error, failure.code == EEXIST { throw .alreadyExists(path: path) }
            throw error
        }
    }

    private static func journalError(_ error: any Error, _ path: String) -> JournalError {
        if let error = error as? JournalError { return error }
        guard let error = error as? FileError else { return .notAJournal(path: path) }
        switch error.code {
        case EACCES, EROFS, EPERM: return .readOnly(path: path)
        default: return .file(error)
        }
    }
}
