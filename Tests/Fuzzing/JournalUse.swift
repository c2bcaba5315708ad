#if DEBUG || FUZZING
    import SynclogTestKit
    import TestSupport

    @testable import SynclogJournal

    /// Opens a journal's files whatever they hold, in all ways there are; what one way finds, the others find.
    struct JournalUse {
        let files: MemoryFileSystem
        /// What was written, if the changes can only be damage.
        let original: OriginalJournal?

        private var options: JournalOptions { BaseJournal.options(files) }

        func run() {
            let before = read()
            salvage()
            write(after: before)
        }

        /// What reading found; nil if something is wrong.
        private func read() -> JournalModel? {
            var options = options
            options.acceptsLostEnd = true
            guard let journal = try? Journal.open(at: "/j", mode: .readOnly, options: options) else {
                return nil
            }
            defer { journal.close() }
            let report = try? journal.verify()
            _ = try? journal.statistics()
            _ = try? journal.floors()
            _ = try? journal.leases()
            _ = try? journal.sessions(through: .max, limit: 5)
            let (forward, whole) = Self.commits { () throws(JournalError) in try journal.read() }
            let (backward, wholeBackward) = Self.commits { () throws(JournalError) in
                try journal.readBackward()
            }
            let head = try? journal.head()
            original?.checkForward(forward)
            original?.checkSome(backward)
            for key in (0..<BaseJournal.names).map(BaseJournal.key) {
                guard let position = Self.found({ () throws(JournalError) in try journal.position(of: key) }),
                    let entry = Self.found({ () throws(JournalError) in try journal.entry(for: key) })
                else { continue }
                require(entry?.commit.number == position?.commit, "an entry has two positions")
                require(entry.map { $0.entry.key == key } ?? true, "a look-up finds another key")
                if let head { original?.checkLookUp(key, entry, through: head.commit) }
            }
            let blocks = Self.blocks(journal)
            original?.checkSome(blocks ?? [])
            guard let report, report.isSound, journal.lostEnd == nil, let head else { return nil }
            original?.checkHead(head.commit, pending: head.recoveryPending)
            original?.checkSound()
            // All checks passed, so nothing may fail and everything must agree.
            // A seal that a crash cut short is no damage, but in the way of readers until a writer comes.
            if head.recoveryPending, !whole || !wholeBackward { return nil }
            require(whole && wholeBackward, "a sound journal is not read to its end")
            require(forward == backward.reversed(), "reading backward finds something else")
            var last: UInt64 = 0
            for commit in forward {
                require(commit.info.number > last, "commits do not rise in a sound journal")
                last = commit.info.number
            }
            require(last <= head.commit, "a commit lies beyond the head")
            var model = JournalModel()
            model.commits = forward
            check(journal, model, after: "reading")
            require(blocks == forward.filter { !$0.entries.isEmpty }, "blocks hold something else")
            for filter in [
                ReadFilter(zones: [2]), ReadFilter(spaces: [.session]),
                ReadFilter(zones: [1], spaces: [.record]),
            ] {
                let (found, isWhole) = Self.commits { () throws(JournalError) in
                    try journal.read(filter: filter)
                }
                require(isWhole && found == model.read(filter: filter), "a filter finds something else")
            }
            return head.recoveryPending ? nil : model
        }

        /// Reading around damage ends, and commits rise all the same.
        private func salvage() {
            guard let journal = try? Journal.open(at: "/j", mode: .readOnly, options: options) else { return }
            defer { journal.close() }
            guard var reader = try? journal.read() else { return }
            reader.onDamage = { _ in }
            var count = 0
            while let commit = (try? reader.next()) ?? nil {
                count += 1
                original?.checkSome([commit])
                require(count < 1_000_000, "reading around damage has no end")
            }
        }

        /// Writes, merges and opens again; what was there stays.
        private func write(after before: JournalModel?) {
            let journal: Journal
            do throws(JournalError) {
                journal = try Journal.open(at: "/j", options: options)
            } catch {
                require(before == nil || Self.isOfNewerVersion(error), "a sound journal cannot be written")
                return
            }
            let key = EntryKey(space: .state, name: [1])
            let made = try? journal.commit { transaction throws(JournalError) in
                try transaction.put(key, value: [0x01])
            }
            var isMerged = true
            do throws(JournalError) {
                _ = try journal.compact(everything: true)
            } catch {
                isMerged = Self.isOfNewerVersion(error)
            }
            journal.close()
            guard let number = made?.commit?.number else {
                require(before == nil, "a sound journal takes no commit")
                return
            }
            require(before == nil || isMerged, "a sound journal cannot be merged")
            guard let again = try? Journal.open(at: "/j", options: options) else {
                require(before == nil, "a sound journal cannot be opened after it was written")
                return
            }
            defer { again.close() }
            if let found = try? again.entry(for: key) {
                require(found.commit.number >= number, "an acknowledged commit is not found")
            }
            original?.checkWritten(again)
            guard var model = before else { return }
            guard let stored = try? again.entry(for: key), stored.commit.number == number else {
                fatalError("an acknowledged commit is lost")
            }
            model.commits.append(Commit(info: stored.commit, entries: [stored.entry]))
            check(again, model, after: "writing")
            let report = try? again.verify()
            require(report?.isSound ?? false, "a sound journal is damaged by writing")
        }

        /// A compatible flag that this version does not know: the files are sound, and only for reading.
        private static func isOfNewerVersion(_ error: JournalError) -> Bool {
            if case .unsupported = error { true } else { false }
        }

        private func check(_ journal: Journal, _ model: JournalModel, after what: String) {
            for key in model.keys.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                // Writing may begin a session and hand out numbers.
                if key.space == .session || key.space == .reserve { continue }
                guard let expected = model.entry(for: key) else { continue }
                let found = (try? journal.entry(for: key)) ?? nil
                if found == nil, expected.entry.operation == .delete, what == "writing" { continue }
                require(
                    found?.entry == expected.entry && found?.commit.number == expected.commit.number,
                    "after \(what) look-up finds another version than reading")
            }
        }

        /// What a look-up found, or nil if it failed.
        static func found<Value>(_ look: () throws(JournalError) -> Value?) -> Value?? {
            do throws(JournalError) { return .some(try look()) } catch { return nil }
        }

        /// All commits of a reader, and whether it came to the end.
        private static func commits(_ make: () throws(JournalError) -> JournalReader) -> (
            [Commit], whole: Bool
        ) {
            var commits: [Commit] = []
            do throws(JournalError) {
                var reader = try make()
                while let commit = try reader.next() {
                    commits.append(commit)
                    require(commits.count < 1_000_000, "reading has no end")
                }
            } catch {
                return (commits, false)
            }
            return (commits, true)
        }

        /// What a follower would get, or nil if it gets an error.
        private static func blocks(_ journal: Journal) -> [Commit]? {
            var commits: [Commit] = []
            var after: UInt64 = 0
            while true {
                guard let blocks = try? journal.blocks(after: after, sizeMax: 4096) else { return nil }
                guard let last = blocks.last else { return commits.filter { !$0.entries.isEmpty } }
                require(last.lastCommit > after, "blocks do not go on")
                for block in blocks {
                    guard let raw = try? BlockCut.content(of: block, path: "/j"),
                        let parts = try? BlockCut.commits(of: raw, path: "/j")
                    else { return nil }
                    for part in parts {
                        if commits.last?.info.number == part.info.number {
                            commits[commits.count - 1].entries += part.entries
                        } else {
                            commits.append(part)
                        }
                    }
                }
                after = last.lastCommit
            }
        }
    }

    func journalSeeds() -> [[UInt8]] {
        let base = BaseJournal.shared
        func content(_ body: (inout CBORWriter) -> Void) -> [UInt8] {
            var writer = CBORWriter()
            body(&writer)
            return [UInt8(writer.bytes.count >> 8), UInt8(truncatingIfNeeded: writer.bytes.count)]
                + writer.bytes
        }
        guard let segment = base.files[base.last], let head = base.files["HEAD"] else { return [] }
        let number = segment.word64(at: 3904)
        func commit(_ writer: inout CBORWriter, _ number: UInt64, continued: Bool = false) {
            let info = CommitInfo(
                number: number, clock: 1_800_000_000_000_000 + Int64(number), wall: 5, device: 0,
                zones: [ZoneLink(zone: 1, previous: 3)])
            _ = writer.commit(info, continued: continued)
        }
        func entries(_ writer: inout CBORWriter, from index: UInt32 = 0) {
            writer.entry(.put, index: index, key: BaseJournal.key(2), firstSeen: 0, value: [0x01])
            writer.entry(.delete, index: index + 1, key: BaseJournal.key(4), firstSeen: 9, value: [0x80])
            writer.entry(
                .note, index: index + 2, key: EntryKey(space: .state, name: [7]), firstSeen: 0,
                value: [0x61, 0x78])
        }
        let whole = content { writer in
            commit(&writer, number)
            entries(&writer)
            commit(&writer, number + 1)
            writer.entry(
                .put, index: 0, key: EntryKey(space: .session, name: [UInt8](repeating: 3, count: 8)),
                firstSeen: 0,
                value: [0x80])
        }
        let first = content { writer in
            commit(&writer, number, continued: true)
            entries(&writer)
        }
        let second = content { writer in
            commit(&writer, number)
            entries(&writer, from: 5)
        }
        var stored: [UInt8] = []
        LZ4Frame.compress(Array(whole.dropFirst(2)), .low, into: &stored)
        let rawSize = whole.count - 2
        return [
            [0], [0, 0, 2, 0, 70, 1], [0, 2, 3, 0, 9, 255], [0, 0xC2, 4, 0, 3, 0], [0, 0xF1, 0, 0, 0, 0],
            [1, 0xFF], [1, 0xFF, 1, 2, 0, 16, 9], [1, 0xFF, 0x70, 3, 0, 8, 12], [1, 0xFF, 0xA0, 0, 0, 64, 5],
            [1, 0xFF, 0x71, 7, 0, 52, 16], [1, 0xFF, 0xC2, 6, 0, 0, 0], [2] + whole, [128] + whole,
            [2] + first + second,
            [2] + first, [3, UInt8(rawSize >> 8), UInt8(truncatingIfNeeded: rawSize)] + stored,
            [4] + segment.prefix(6000), [5] + head, [5] + head.prefix(512), [5],
        ] + journalDamages()
    }
#endif
