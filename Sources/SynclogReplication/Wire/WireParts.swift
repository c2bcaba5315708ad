internal import SynclogJournal

// The parts that messages are made of. Each array may be longer in a newer version; the rest is skipped.

extension CBORWriter {
    mutating func optional<Value>(_ value: Value?, _ body: (inout CBORWriter, Value) -> Void) {
        if let value { body(&self, value) } else { null() }
    }

    mutating func journalID(_ id: JournalID) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for half in [id.high, id.low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: half >> UInt64(shift)))
            }
        }
        byteString(bytes)
    }

    mutating func head(_ head: JournalHead) {
        array(3)
        unsigned(head.commit)
        unsigned(head.session)
        bool(head.recoveryPending)
    }

    mutating func zones(_ zones: ZoneNames) {
        array(zones.encoded.count)
        for name in zones.encoded { text(String(decoding: name, as: UTF8.self)) }
    }

    mutating func cursor(_ cursor: Cursor) {
        array(7)
        unsigned(UInt64(cursor.kind.rawValue))
        journalID(cursor.journal)
        unsigned(cursor.session)
        unsigned(cursor.position.commit)
        unsigned(UInt64(cursor.position.index))
        unsigned(cursor.scope)
        unsigned(cursor.bound)
    }

    mutating func block(_ block: JournalBlock) {
        array(7)
        unsigned(UInt64(block.rawSize))
        unsigned(block.firstCommit)
        unsigned(block.lastCommit)
        unsigned(UInt64(block.entryCount))
        bool(block.endsCommit)
        unsigned(UInt64(block.checksum))
        byteString(block.payload)
    }

    mutating func refusal(_ refusal: FollowRefusal) {
        switch refusal {
        case .expired(let floor):
            array(2)
            unsigned(1)
            unsigned(floor)
        case .rolledBack(let common):
            array(2)
            unsigned(2)
            optional(common) { $0.unsigned($1) }
        case .foreign(let found):
            array(2)
            unsigned(3)
            journalID(found)
        case .ahead(let commit):
            array(2)
            unsigned(4)
            unsigned(commit)
        case .filtered(let names):
            array(2)
            unsigned(5)
            zones(names)
        case .unknownZone(let name):
            array(2)
            unsigned(6)
            text(name)
        case .malformed:
            array(1)
            unsigned(7)
        case .failed(let reason):
            array(2)
            unsigned(8)
            text(reason)
        }
    }
}

extension CBORReader {
    /// Refuses an array with fewer items than this version needs.
    func need(_ count: Int, of found: Int) throws(CBORError) {
        guard found >= count else { throw error() }
    }

    mutating func optional<Value>(
        _ body: (inout CBORReader) throws(CBORError) -> Value
    ) throws(CBORError) -> Value? {
        try nullIfPresent() ? nil : try body(&self)
    }

    /// Reads an array of at most `max` items; more would only be there to take memory.
    mutating func list<Value>(
        max: Int, _ body: (inout CBORReader) throws(CBORError) -> Value
    ) throws(CBORError) -> [Value] {
        let failure = error()
        let count = try array()
        guard count <= max else { throw failure }
        var values: [Value] = []
        for _ in 0..<count { values.append(try body(&self)) }
        return values
    }

    /// Reads an array of at least `known` items and skips the ones behind them.
    mutating func fields<Value>(
        _ known: Int, _ body: (inout CBORReader) throws(CBORError) -> Value
    ) throws(CBORError) -> Value {
        let count = try array()
        try need(known, of: count)
        let value = try body(&self)
        for _ in known..<count { try skip() }
        return value
    }

    mutating func unsigned32() throws(CBORError) -> UInt32 {
        let failure = error()
        guard let value = UInt32(exactly: try unsigned()) else { throw failure }
        return value
    }

    mutating func journalID() throws(CBORError) -> JournalID {
        let failure = error()
        let bytes = try byteString()
        guard bytes.count == 16 else { throw failure }
        func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return JournalID(high: half(bytes[..<8]), low: half(bytes[8...]))
    }

    /// Reads the name of a lease: 16 bytes, as others would only fill the journal.
    mutating func holder() throws(CBORError) -> [UInt8] {
        let failure = error()
        let bytes = try byteString()
        guard bytes.count == 16 else { throw failure }
        return bytes
    }

    mutating func journalHead() throws(CBORError) -> JournalHead {
        try fields(3) { reader throws(CBORError) in
            JournalHead(
                commit: try reader.unsigned(), session: try reader.unsigned(),
                recoveryPending: try reader.bool())
        }
    }

    mutating func zones() throws(CBORError) -> ZoneNames {
        ZoneNames(try list(max: WireVersion.zonesMax) { reader throws(CBORError) in try reader.text() })
    }

    mutating func session() throws(CBORError) -> SessionInfo {
        try fields(3) { reader throws(CBORError) in
            SessionInfo(
                label: try reader.unsigned(), commit: try reader.unsigned(), clock: try reader.integer())
        }
    }

    mutating func cursor() throws(CBORError) -> Cursor {
        try fields(7) { reader throws(CBORError) in
            let failure = reader.error()
            guard let number = UInt8(exactly: try reader.unsigned()), let kind = Cursor.Kind(rawValue: number)
            else { throw failure }
            let journal = try reader.journalID()
            let session = try reader.unsigned()
            let position = JournalPosition(commit: try reader.unsigned(), index: try reader.unsigned32())
            return Cursor(
                kind: kind, journal: journal, session: session, position: position,
                scope: try reader.unsigned(),
                bound: try reader.unsigned())
        }
    }

    mutating func block() throws(CBORError) -> JournalBlock {
        try fields(7) { reader throws(CBORError) in
            JournalBlock(
                rawSize: try reader.unsigned32(), firstCommit: try reader.unsigned(),
                lastCommit: try reader.unsigned(), entryCount: try reader.unsigned32(),
                endsCommit: try reader.bool(), checksum: try reader.unsigned32(),
                payload: try reader.byteString())
        }
    }

    mutating func refusal() throws(CBORError) -> FollowRefusal {
        let count = try array()
        try need(1, of: count)
        let code = try unsigned()
        let refusal: FollowRefusal
        var known = 2
        if (1...6).contains(code) || code == 8 { try need(2, of: count) }
        switch code {
        case 1: refusal = .expired(floor: try unsigned())
        case 2:
            refusal = .rolledBack(common: try optional { reader throws(CBORError) in try reader.unsigned() })
        case 3: refusal = .foreign(found: try journalID())
        case 4: refusal = .ahead(head: try unsigned())
        case 5: refusal = .filtered(zones: try zones())
        case 6: refusal = .unknownZone(try text())
        case 7:
            refusal = .malformed
            known = 1
        case 8: refusal = .failed(reason: try text())
        default:
            // A reason of a newer version: whatever it is, nothing was given.
            refusal = .failed(reason: "it refused for a reason (\(code)) that this version does not know")
            known = 1
        }
        for _ in known..<count { try skip() }
        return refusal
    }
}
