/// Where the sections of an index lie in the stream that its pages carry.
struct IndexLayout: Hashable, Sendable {
    static let page = 4096
    /// The bytes of a page that belong to the stream: a multiple of every row's size.
    static let payload = 4080
    static let rootSize = 96
    static let magic: UInt32 = 0x5844_4953  // "SIDX"
    /// Sections begin at multiples of this, so that no row crosses a page.
    private static let alignment = 48

    let counts: [Int]
    let blocks: Int
    let keys: Int
    let groups: Int
    let zones: Int
    let sessions: Int
    let filter: Int
    let pageCount: Int

    var filterLines: Int { counts[5] }

    init(blocks: Int, keys: Int, groups: Int, zones: Int, sessions: Int, filterLines: Int, earlier: Int) {
        counts = [blocks, keys, groups, zones, sessions, filterLines, earlier]
        var end = Self.rootSize + earlier * 4
        func section(_ size: Int) -> Int {
            let start = (end + Self.alignment - 1) / Self.alignment * Self.alignment
            end = start + size
            return start
        }
        self.blocks = section(blocks * BlockRow.size)
        self.keys = section(keys * KeyRow.size)
        self.groups = section(groups * GroupRow.size)
        self.zones = section(zones * ZoneRow.size)
        self.sessions = section(sessions * SessionRow.size)
        filter = section(filterLines * KeyFilter.lineSize)
        pageCount = (end + Self.payload - 1) / Self.payload
    }
}
