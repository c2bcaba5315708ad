internal import Glibc

extension Journal {
    /// Makes a copy of the journal in a new directory: hard links of the sealed segments, or copies where links cannot be.
    ///
    /// The live segment is sealed first, so that everything acknowledged is in the copy. The copy is a journal that opens; it
    /// has the same identity, and whoever writes to it starts a session of its own, so that a cursor of one is never taken for one
    /// of the other. Durable on return. After an error nothing is left of it.
    /// - Returns: The head of the copy.
    @available(*, noasync)
    public func snapshot(to destination: String) throws(JournalError) -> JournalHead {
        let fileSystem = options.fileSystem
        let isNew =
            try journalErrors { () throws(FileError) in try fileSystem.status(destination) } == nil
        try JournalBirth(path: destination, options: options).makeDirectory()
        let copy = SegmentDirectory(path: destination, fileSystem: fileSystem)
        var carried: [SegmentName] = []
        do throws(JournalError) {
            return try snapshot(to: copy, &carried)
        } catch {
            takeBack(carried, from: copy)
            if isNew { try? fileSystem.removeDirectory(destination) }
            throw error
        }
    }

    /// Fills the directory of the copy; `carried` are the segments that it has of this journal, in any case.
    private func snapshot(to copy: SegmentDirectory, _ carried: inout [SegmentName]) throws(JournalError)
        -> JournalHead
    {
        // Compaction would take away what is about to be linked.
        let lock = try takeCompactionLock(timeout: options.lockTimeout)
        defer { lock.unlock() }
        let names = try turn.exclusively { live throws(JournalError) in
            try live.rollNow()
            return live.segments.map(\.name)
        }
        if names.count == 1 {
            try JournalBirth(path: copy.path, options: options).make(id: id, follower: try followerState())
            return try turn.snapshot().head
        }
        // A copy that a kill or a loss of power left unfinished lacks its first segment, so that nobody takes it for a
        // shorter journal. The last segment goes on changing here: the copy gets an empty one of its own when it is
        // opened for writing.
        for name in names.dropLast().reversed() {
            if name.number == 1 {
                try copyMark(to: copy)
                try journalErrors { () throws(FileError) in try options.fileSystem.syncDirectory(copy.path) }
            }
            try carry(name, to: copy)
            carried.append(name)
        }
        try journalErrors { () throws(FileError) in try options.fileSystem.syncDirectory(copy.path) }
        return try headOfCopy(copy)
    }

    /// Opens a whole copy, which gives it a live segment and HEAD.
    private func headOfCopy(_ copy: SegmentDirectory) throws(JournalError) -> JournalHead {
        var opening = options
        opening.compacts = false
        let opened: Journal
        do throws(JournalError) {
            opened = try Journal.open(at: copy.path, mode: .shared, options: opening)
        } catch {
            guard case .busy = error else { throw error }
            // Somebody has it open already: it is theirs.
            opened = try Journal.open(at: copy.path, mode: .readOnly, options: opening)
        }
        defer { opened.close() }
        return try opened.turn.snapshot().head
    }

    /// Removes what a copy that failed has made; whoever gave it the first segment made all of it.
    private func takeBack(_ carried: [SegmentName], from copy: SegmentDirectory) {
        let fileSystem = options.fileSystem
        let isWhole = carried.last?.number == 1
        do {
            for name in carried.reversed() {
                try fileSystem.remove(copy.path + "/" + name.text)
                // The first goes alone: the others are no journal without it.
                if name.number == 1 { try fileSystem.syncDirectory(copy.path) }
            }
        } catch {
            return
        }
        guard isWhole else { return }
        for name in (try? fileSystem.list(copy.path)) ?? []
        where SegmentName(name) != nil || SegmentDirectory.otherNames.contains(name) {
            let place = copy.path + "/" + name
            if (try? fileSystem.remove(place)) == nil { try? fileSystem.removeDirectory(place) }
        }
    }

    private func copyMark(to copy: SegmentDirectory) throws(JournalError) {
        try journalErrors { () throws(FileError) in
            let follower = path + "/FOLLOWER"
            if try options.fileSystem.status(follower) != nil {
                try copyFile(follower, to: copy.followerPath)
            }
        }
    }

    /// Links or copies a sealed segment.
    private func carry(_ name: SegmentName, to copy: SegmentDirectory) throws(JournalError) {
        let fileSystem = options.fileSystem
        let source = path + "/" + name.text
        let target = copy.path + "/" + name.text
        try journalErrors { () throws(FileError) in
            do throws(FileError) {
                try fileSystem.link(source, to: target)
            } catch {
                guard [EXDEV, EPERM, EOPNOTSUPP, EMLINK, ENOSYS].contains(error.code) else { throw error }
                try copyFile(source, to: target)
            }
        }
    }

    private func copyFile(_ source: String, to target: String) throws(FileError) {
        let fileSystem = options.fileSystem
        let from = try fileSystem.open(source, .read)
        let to = try fileSystem.open(target, .createNew)
        var offset: UInt64 = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            var failure: FileError?
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                do throws(FileError) { return try unsafe from.read(into: bytes, at: offset) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if count == 0 { break }
            try to.write(Array(buffer[..<count]), at: offset)
            offset += UInt64(count)
        }
        try to.sync()
    }

    /// Makes a follower a journal of its own: it takes commits from now on and no more blocks.
    ///
    /// The file FOLLOWER goes, durably, and the next commit starts a session; cursors up to here stay good for both journals.
    /// Any open handle must be opened again.
    public static func promote(
        at path: String, options: JournalOptions = JournalOptions()
    ) throws(JournalError) {
        let live = LiveJournal(path: path, mode: .shared, options: options)
        try JournalBirth(path: path, options: options).refuseNetwork()
        _ = try lookingAgain { () throws(JournalError) in try live.directory.segments() }
        try live.beginWriting()
        defer { live.endWriting() }
        guard live.isFollower else { return }
        try journalErrors { () throws(FileError) in
            try options.fileSystem.remove(live.directory.followerPath)
            try options.fileSystem.syncDirectory(path)
        }
    }
}
