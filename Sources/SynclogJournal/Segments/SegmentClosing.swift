/// What sealing puts behind the last block: a filler up to the next page, the index, the footer.
struct SegmentClosing {
    let bytes: [UInt8]
    /// The size in bytes of the whole file.
    let size: UInt64

    init(index: IndexContent, end: UInt64, lastCommit: UInt64, chain: UInt32, salt: UInt64) {
        let page = UInt64(IndexLayout.page)
        let first = (end + 16 + page - 1) / page * page
        var bytes = LZ4Frame.skippableHead(LZ4Frame.fillerMagic, size: first - 8 - end - 8)
        bytes += [UInt8](repeating: 0, count: Int(first - 8 - end) - bytes.count)
        let pages = index.pages(salt: salt, offset: first, earlier: [], filtered: true)
        bytes += LZ4Frame.skippableHead(LZ4Frame.indexMagic, size: UInt64(pages.count))
        bytes += pages
        size = first + UInt64(pages.count) + UInt64(SegmentFooter.size)
        let footer = SegmentFooter(
            indexOffset: first, indexPages: UInt32(pages.count / IndexLayout.page),
            blockCount: UInt32(index.blocks.count), blocksEnd: end, lastCommit: lastCommit, chain: chain,
            entryCount: index.entryCount, fileSize: size, root: Array(pages[..<IndexLayout.rootSize]))
        bytes += footer.encoded(salt: salt)
        self.bytes = bytes
    }
}
