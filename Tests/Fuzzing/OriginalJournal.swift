#if DEBUG || FUZZING
    import SynclogJournal
    import TestSupport

    /// What a journal held before it was damaged: what is found afterwards was there, or an error says that it is not.
    struct OriginalJournal {
        /// All commits.
        let commits: [Commit]
        /// Whether HEAD is whole, so that the end must be known.
        let keepsHead: Bool
        /// Whether a byte of a segment before its end is another one, or missing.
        let isDamaged: Bool
        /// Whether all segments are whole, whatever HEAD says.
        let keepsSegments: Bool

        init(_ base: BaseJournal, damaged files: [String: [UInt8]]) {
            commits = base.commits
            keepsHead = files["HEAD"] == base.files["HEAD"]
            keepsSegments = base.files.allSatisfy { $0.key == "HEAD" || files[$0.key] == $0.value }
            isDamaged = base.files.contains { name, bytes in
                guard name != "HEAD" else { return false }
                guard let found = files[name] else { return true }
                let end = name == base.last ? base.end : bytes.count
                // What a filler holds means nothing.
                let fillers = JournalFiles.frames(bytes).filter { $0.kind == 0x5F && $0.offset < end }
                var place = 0
                for range in fillers.map({ ($0.offset + 8, $0.offset + $0.size) }) + [(end, end)] {
                    let whole = bytes[place..<range.0]
                    if !found.dropFirst(place).prefix(whole.count).elementsEqual(whole) { return true }
                    place = range.1
                }
                return false
            }
        }

        /// Reading from the start gives the first commits and leaves none out.
        func checkForward(_ found: [Commit]) {
            require(found.count <= commits.count, "more is read than was written")
            require(
                zip(found, commits).allSatisfy { $0 == $1 }, "reading damage gives what was not written there"
            )
        }

        /// Each of these was written as it is.
        func checkSome(_ found: [Commit]) {
            for commit in found {
                require(
                    commits.contains { $0 == commit },
                    "commit \(commit.info.number) is not what was written")
            }
        }

        /// A look-up that does not fail finds the newest version.
        func checkLookUp(_ key: EntryKey, _ found: StoredEntry?, through head: UInt64) {
            var model = JournalModel()
            model.commits = commits
            let expected = model.through(head).entry(for: key)
            require(
                found?.entry == expected?.entry && found?.commit.number == expected?.commit.number,
                "a look-up finds another version than the newest")
        }

        /// Changed bytes before the end that HEAD tells are found by verifying.
        func checkSound() {
            if keepsHead { require(!isDamaged, "verifying does not see damage") }
        }

        /// What is written to segments that are whole loses nothing, whatever was made of HEAD.
        func checkWritten(_ journal: Journal) {
            guard keepsSegments else { return }
            for key in (0..<BaseJournal.names).map(BaseJournal.key) {
                guard let found = JournalUse.found({ () throws(JournalError) in try journal.entry(for: key) })
                else { continue }
                checkLookUp(key, found, through: .max)
            }
        }

        /// The end of a journal without damage is the last commit, if HEAD told it.
        func checkHead(_ commit: UInt64, pending: Bool) {
            if keepsHead, !pending {
                require(commit == commits.last?.info.number, "the end is lost in silence")
            }
        }
    }

    extension Journal {
        /// Everything that reading forward gives.
        @available(*, noasync)
        func allCommits() throws(JournalError) -> [Commit] {
            var reader = try read()
            var commits: [Commit] = []
            while let commit = try reader.next() { commits.append(commit) }
            return commits
        }
    }
#endif
