/// Publishing a merged segment. Runs under LOCK.
extension LiveJournal {
    /// Puts a merged segment in the place of its inputs: name, directory sync, HEAD, then unlink.
    /// - Returns: False if the inputs are no longer what was merged; nothing is changed then.
    func replace(_ inputs: [SegmentName], with name: SegmentName, draft: String) throws(JournalError) -> Bool
    {
        try beginWriting()
        defer { endWriting() }
        guard let first = segments.firstIndex(where: { $0.name == inputs[0] }),
            first + inputs.count < segments.count,
            segments[first..<first + inputs.count].map(\.name) == inputs
        else { return false }
        let fileSystem = options.fileSystem
        if !options.rules.publishesBeforeUnlink {
            for input in inputs { try? fileSystem.remove(directory.path + "/" + input.text) }
        }
        let path = directory.path + "/" + name.text
        try journalErrors { () throws(FileError) in
            try fileSystem.rename(draft, to: path, replacing: false)
        }
        do { try fileSystem.syncDirectory(directory.path) } catch {
            // Nobody knows whether the name will be there tomorrow: it goes, so that nobody removes the inputs for its sake.
            try? fileSystem.rename(path, to: draft, replacing: false)
            throw .file(error)
        }
        let merged = Segment(name: name, in: directory)
        segments.replaceSubrange(first..<first + inputs.count, with: [merged])
        merged.setSuccessor(segments[first + 1])
        if first > 0 { segments[first - 1].setSuccessor(merged) }
        slot?.layout += 1
        try writeHead()
        for input in inputs {
            // One that stays is swept by the next compaction; readers know that it is replaced.
            try? fileSystem.remove(directory.path + "/" + input.text)
        }
        return true
    }

    /// Removes segments that a merged one stands for and drafts that a crash left; the caller holds COMPACT.
    func sweepReplaced() throws(JournalError) {
        try beginWriting()
        defer { endWriting() }
        try removeDrafts()
        let names = try directory.replacedNames()
        guard !names.isEmpty else { return }
        // Whoever published what stands for them may have been killed before its name was durable.
        try directory.syncNames()
        // Whoever still knows the old files has to look again.
        slot?.layout += 1
        try writeHead()
        for name in names {
            try journalErrors { () throws(FileError) in
                try options.fileSystem.remove(directory.path + "/" + name.text)
            }
        }
    }

    /// Empties `tmp`: whoever makes drafts holds LOCK or COMPACT, and the caller holds both.
    func removeDrafts() throws(JournalError) {
        let folder = directory.path + "/tmp"
        let fileSystem = options.fileSystem
        try journalErrors { () throws(FileError) in
            guard try fileSystem.status(folder) != nil else { return }
            for name in try fileSystem.list(folder).sorted() { try fileSystem.remove(folder + "/" + name) }
        }
    }
}
