import Glibc
import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

/// Two streams that are each other's other end.
func streamPair() throws(ReplicationError) -> (DescriptorStream, DescriptorStream) {
    let there = try makePipe(for: "test")
    let back = try makePipe(for: "test")
    return (
        try DescriptorStream(name: "one", input: back[0], output: there[1], ownsDescriptors: true),
        try DescriptorStream(name: "other", input: there[0], output: back[1], ownsDescriptors: true)
    )
}

func outcome<Value: Sendable>(
    _ body: @escaping @Sendable () throws(ReplicationError) -> Value
) async -> Result<Value, ReplicationError> {
    await onOwnThread { Result { () throws(ReplicationError) in try body() } }
}

@Suite struct ByteStreamTests {
    @Test func `more than a pipe holds goes through whole`() async throws {
        let (one, other) = try streamPair()
        var generator = SeededGenerator(seed: 1)
        let bytes = generator.bytes(1 << 20)
        async let written = outcome { () throws(ReplicationError) in
            try one.write(bytes)
            one.close()
        }
        let read = await outcome { () throws(ReplicationError) -> [UInt8] in
            var all: [UInt8] = []
            while true {
                let some = try other.read(max: 10_000, timeout: nil)
                if some.isEmpty { return all }
                all += some
            }
        }
        try await written.get()
        #expect(try read.get() == bytes)
    }

    @Test func `writing to a reader that has gone is an error, not a signal`() throws {
        let (one, other) = try streamPair()
        other.close()
        let error = #expect(throws: ReplicationError.self) { try one.write([1]) }
        #expect(error == .unreachable(source: "one", reason: "the other side has gone"))
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    @Test func `nothing in time is a timeout`() throws {
        let (one, other) = try streamPair()
        let error = #expect(throws: ReplicationError.self) { try one.read(max: 1, timeout: .zero) }
        #expect(error == .timeout(source: "one", waitedFor: "an answer"))
        withExtendedLifetime(other) {}
    }

    @Test func `closing ends a read that waits and a write that is stuck`() async throws {
        let (one, other) = try streamPair()
        async let reading = outcome { () throws(ReplicationError) in try one.read(max: 1, timeout: nil) }
        async let writing = outcome { () throws(ReplicationError) in
            try one.write([UInt8](repeating: 0, count: 1 << 20))
        }
        // Once the pipe is full the writer waits for room.
        let first = try other.read(max: 1, timeout: nil)
        one.close()
        one.close()
        let read = await reading
        let written = await writing
        #expect(first == [0])
        #expect(read == .failure(.unreachable(source: "one", reason: "the connection was closed")))
        #expect(throws: ReplicationError.self) { try written.get() }
    }
}

@Suite struct CommandStreamTests {
    private func command(_ text: String) throws -> any ByteStream {
        try SourceAddress("exec:" + text).stream()
    }

    @Test func `a command answers on its standard streams`() throws {
        let stream = try command("tr a-z A-Z")
        defer { stream.close() }
        try stream.write(Array("hello\n".utf8))
        // tr gives its output when its input ends or its buffer is full.
        try stream.write([UInt8](repeating: 0x61, count: 20_000))
        #expect(try stream.read(max: 6, timeout: .seconds(60)) == Array("HELLO\n".utf8))
    }

    @Test(arguments: [
        ("exit 3", "exit status 3"), ("exec no-such-command-here", "not found"), ("kill -9 $$", "signal 9"),
    ])
    func `a command that fails says how`(text: String, expected: String) throws {
        let stream = try command("exec 2>/dev/null; " + text)
        defer { stream.close() }
        let error = #expect(throws: ReplicationError.self) { try stream.read(max: 1, timeout: .seconds(60)) }
        guard case .unreachable(_, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains(expected))
    }

    @Test func `a program that is not there is unreachable`() throws {
        let error = #expect(throws: ReplicationError.self) {
            try SourceAddress("ssh://host/x").stream(sshProgram: "/no/such/ssh")
        }
        #expect(error?.isRetryable == true)
    }

    @Test func `a command does not inherit the pipes of other streams`() throws {
        let pipe = try makePipe(for: "test")
        defer { for descriptor in pipe { close(descriptor) } }
        var info = stat()
        fstat(pipe[0], &info)
        let first = try command("cat >/dev/null")
        defer { first.close() }
        let second = try command("ls -l /proc/$$/fd; echo end")
        defer { second.close() }
        var text = ""
        while !text.hasSuffix("end\n") {
            text += String(decoding: try second.read(max: 10_000, timeout: .seconds(60)), as: UTF8.self)
        }
        #expect(text.contains("pipe:[") && !text.contains("pipe:[\(info.st_ino)]"))
    }

    @Test func `closing ends the command and leaves no zombie`() throws {
        let stream = try command("echo $$; cat >/dev/null")
        let text = String(decoding: try stream.read(max: 20, timeout: .seconds(60)), as: UTF8.self)
        let process = try #require(text.split(separator: "\n").first.flatMap { pid_t($0) })
        stream.close()
        #expect(kill(process, 0) == -1 && errno == ESRCH)
    }
}
