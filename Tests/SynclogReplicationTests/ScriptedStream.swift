import SynclogJournal

@testable import SynclogReplication

/// A stream whose input is given and whose output is kept.
final class ScriptedStream: ByteStream {
    struct State {
        var input: [UInt8]
        var output: [UInt8] = []
        var bytesRead = 0
        var closed = false
    }

    let name = "the test"
    private let chunk: Int
    private let state: Monitor<State>

    /// Gives the bytes in pieces of at most `chunk`, then the end.
    init(_ input: [UInt8], chunk: Int = .max) {
        self.chunk = chunk
        state = Monitor(State(input: input))
    }

    var output: [UInt8] { state.withLock { $0.output } }
    var bytesRead: Int { state.withLock { $0.bytesRead } }

    func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8] {
        state.withLock { state in
            let bytes = Array(state.input.prefix(min(max, chunk)))
            state.input.removeFirst(bytes.count)
            state.bytesRead += bytes.count
            return bytes
        }
    }

    func write(_ bytes: [UInt8]) throws(ReplicationError) { state.withLock { $0.output += bytes } }
    func close() { state.withLock { $0.closed = true } }
}

/// The messages in a row of frames.
func messages(in bytes: [UInt8]) throws -> [WireMessage] {
    var reader = FrameReader(ScriptedStream(bytes))
    var messages: [WireMessage] = []
    while let item = try reader.next(timeout: nil) { messages.append(try WireMessage(item: item)) }
    return messages
}

/// A block that holds nothing but has the right checksum.
func block(
    _ first: UInt64, _ last: UInt64? = nil, ends: Bool = true, payload: [UInt8] = [1, 2, 3]
) -> JournalBlock {
    JournalBlock(
        rawSize: UInt32(payload.count + 10), firstCommit: first, lastCommit: last ?? first, entryCount: 1,
        endsCommit: ends, checksum: crc32c(payload), payload: payload)
}
