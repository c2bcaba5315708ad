/// What HEAD proves: everything up to this place is durable.
struct HeadSlot: Hashable, Sendable {
    static let size = 512
    private static let magic: UInt64 = 0x4441_4548_434E_5953  // "SYNCHEAD"

    var counter: UInt64
    var journal: JournalID
    var session: UInt64
    var layout: UInt64
    var segment: UInt64
    var generation: UInt32
    var end: UInt64
    var lastCommit: UInt64
    var chain: UInt32
    var boot: UInt64
    var inode: UInt64
    var clock: Int64
    var checkpoint: UInt64

    /// Fills in a slot of zeros, or one that was filled in before.
    func write(into bytes: inout [UInt8]) {
        bytes.setWord64(Self.magic, at: 0)
        bytes.setWord64(counter, at: 8)
        bytes.setWord64(journal.high, at: 16)
        bytes.setWord64(journal.low, at: 24)
        bytes.setWord64(session, at: 32)
        bytes.setWord64(layout, at: 40)
        bytes.setWord64(segment, at: 48)
        bytes.setWord32(generation, at: 56)
        bytes.setWord64(end, at: 64)
        bytes.setWord64(lastCommit, at: 72)
        bytes.setWord32(chain, at: 80)
        bytes.setWord64(boot, at: 88)
        bytes.setWord64(inode, at: 96)
        bytes.setWord64(UInt64(bitPattern: clock), at: 104)
        bytes.setWord64(checkpoint, at: 112)
        bytes.setWord32(bytes.crc(0..<508), at: 508)
    }

    /// The valid slot with the higher counter among the bytes of HEAD, for this journal and directory; or nil.
    static func newest(_ bytes: [UInt8], journal: JournalID, inode: UInt64) -> HeadSlot? {
        let slots = [0, 512].compactMap { start -> HeadSlot? in
            guard start + size <= bytes.count else { return nil }
            return HeadSlot(Array(bytes[start..<start + size]))
        }
        return slots.filter { $0.journal == journal && $0.inode == inode }.max { $0.counter < $1.counter }
    }

    /// The highest counter of any valid slot, whoever it belongs to.
    static func highestCounter(_ bytes: [UInt8]) -> UInt64 {
        [0, 512].compactMap { start in
            start + size <= bytes.count ? HeadSlot(Array(bytes[start..<start + size]))?.counter : nil
        }.max() ?? 0
    }

    private init?(_ bytes: [UInt8]) {
        guard bytes.word64(at: 0) == Self.magic,
            bytes.word32(at: 508) == bytes.crc(0..<508)
        else { return nil }
        counter = bytes.word64(at: 8)
        journal = JournalID(high: bytes.word64(at: 16), low: bytes.word64(at: 24))
        session = bytes.word64(at: 32)
        layout = bytes.word64(at: 40)
        segment = bytes.word64(at: 48)
        generation = bytes.word32(at: 56)
        end = bytes.word64(at: 64)
        lastCommit = bytes.word64(at: 72)
        chain = bytes.word32(at: 80)
        boot = bytes.word64(at: 88)
        inode = bytes.word64(at: 96)
        clock = Int64(bitPattern: bytes.word64(at: 104))
        checkpoint = bytes.word64(at: 112)
        guard max(counter, segment, lastCommit, layout) <= FormatLimits.numberMax,
            max(end, checkpoint) <= FormatLimits.numberMax, clock <= Int64(FormatLimits.numberMax)
        else { return nil }
    }
}

extension HeadSlot {
    /// Makes a slot from its facts.
    init(
        counter: UInt64, journal: JournalID, session: UInt64, layout: UInt64, segment: UInt64,
        generation: UInt32,
        end: UInt64, lastCommit: UInt64, chain: UInt32, boot: UInt64, inode: UInt64, clock: Int64,
        checkpoint: UInt64
    ) {
        self.counter = counter
        self.journal = journal
        self.session = session
        self.layout = layout
        self.segment = segment
        self.generation = generation
        self.end = end
        self.lastCommit = lastCommit
        self.chain = chain
        self.boot = boot
        self.inode = inode
        self.clock = clock
        self.checkpoint = checkpoint
    }
}
