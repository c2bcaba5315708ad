/// The directory of a journal: which segments there are, and how a new one gets in.
struct SegmentDirectory: Sendable {
    let path: String
    let fileSystem: any FileSystem
    /// What the index pages of all segments may take together.
    let budget = PageBudget()
    let openFiles: OpenFiles

    init(path: String, fileSystem: any FileSystem, openMax: Int = OpenFiles.usualMax) {
        self.path = path
        self.fileSystem = fileSystem
        openFiles = OpenFiles(countMax: openMax)
    }

    /// Names that belong to a journal besides its segments.
    static let otherNames: Set<String> = [
        "HEAD", "LOCK", "COMPACT", "SYNC", "FOLLOWER", Ballast.name, "tmp", "aside",
    ]

    var headPath: String { path + "/HEAD" }
    var followerPath: String { path + "/FOLLOWER" }

    /// The segments, linked to their successors; they must follow each other without a gap.
    func segments() throws(JournalError) -> [Segment] {
        guard let status = try journalErrors({ () throws(FileError) in try fileSystem.status(path) }) else {
            throw .notFound(path: path)
        }
        guard status.isDirectory else { throw .notAJournal(path: path) }
        let files = try journalErrors { () throws(FileError) in try fileSystem.list(path) }
        let names = files.compactMap { SegmentName($0) }.sorted()
        guard let first = names.first else {
            if files.contains("HEAD") { throw .missingSegment(path: path, number: 1) }
            throw .notAJournal(path: path)
        }
        guard first.number == 1 else { throw .missingSegment(path: path, number: 1) }
        var segments: [Segment] = []
        // The numbers that the last merged segment stands for; its inputs may still be there after a crash.
        var covered = first.number - 1
        for (place, name) in names.enumerated() {
            let isReplaced = place + 1 < names.count && names[place + 1].number == name.number
            if name.number <= covered || isReplaced { continue }
            guard name.number == covered + 1 else { throw .missingSegment(path: path, number: covered + 1) }
            let segment = Segment(name: name, in: self)
            covered = name.number
            if name.generation > 0 {
                covered = max(covered, try segment.openFile().header.replaces?.upperBound ?? name.number)
            }
            segments.last?.setSuccessor(segment)
            segments.append(segment)
        }
        // The live segment is never merged: behind a merged one there was another.
        guard segments.last?.name.generation == 0 else {
            throw .missingSegment(path: path, number: covered + 1)
        }
        return segments
    }

    /// The names of segments that a merged one stands for.
    func replacedNames() throws(JournalError) -> [SegmentName] {
        let kept = Set(try segments().map(\.name))
        return try journalErrors { () throws(FileError) in try fileSystem.list(path) }
            .compactMap { SegmentName($0) }.filter { !kept.contains($0) }.sorted()
    }

    /// The number of the directory in its file system.
    func inode() throws(JournalError) -> UInt64 {
        guard let status = try journalErrors({ () throws(FileError) in try fileSystem.status(path) }) else {
            throw .notFound(path: path)
        }
        return status.inode
    }

    /// The bytes of HEAD; none if it is missing.
    func headBytes() throws(JournalError) -> [UInt8] {
        let file: any File
        do {
            file = try fileSystem.open(headPath, .read)
        } catch {
            if try journalErrors({ () throws(FileError) in try fileSystem.status(headPath) }) == nil {
                return []
            }
            throw .file(error)
        }
        return try file.bytes(at: 0, count: 2 * HeadSlot.size)
    }

    /// Writes a segment aside, syncs it, gives it its name without replacing, and syncs the directory.
    ///
    /// When that last sync fails nobody knows whether the name will be there tomorrow, so nothing may be
    /// acknowledged in the segment.
    func publish(_ bytes: [UInt8], as name: SegmentName, random: UInt64) throws(JournalError) {
        try journalErrors { () throws(FileError) in
            let folder = path + "/tmp"
            if try fileSystem.status(folder) == nil { try fileSystem.makeDirectory(folder) }
            let draft = folder + "/" + name.text + "." + hexadecimal(random, digits: 16)
            do throws(FileError) {
                let file = try fileSystem.open(draft, .createNew)
                try file.write(bytes, at: 0)
                try file.sync()
                try fileSystem.rename(draft, to: path + "/" + name.text, replacing: false)
            } catch {
                try? fileSystem.remove(draft)
                throw error
            }
        }
        try syncNames()
    }

    /// Makes the names in the directory durable; a failure is final.
    func syncNames() throws(JournalError) {
        do { try fileSystem.syncDirectory(path) } catch { throw .durabilityUnknown(error) }
    }

    /// Keeps bytes that recovery drops.
    func keepAside(_ bytes: [UInt8], of name: SegmentName, offset: UInt64) throws(JournalError) {
        try journalErrors { () throws(FileError) in
            let folder = path + "/aside"
            if try fileSystem.status(folder) == nil { try fileSystem.makeDirectory(folder) }
            let base = folder + "/" + name.text + "-" + hexadecimal(offset, digits: 8)
            var target = base + ".torn"
            var count = 1
            while try fileSystem.status(target) != nil {
                target = base + "-\(count).torn"
                count += 1
            }
            let file = try fileSystem.open(target, .createNew)
            try file.write(bytes, at: 0)
            try file.sync()
        }
    }
}
