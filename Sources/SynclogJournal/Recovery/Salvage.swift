/// The blocks of a segment that are whole, found without its index.
struct Salvage {
    let segment: OpenSegment
    let rows: [BlockRow]

    /// Looks at every byte of a segment file; nil if not even its header can be read.
    init?(_ name: Segment, snapshot: JournalSnapshot) throws(JournalError) {
        guard let (file, header) = try? name.openFile() else { return nil }
        segment = OpenSegment(
            path: name.path, file: file, header: header, budget: snapshot.directory.budget)
        let size = try journalErrors { () throws(FileError) in try file.status() }.size
        var scanner = FrameScanner(
            file: file, salt: header.salt, offset: UInt64(SegmentHeader.size), limit: size,
            chain: header.chainStart)
        var rows: [BlockRow] = []
        scanning: while true {
            switch try scanner.next() {
            case .block(let block, let raw):
                guard block.lastCommit <= snapshot.proven else { break scanning }
                var tail = TailIndex()
                if (try? tail.add(block, at: scanner.frameOffset, raw: raw.span)) != nil {
                    rows += tail.blocks
                }
            case .index, .filler, .footer: continue
            case .end: break scanning
            case .damaged:
                guard let found = try scanner.findHeader() else { break scanning }
                scanner.resume(at: found.offset, chain: found.header.previousCRC)
            }
        }
        self.rows = rows
    }
}
