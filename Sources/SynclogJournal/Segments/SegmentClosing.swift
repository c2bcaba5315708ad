/// What sealing puts behind the last block: a filler up to the next page, the index, the footer.
struct SegmentClosing {
    private let pages: IndexPages
    private let end: UInt64
    private let firstPage: UInt64
    private let footer: [UInt8]
    /// The size in bytes of the whole file.
    let size: UInt64
    private static let chunkSize = 256 * 1024

    init(index: consuming IndexContent, end: UInt64, lastCommit: UInt64, chain: UInt32, salt: UInt64) {
        let page = UInt64(IndexLayout.page)
        self.end = end
        firstPage = (end + 16 + page - 1) / page * page
        let (blockCount, entryCount) = (index.blocks.count, index.entryCount)
        pages = IndexPages(index, salt: salt, offset: firstPage, earlier: [])
        size = firstPage + UInt64(pages.count) * page + UInt64(SegmentFooter.size)
        footer = SegmentFooter(
            indexOffset: firstPage, indexPages: UInt32(pages.count), blockCount: UInt32(blockCount),
            blocksEnd: end, lastCommit: lastCommit, chain: chain, entryCount: entryCount, fileSize: size,
            root: pages.root
        ).encoded(salt: salt)
    }

    /// Writes everything; the footer, without which the rest counts for nothing, goes last.
    func write(to file: any File) throws(FileError) {
        var bytes = LZ4Frame.skippableHead(LZ4Frame.fillerMagic, size: firstPage - 8 - end - 8)
        bytes += repeatElement(0, count: Int(firstPage - 8 - end) - bytes.count)
        bytes += LZ4Frame.skippableHead(LZ4Frame.indexMagic, size: UInt64(pages.count * IndexLayout.page))
        var place = end
        for number in 0..<pages.count {
            pages.append(number, to: &bytes)
            guard bytes.count >= Self.chunkSize else { continue }
            try file.write(bytes, at: place)
            place += UInt64(bytes.count)
            bytes.removeAll(keepingCapacity: true)
        }
        try file.write(bytes + footer, at: place)
    }
}
