internal import SynclogJournal

/// Messages over a byte stream: one thread receives, any thread sends, whole frames never mix.
final class WireConnection: Sendable {
    /// How long the other side may take for its hello; people may have to type a password for ssh.
    static let helloTimeout: Duration = .seconds(60)

    let stream: any ByteStream
    private let sending = Monitor(false)
    /// Touched by the one thread that receives; the lock makes that visible, and catches a second one.
    private let reading: Monitor<FrameReader?>

    init(_ stream: any ByteStream) {
        self.stream = stream
        reading = Monitor(FrameReader(stream))
    }

    var name: String { stream.name }

    /// Sends a message; waits while another thread sends.
    func send(_ message: WireMessage) throws(ReplicationError) {
        let frame = message.frame
        guard frame.count - 4 <= WireVersion.messageSizeMax else {
            throw .protocolViolation(
                source: "this side", what: "a message of \(frame.count) bytes is too large to send")
        }
        _ = sending.wait { busy -> Bool? in
            if busy { return nil }
            busy = true
            return true
        }
        defer {
            sending.withLock { $0 = false }
            sending.wakeAll()
        }
        try stream.write(frame)
    }

    /// The next message, or nil at the end of the stream.
    func receive(timeout: Duration?) throws(ReplicationError) -> WireMessage? {
        let taken = reading.withLock { reader in
            defer { reader = nil }
            return reader
        }
        guard var reader = taken else { preconditionFailure("two threads receive from one connection") }
        defer { reading.withLock { $0 = reader } }
        guard let item = try reader.next(timeout: timeout) else { return nil }
        do throws(WireError) {
            return try WireMessage(item: item)
        } catch {
            throw .protocolViolation(source: name, what: error.what)
        }
    }

    /// Exchanges hellos; the other side's is checked for name and version.
    func greet(_ own: WireHello, timeout: Duration = helloTimeout) throws(ReplicationError) -> WireHello {
        try send(.hello(own))
        guard let message = try receive(timeout: timeout) else {
            throw .unreachable(source: name, reason: "the connection ended before a greeting")
        }
        switch message {
        case .hello(let hello):
            guard hello.major == WireVersion.major else {
                try? send(
                    .error(code: .unsupportedVersion, reason: "version \(WireVersion.major) is spoken here"))
                throw .unsupportedVersion(source: name, theirs: hello.major, ours: WireVersion.major)
            }
            return hello
        case .error(let code, let reason): throw failure(code, reason)
        default: throw .protocolViolation(source: name, what: "it does not begin with a greeting")
        }
    }

    /// What the other side's last words mean here.
    func failure(_ code: WireErrorCode, _ reason: String) -> ReplicationError {
        switch code {
        case .protocolViolation:
            .protocolViolation(source: name, what: "it says that this side broke the protocol: \(reason)")
        default: .sourceFailed(source: name, reason: reason)
        }
    }

    /// Ends the connection from any thread.
    func close() { stream.close() }
}
