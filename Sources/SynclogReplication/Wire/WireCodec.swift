internal import SynclogJournal

/// Bytes that are no message.
struct WireError: Error, Hashable {
    var what: String
}

extension WireMessage {
    private enum Kind: UInt64 {
        case hello = 0
        case follow = 1
        case blocks = 2
        case caughtUp = 3
        case refused = 4
        case request = 5
        case answer = 6
        case failure = 7
        case subscribe = 8
        case changed = 9
        case error = 10
        case bye = 11
    }

    /// The frame: the length as four bytes, low first, then one CBOR item.
    var frame: [UInt8] {
        var writer = CBORWriter(capacity: capacity)
        writer.raw([0, 0, 0, 0])
        encode(into: &writer)
        let count = UInt32(clamping: writer.bytes.count - 4)
        for place in 0..<4 { writer.bytes[place] = UInt8(truncatingIfNeeded: count >> UInt32(8 * place)) }
        return writer.bytes
    }

    private var capacity: Int {
        switch self {
        case .blocks(_, let blocks): blocks.reduce(64) { $0 + $1.payload.count + 64 }
        case .request(_, let bytes), .answer(_, let bytes), .failure(_, let bytes): bytes.count + 32
        default: 256
        }
    }

    private func encode(into writer: inout CBORWriter) {
        func start(_ kind: Kind, _ count: Int) {
            writer.array(count + 1)
            writer.unsigned(kind.rawValue)
        }
        switch self {
        case .hello(let hello):
            start(.hello, 8)
            writer.text(WireVersion.name)
            writer.unsigned(hello.major)
            writer.unsigned(hello.minor)
            writer.optional(hello.journal) { $0.journalID($1) }
            writer.optional(hello.head) { $0.head($1) }
            writer.optional(hello.zones) { $0.zones($1) }
            writer.optional(hello.container) { $0.text($1) }
            writer.optional(hello.owner) { $0.text($1) }
        case .follow(let id, let request):
            start(.follow, 6)
            writer.unsigned(id)
            writer.optional(request.cursor) { $0.cursor($1) }
            writer.optional(request.zones) { $0.zones($1) }
            writer.bool(request.live)
            writer.array(request.sessions.count)
            for session in request.sessions {
                writer.array(3)
                writer.unsigned(session.label)
                writer.unsigned(session.commit)
                writer.integer(session.clock)
            }
            writer.optional(request.holder) { $0.byteString($1) }
        case .blocks(let id, let blocks):
            start(.blocks, 2)
            writer.unsigned(id)
            writer.array(blocks.count)
            for block in blocks { writer.block(block) }
        case .caughtUp(let id, let head):
            start(.caughtUp, 2)
            writer.unsigned(id)
            writer.head(head)
        case .refused(let id, let refusal):
            start(.refused, 2)
            writer.unsigned(id)
            writer.refusal(refusal)
        case .request(let id, let bytes), .answer(let id, let bytes), .failure(let id, let bytes):
            let kind: Kind =
                switch self {
                case .request: .request
                case .answer: .answer
                default: .failure
                }
            start(kind, 2)
            writer.unsigned(id)
            writer.byteString(bytes)
        case .subscribe(let id):
            start(.subscribe, 1)
            writer.unsigned(id)
        case .changed(let id, let head):
            start(.changed, 2)
            writer.unsigned(id)
            writer.head(head)
        case .error(let code, let reason):
            start(.error, 2)
            writer.unsigned(code.rawValue)
            writer.text(reason)
        case .bye: start(.bye, 0)
        case .ignorable(let kind):
            writer.array(1)
            writer.unsigned(kind)
        }
    }

