import SynclogJournal
import TestSupport
import Testing

@testable import SynclogReplication

@Suite struct FrameReaderTests {
    @Test(arguments: [1, 2, 3, 7, 64, 1000, .max])
    func `frames are the same however the bytes come`(chunk: Int) throws {
        let bytes = someMessages.flatMap(\.frame)
        var reader = FrameReader(ScriptedStream(bytes, chunk: chunk))
        var found: [WireMessage] = []
        while let item = try reader.next(timeout: nil) { found.append(try WireMessage(item: item)) }
        #expect(found == someMessages)
    }

    @Test(
        arguments: [
            ([0xFF, 0xFF, 0xFF, 0xFF], "4 GB"),
            ([0x01, 0x00, 0x00, 0x01], "one byte more than the limit"),
            (Array("Welcome to this host!\n".utf8), "a shell's greeting"),
            (Array("HTTP/1.1 400 Bad Request\r\n".utf8), "another protocol"),
            ([0, 0, 0, 0], "an empty message"),
        ] as [([UInt8], String)])
    func `an announcement that cannot be is refused before anything is taken`(bytes: [UInt8], what: String)
        throws
    {
        let stream = ScriptedStream(bytes + [UInt8](repeating: 0, count: 1 << 20))
        var reader = FrameReader(stream)
        let error = #expect(throws: ReplicationError.self, "\(what)") { try reader.next(timeout: nil) }
        guard case .protocolViolation = error else {
            Issue.record("\(what): \(String(describing: error))")
            return
        }
        #expect(stream.bytesRead <= 64 << 10)
    }

    @Test func `the largest message is taken`() throws {
        let item = [UInt8](repeating: 0, count: WireVersion.messageSizeMax)
        let size = UInt32(item.count)
        let frame = (0..<4).map { UInt8(truncatingIfNeeded: size >> UInt32(8 * $0)) } + item
        var reader = FrameReader(ScriptedStream(frame))
        #expect(try reader.next(timeout: nil)?.count == item.count)
        #expect(try reader.next(timeout: nil) == nil)
    }

    @Test func `an end inside a message is a broken connection, between two it is an end`() throws {
        let frame = WireMessage.subscribe(id: 7).frame
        for end in 0...frame.count {
            var reader = FrameReader(ScriptedStream(Array(frame[..<end])))
            switch end {
            case 0: #expect(try reader.next(timeout: nil) == nil)
            case frame.count: #expect(try reader.next(timeout: nil) != nil)
            default:
                let error = #expect(throws: ReplicationError.self) { try reader.next(timeout: nil) }
                #expect(error?.isRetryable == true)
            }
        }
    }
}

@Suite struct WireConnectionTests {
    @Test(
        arguments: [
            ([], "unreachable"),
            (WireMessage.bye.frame, "protocol"),
            (WireMessage.error(code: .failed, reason: "no journal").frame, "failed"),
            (Array("nonsense, and a lot of it".utf8), "protocol"),
            ([3, 0, 0, 0, 0x01, 0x02, 0x03], "protocol"),
            (Array(WireMessage.hello(WireHello()).frame.dropLast()), "unreachable"),
            (WireMessage.hello(WireHello(major: 9)).frame, "version"),
        ] as [([UInt8], String)])
    func `what is no greeting is told apart`(input: [UInt8], kind: String) throws {
        let connection = WireConnection(ScriptedStream(input))
        let error = #expect(throws: ReplicationError.self) { try connection.greet(WireHello()) }
        let found =
            switch error {
            case .unreachable: "unreachable"
            case .protocolViolation: "protocol"
            case .sourceFailed: "failed"
            case .unsupportedVersion: "version"
            default: "other"
            }
        #expect(found == kind)
        let text = try #require(error).description
        #expect(text.contains("the test") && !text.contains("\n"))
    }
}
