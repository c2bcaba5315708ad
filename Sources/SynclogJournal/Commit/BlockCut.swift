/// Cuts stored blocks: to the commits after a head, or to some zones.
///
/// What need not be cut is passed on as it is.
enum BlockCut {
    /// Checks a block that came from elsewhere and adds its commits after `head` to a group.
    static func append(
        _ block: JournalBlock, after head: UInt64, to encoder: inout GroupEncoder, path: String
    ) throws(JournalError) {
        let raw = try content(of: block, path: path)
        if block.firstCommit > head {
            do throws(CBORError) {
                try encoder.add(block, raw: raw.span)
            } catch {
                throw damaged(path, "received block does not hold what it says")
            }
            return
        }
        for commit in try commits(of: raw, path: path) where commit.info.number > head {
            let (items, bounds) = encode(commit)
            let continued = !block.endsCommit && commit.info.number == block.lastCommit
            encoder.add(commit.info, items: items, bounds: bounds, continued: continued)
        }
    }

    /// The content of a block whose checksum is right; anything else is damage.
    static func content(of block: JournalBlock, path: String) throws(JournalError) -> [UInt8] {
        guard block.rawSize <= FormatLimits.blockRawSizeMax, block.firstCommit <= block.lastCommit,
            crc32c(block.payload) == block.checksum,
            let raw = LZ4Frame.decode(block.payload.span, rawSize: Int(block.rawSize))
        else { throw damaged(path, "received block does not match its checksum") }
        return raw
    }

    private static func damaged(_ path: String, _ reason: String) -> JournalError {
        .corrupted(Damage(file: path, offset: 0, reason: reason))
    }

    /// The commits of a block's content.
    static func commits(of raw: [UInt8], path: String) throws(JournalError) -> [Commit] {
        var commits: [Commit] = []
        let bytes = raw.span
        var parser = PayloadParser(bytes)
        do throws(CBORError) {
            while !parser.isAtEnd {
                switch try parser.next() {
                case .commit(let place): commits.append(Commit(info: place.info(in: bytes), entries: []))
                case .entry(let view):
                    guard let info = commits.last?.info else { throw CBORError(offset: parser.offset) }
                    commits[commits.count - 1].entries.append(view.entry(in: bytes, commit: info.number))
                }
            }
        } catch {
            throw damaged(path, "block holds no valid entries")
        }
        return commits
    }

    /// The entry items of a commit, and where each ends.
    static func encode(_ commit: Commit) -> (items: [UInt8], bounds: [Int]) {
        var items = CBORWriter()
        var bounds: [Int] = []
        for entry in commit.entries {
            items.entry(
                entry.operation, index: entry.index, key: entry.key,
                firstSeen: entry.firstSeen == commit.info.number ? 0 : entry.firstSeen, value: entry.value)
            bounds.append(items.bytes.count)
        }
        return (items.bytes, bounds)
    }
}
