internal import Synchronization

/// A blocked Bloom filter over fingerprints: lines of 16 bytes, six bits a key in one line.
enum KeyFilter {
    static let lineSize = 16
    private static let bitsPerKey = 10

    static func lineCount(keys: Int) -> Int { (keys * bitsPerKey + 127) / 128 }

    /// The line of a fingerprint.
    @inline(__always)
    static func line(_ fingerprint: UInt64, lines: Int) -> Int {
        Int((fingerprint & 0xFFFF_FFFF).multipliedReportingOverflow(by: UInt64(lines)).partialValue >> 32)
    }

    /// The filter of keys, two words a line.
    static func words(_ keys: [KeyRow], lines: Int) -> [FilterWord] {
        var words = [FilterWord](repeating: FilterWord(bits: 0), count: lines * 2)
        guard lines > 0 else { return words }
        for row in keys {
            let at = line(row.fingerprint, lines: lines) * 2
            let probe = KeyProbe(row.fingerprint)
            words[at].bits |= probe.low
            words[at + 1].bits |= probe.high
        }
        return words
    }
}

/// What is looked for in the filters of one index after the other: a fingerprint and its bits in a line.
struct KeyProbe {
    let fingerprint: UInt64
    let low: UInt64
    let high: UInt64
    private static let bitCount = 6

    init(_ fingerprint: UInt64) {
        self.fingerprint = fingerprint
        var bits = (fingerprint >> 32) &* 0x9E37_79B9_7F4A_7C15
        var low: UInt64 = 0
        var high: UInt64 = 0
        for _ in 0..<Self.bitCount {
            let bit = bits >> 57
            if bit < 64 { low |= 1 << bit } else { high |= 1 << (bit - 64) }
            bits = bits << 7 | bits >> 57
        }
        self.low = low
        self.high = high
    }

    init(_ key: EntryKey) {
        self.init(synclogFingerprint(space: key.space, zone: key.zone, name: key.name.span))
    }

    /// Whether a filter's line has all the bits.
    @inline(__always)
    func matches(_ low: UInt64, _ high: UInt64) -> Bool {
        low & self.low == self.low && high & self.high == self.high
    }
}

/// The filter of one index in memory, once it has been asked so often that reading all of it costs no more than that did.
///
/// Sendable: the words are set once and never changed; the pointer is published with release and read with acquire order,
/// and freed with the object.
@safe
final class LoadedFilter: @unchecked Sendable {
    /// A larger filter stays on disk, so that memory does not grow with records.
    private static let linesMax = 4 << 20 / KeyFilter.lineSize
    private static let linesInPage = IndexLayout.payload / KeyFilter.lineSize
    private let words: Atomic<UnsafeMutablePointer<UInt64>?>
    private let asked = Atomic<Int>(0)

    init() { unsafe words = Atomic(nil) }

    deinit { unsafe words.load(ordering: .acquiring)?.deallocate() }

    /// The answer, or nil if the filter is not in memory.
    @inline(__always)
    func mayContain(_ probe: KeyProbe, lines: Int) -> Bool? {
        guard let words = unsafe words.load(ordering: .acquiring) else { return nil }
        let at = KeyFilter.line(probe.fingerprint, lines: lines) * 2
        return unsafe probe.matches(words[at], words[at + 1])
    }

    /// Counts one more question; whether it is time to load.
    func isWanted(lines: Int) -> Bool {
        lines <= Self.linesMax
            && asked.add(1, ordering: .relaxed).newValue == lines / Self.linesInPage + 2
    }

    /// Takes the words.
    func load(_ content: [UInt64]) {
        let copy = UnsafeMutablePointer<UInt64>.allocate(capacity: content.count)
        unsafe copy.initialize(from: content, count: content.count)
        let (exchanged, _) = unsafe words.compareExchange(
            expected: nil, desired: copy, ordering: .acquiringAndReleasing)
        if !exchanged { unsafe copy.deallocate() }
    }
}
