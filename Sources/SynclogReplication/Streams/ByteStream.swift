/// Bytes in both directions: a pair of pipes, the standard streams, a command's streams.
///
/// One thread reads and one writes at a time; `close` may come from any thread and ends both.
public protocol ByteStream: AnyObject, Sendable {
    /// What is at the other end, in a few words for messages; never a secret.
    var name: String { get }

    /// Waits for bytes and returns some of them, at most `max`; empty at the end of the stream.
    ///
    /// - Throws: ``ReplicationError/timeout(source:waitedFor:)`` when nothing came in time,
    ///   ``ReplicationError/unreachable(source:reason:)`` when the stream broke or was closed.
    func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8]

    /// Writes all bytes.
    func write(_ bytes: [UInt8]) throws(ReplicationError)

    /// Ends the stream; running reads and writes fail, and it may be called twice.
    func close()
}
