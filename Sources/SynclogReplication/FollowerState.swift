internal import SynclogJournal

/// What the file FOLLOWER says: whom the journal follows, and with which zones.
///
/// The bytes are the CBOR array `[1, source id, zones or null, replaced by or null, holder]`, in a copy that is to be removed with a 1
/// behind them; later versions may append items.
struct FollowerState: Hashable, Sendable {
    private static let version: UInt64 = 1

    /// The identity of the source, which is the journal's own as well.
    var source: JournalID
    /// The zones that are copied; nil means all.
    var zones: ZoneNames?
    /// 16 random bytes under which the source keeps a lease for this follower.
    var holder: [UInt8]
    /// The name of the directory that takes this one's place, once a rebuild is complete.
    var replacedBy: String?
    /// Whether the replaced copy is of no use to anybody and goes.
    var isDropped = false

    init(source: JournalID, zones: ZoneNames?, holder: [UInt8], replacedBy: String? = nil) {
        self.source = source
        self.zones = zones
        self.holder = holder
        self.replacedBy = replacedBy
    }

    /// Understands the bytes, or nil if they are none.
    init?(_ bytes: [UInt8]) {
        var reader = CBORReader(bytes)
        do throws(CBORError) {
            let count = try reader.array()
            guard count >= 5, try reader.unsigned() == Self.version else { return nil }
            source = try reader.journalID()
            zones = try reader.optional { reader throws(CBORError) in try reader.zones() }
            replacedBy = try reader.optional { reader throws(CBORError) in try reader.text() }
            holder = try reader.byteString()
            isDropped = count > 5 ? try reader.unsigned() == 1 : false
        } catch {
            return nil
        }
    }

    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.array(isDropped ? 6 : 5)
        writer.unsigned(Self.version)
        writer.journalID(source)
        writer.optional(zones) { $0.zones($1) }
        writer.optional(replacedBy) { $0.text($1) }
        writer.byteString(holder)
        if isDropped { writer.unsigned(1) }
        return writer.bytes
    }
}
