#if DEBUG || FUZZING
    import SynclogTestKit
    import TestSupport

    @testable import SynclogJournal

    /// Files of a journal that an input has changed are opened, read, verified and written; what the first byte chooses:
    /// 0 changes as they are, 1 changes whose checksums are made right again, 2 the content of blocks, 3 the stored bytes of a
    /// block, 4 the bytes of a whole segment, 5 those of HEAD.
    func fuzzJournal(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let base = BaseJournal.shared
        var files = base.files
        let rest = Array(bytes.dropFirst())
        // Without repair nothing that was never written may be believed.
        var original: OriginalJournal?
        switch first % 6 {
        case 0:
            JournalEdits(rest[...]).apply(to: &files)
            original = OriginalJournal(base, damaged: files)
        case 1:
            guard let flags = rest.first else { return }
            JournalEdits(rest.dropFirst()).apply(to: &files)
            ChecksumRepair(flags: flags).run(&files)
        case 2: base.setLastSegment(&files, blocks: BaseJournal.contents(rest), keepsHead: first >= 128)
        case 3:
            guard rest.count > 2 else { return }
            let size = UInt32(rest[0]) << 8 | UInt32(rest[1])
            base.setLastSegment(&files, stored: Array(rest.dropFirst(2)), rawSize: size)
        case 4: files[base.last] = rest
        default: files["HEAD"] = rest
        }
        let system = base.system.copy()
        for name in base.files.keys where files[name] == nil { try? system.remove("/j/\(name)") }
        for (name, content) in files.sorted(by: { $0.key < $1.key }) {
            guard (try? system.setContents("/j/\(name)", content)) != nil else {
                fatalError("no file \(name)")
            }
        }
        JournalUse(files: system, original: original).run()
    }

    /// A small journal with a merged, a sealed and a live segment, the live one with an index of its beginning.
    struct BaseJournal {
        let system: MemoryFileSystem
        /// The segments and HEAD.
        let files: [String: [UInt8]]
        /// The live segment.
        let last: String
        /// What reading gives.
        let commits: [Commit]
        /// Where the last commit ends in the live segment.
        let end: Int

        static let shared = BaseJournal()
        static let zones: [UInt64] = [1, 2]
        static let names = 6

        static func key(_ turn: Int) -> EntryKey {
            EntryKey(space: .record, zone: zones[turn % 2], name: Array("k\(turn % names)".utf8))
        }

        /// Small segments, so that an input costs little.
        static func options(_ files: MemoryFileSystem) -> JournalOptions {
            var options = JournalOptions.test(files, segmentSize: 12 * 1024, blockSize: 1024)
            options.checkpointInterval = 1024
            options.zeroFillSize = 4096
            options.pause = { _ in }
            return options
        }

        private init() {
            system = MemoryFileSystem()
            do {
                let journal = try Journal.create(at: "/j", options: Self.options(system))
                var generator = SeededGenerator(seed: 7)
                for turn in 0..<26 {
                    let value = [0x59, 0x01, 0x80] + generator.bytes(0x180)
                    _ = try journal.commit { transaction throws(JournalError) in
                        try transaction.put(Self.key(turn), value: turn % 2 == 0 ? value : [0x61, 0x78])
                        if turn % 5 == 3 { try transaction.delete(Self.key(turn + 1), value: [0x80]) }
                    }
                    if turn == 7 { _ = try journal.compact(everything: true) }
                }
                commits = try journal.allCommits()
                journal.close()
            } catch {
                fatalError("the journal to begin with cannot be made: \(error)")
            }
            let image = system.image(of: "/j").filter { SegmentName($0.key) != nil || $0.key == "HEAD" }
            guard let last = image.keys.filter({ $0 != "HEAD" }).max() else { fatalError("no segment") }
            guard let head = system.head(of: "/j") else { fatalError("no HEAD") }
            end = head.end
            files = image
            self.last = last
        }

        /// The contents of blocks: each begins with its length in two bytes, high first.
        static func contents(_ bytes: [UInt8]) -> [[UInt8]] {
            var contents: [[UInt8]] = []
            var rest = bytes[...]
            while rest.count > 2, contents.count < 8 {
                let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
                rest = rest.dropFirst(2)
                contents.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return contents
        }

        /// Puts blocks of these contents behind the live segment's head, with headers that fit if the contents make sense.
        func setLastSegment(_ files: inout [String: [UInt8]], blocks: [[UInt8]], keepsHead: Bool) {
            guard var segment = files[last].map({ Array($0.prefix(SegmentHeader.size)) }) else { return }
            let salt = segment.word64(at: 3960)
            var chain = placeSeed(salt: salt, offset: 0)
            for raw in blocks {
                var stored: [UInt8] = []
                LZ4Frame.compress(raw, .low, into: &stored)
                chain = Self.append(stored, Self.facts(of: raw), salt, chain, to: &segment)
            }
            files[last] = segment
            if !keepsHead { files["HEAD"] = nil }
        }

        /// Puts one block with these stored bytes behind the live segment's head.
        func setLastSegment(_ files: inout [String: [UInt8]], stored: [UInt8], rawSize: UInt32) {
            guard var segment = files[last].map({ Array($0.prefix(SegmentHeader.size)) }) else { return }
            let salt = segment.word64(at: 3960)
            let first = segment.word64(at: 3904)
            let facts = Facts(first: first, last: first, entries: 1, ends: true, rawSize: rawSize)
            _ = Self.append(stored, facts, salt, placeSeed(salt: salt, offset: 0), to: &segment)
            files[last] = segment
            files["HEAD"] = nil
        }

        private struct Facts {
            var first: UInt64 = 0
            var last: UInt64 = 0
            var entries: UInt32 = 0
            var ends = true
            var rawSize: UInt32 = 0
        }

        /// What a block's header must say about its content.
        private static func facts(of raw: [UInt8]) -> Facts {
            var facts = Facts(rawSize: UInt32(raw.count))
            var parser = PayloadParser(raw.span)
            while !parser.isAtEnd, let item = try? parser.next() {
                switch item {
                case .commit(let commit):
                    if facts.first == 0 { facts.first = commit.number }
                    facts.last = commit.number
                    facts.ends = !commit.continued
                case .entry: facts.entries += 1
                }
            }
            facts.last = max(facts.first, facts.last)
            return facts
        }

        private static func append(
            _ stored: [UInt8], _ facts: Facts, _ salt: UInt64, _ chain: UInt32, to segment: inout [UInt8]
        ) -> UInt32 {
            let header = BlockHeader(
                storedSize: UInt32(stored.count), rawSize: facts.rawSize, firstCommit: facts.first,
                lastCommit: facts.last, entryCount: facts.entries, endsCommit: facts.ends,
                payloadCRC: crc32c(stored), syncedThrough: 0, previousCRC: chain, checkpoint: 0)
            let place = segment.count
            segment += [UInt8](repeating: 0, count: BlockHeader.size)
            let checksum = header.write(into: &segment, at: place, salt: salt, offset: UInt64(place))
            segment += stored
            return checksum
        }
    }

    /// One byte of every field that is not the content of a block, and numbers in place of it: segment headers, block headers,
    /// index pages, footers, HEAD.
    func journalDamages() -> [[UInt8]] {
        let files = BaseJournal.shared.files
        var damages: [[UInt8]] = []
        for (file, name) in files.keys.sorted().enumerated() {
            guard let content = files[name] else { continue }
            let frames = JournalFiles.frames(content)
            let first = frames.indices.filter { place in
                !frames[..<place].contains { $0.kind == frames[place].kind }
            }
            let places = name == "HEAD" ? [0, 1] : [0] + first.map { $0 + 2 }
            for place in places {
                // Every field of four bytes or more; the last ones of a header are its checksum.
                for offset in stride(from: place % 4, to: name == "HEAD" ? 100 : 64, by: 4) {
                    damages.append([0, UInt8(file), UInt8(place), 0, UInt8(offset), 0x41])
                }
                // The numbers that break arithmetic, under checksums that are made right.
                for offset in stride(from: 0, to: 160, by: 4) {
                    for (kind, number) in [(0x70, 19), (0xA0, 25), (0xA0, 22), (0xA0, 0)] {
                        damages.append([
                            1, 0xFF, UInt8(kind | file), UInt8(place), 0, UInt8(offset), UInt8(number),
                        ])
                    }
                }
            }
        }
        return damages
    }
#endif