    /// Understands the CBOR item of a frame; items behind the known ones come from newer versions and are skipped.
    init(item: [UInt8]) throws(WireError) {
        var reader = CBORReader(item)
        let unknown: UInt64
        do throws(CBORError) {
            guard try reader.peek() == .array else { throw CBORError(offset: 0) }
            let count = try reader.array()
            guard count >= 1 else { throw CBORError(offset: 0) }
            let number = try reader.unsigned()
            if let kind = Kind(rawValue: number) {
                self = try Self.decode(kind, from: &reader, extra: count - 1)
            } else {
                for _ in 1..<count { try reader.skip() }
                self = .ignorable(kind: number)
            }
            guard reader.isAtEnd else { throw reader.error() }
            unknown = number
        } catch {
            throw WireError(what: "a message of \(item.count) bytes is broken at byte \(error.offset)")
        }
        if case .ignorable = self, unknown < WireVersion.ignorableKindMin {
            throw WireError(what: "a message of unknown kind \(unknown)")
        }
    }

    private static func decode(
        _ kind: Kind, from reader: inout CBORReader, extra count: Int
    ) throws(CBORError) -> WireMessage {
        let message: WireMessage
        let known: Int
        switch kind {
        case .hello:
            known = 8
            // The name and version come first in every version, so that others can be told by name.
            guard count >= 3 else { throw reader.error() }
            guard try reader.text().utf8.elementsEqual(WireVersion.name.utf8) else { throw reader.error() }
            var hello = WireHello()
            hello.major = try reader.unsigned()
            hello.minor = try reader.unsigned()
            if hello.major != WireVersion.major {
                for _ in 3..<count { try reader.skip() }
                return .hello(hello)
            }
            try reader.need(known, of: count)
            hello.journal = try reader.optional { reader throws(CBORError) in try reader.journalID() }
            hello.head = try reader.optional { reader throws(CBORError) in try reader.journalHead() }
            hello.zones = try reader.optional { reader throws(CBORError) in try reader.zones() }
            hello.container = try reader.optional { reader throws(CBORError) in try reader.text() }
            hello.owner = try reader.optional { reader throws(CBORError) in try reader.text() }
            message = .hello(hello)
        case .follow:
            known = 6
            try reader.need(known, of: count)
            let id = try reader.unsigned()
            let cursor = try reader.optional { reader throws(CBORError) in try reader.cursor() }
            let zones = try reader.optional { reader throws(CBORError) in try reader.zones() }
            let live = try reader.bool()
            let sessions = try reader.list(max: WireVersion.sessionsMax) { reader throws(CBORError) in
                try reader.session()
            }
            let holder = try reader.optional { reader throws(CBORError) in try reader.holder() }
            message = .follow(
                id: id,
                FollowRequest(cursor: cursor, zones: zones, live: live, sessions: sessions, holder: holder))
        case .blocks:
            known = 2
            try reader.need(known, of: count)
            let id = try reader.unsigned()
            message = .blocks(
                id: id,
                try reader.list(max: WireVersion.blocksMax) { reader throws(CBORError) in try reader.block() }
            )
        case .caughtUp:
            known = 2
            try reader.need(known, of: count)
            message = .caughtUp(id: try reader.unsigned(), try reader.journalHead())
        case .refused:
            known = 2
            try reader.need(known, of: count)
            message = .refused(id: try reader.unsigned(), try reader.refusal())
        case .request, .answer, .failure:
            known = 2
            try reader.need(known, of: count)
            let id = try reader.unsigned()
            let bytes = try reader.byteString()
            message =
                switch kind {
                case .request: .request(id: id, bytes)
                case .answer: .answer(id: id, bytes)
                default: .failure(id: id, bytes)
                }
        case .subscribe:
            known = 1
            try reader.need(known, of: count)
            message = .subscribe(id: try reader.unsigned())
        case .changed:
            known = 2
            try reader.need(known, of: count)
            message = .changed(id: try reader.unsigned(), try reader.journalHead())
        case .error:
            known = 2
            try reader.need(known, of: count)
            message = .error(code: WireErrorCode(rawValue: try reader.unsigned()), reason: try reader.text())
        case .bye:
            known = 0
            message = .bye
        }
        for _ in known..<count { try reader.skip() }
        return message
    }
}
