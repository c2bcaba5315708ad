/// Cuts a stream of bytes into frames.
///
/// Memory is taken for bytes that came, never for bytes that were announced.
struct FrameReader {
    /// The most bytes asked of the stream at once; what a pipe holds.
    private static let readSize = 64 << 10

    private let stream: any ByteStream
    private var buffer: [UInt8] = []
    private var offset = 0

    init(_ stream: any ByteStream) { self.stream = stream }

    private var available: Int { buffer.count - offset }

    /// The next frame's item, or nil when the stream ends between two frames.
    ///
    /// The timeout is for each wait, not for the whole frame.
    mutating func next(timeout: Duration?) throws(ReplicationError) -> [UInt8]? {
        while available < 4 {
            if try !fill(timeout) {
                if available == 0 { return nil }
                throw cut
            }
        }
        var size = 0
        for place in 0..<4 { size |= Int(buffer[offset + place]) << (8 * place) }
        guard size <= WireVersion.messageSizeMax else {
            throw .protocolViolation(
                source: stream.name,
                what: "it announces a message of \(size) bytes, more than any message has")
        }
        guard size > 0 else {
            throw .protocolViolation(source: stream.name, what: "it announces an empty message")
        }
        offset += 4
        while available < size {
            if try !fill(timeout) { throw cut }
        }
        let item = Array(buffer[offset..<offset + size])
        offset += size
        return item
    }

    private var cut: ReplicationError {
        .unreachable(source: stream.name, reason: "the connection ended inside a message")
    }

    private mutating func fill(_ timeout: Duration?) throws(ReplicationError) -> Bool {
        if offset == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            offset = 0
        } else if offset > Self.readSize {
            buffer.removeSubrange(..<offset)
            offset = 0
        }
        let bytes = try stream.read(max: Self.readSize, timeout: timeout)
        buffer.append(contentsOf: bytes)
        return !bytes.isEmpty
    }
}
