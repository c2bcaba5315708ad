internal import SynclogJournal

/// Which zone numbers the zones of a filter have had; a zone that is made again gets a new number.
struct ZoneIndex {
    private let names: ZoneNames
    private(set) var numbers: Set<UInt64> = []
    private(set) var found: Set<[UInt8]> = []
    private var scanned: UInt64 = 0

    init(_ names: ZoneNames) { self.names = names }

    /// The first name in the filter that no zone has ever had.
    var missing: String? {
        names.encoded.first { !found.contains($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads the zone entries that came since the last call, up to the known head.
    mutating func catchUp(_ journal: Journal, through head: UInt64) throws(JournalError) {
        guard head > scanned else { return }
        var reader = try journal.read(after: .end(of: scanned), filter: ReadFilter(spaces: [.zone]))
        while let commit = try reader.next(), commit.info.number <= head {
            for entry in commit.entries where entry.key.space == .zone && entry.operation == .put {
                guard let name = Self.name(of: entry.key), names.encoded.contains(name) else { continue }
                numbers.insert(commit.info.number)
                found.insert(name)
            }
        }
        scanned = head
    }

    /// The zone's name in a zone entry's key, which is `[owner, name]`.
    static func name(of key: EntryKey) -> [UInt8]? {
        var reader = CBORReader(key.name)
        do throws(CBORError) {
            guard try reader.array() >= 2 else { return nil }
            try reader.skip()
            return Array(try reader.text().utf8)
        } catch {
            return nil
        }
    }
}
