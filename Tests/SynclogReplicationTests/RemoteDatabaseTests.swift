import SynclogJournal
import SynclogRecords
import TestLanes
import TestSupport
import Testing

@testable import SynclogReplication

/// A database in memory, served in this process over real pipes; connections may be cut.
private final class Served: Sendable {
    let files = MemoryFileSystem()
    let database: JournalDatabase
    let connections = Monitor(0)
    private let cuts: Monitor<[Int]>

    /// The n-th connection ends after `cuts[n]` bytes towards the client; later ones are not cut.
    init(seed: UInt64, cuts: [Int] = []) throws {
        database = try JournalDatabase.create(at: "/d", options: .test(files, seed: seed))
        self.cuts = Monitor(cuts)
    }

    func open() throws(ReplicationError) -> any ByteStream {
        let cut = cuts.withLock { $0.isEmpty ? Int.max : $0.removeFirst() }
        connections.withLock { $0 += 1 }
        let (ours, theirs) = try streamPair()
        let server: JournalServer
        do throws(JournalError) {
            server = try JournalServer(database: database, options: .test(files, seed: 3))
        } catch {
            throw .journal(error)
        }
        Task.detached(executorPreference: Lane.servers) { try? await server.serve(theirs) }
        return CutStream(ours, after: cut)
    }

    func remote(timeout: Duration = .seconds(60)) -> RemoteDatabase {
        RemoteDatabase(name: "the remote", timeout: timeout) { () throws(ReplicationError) in try self.open()
        }
    }

    /// The greeting's size and more is let through, then the answer to the first request is lost.
    static func greetingSize() throws -> Int {
        let hello = WireHello(
            journal: someID, head: JournalHead(commit: 1, session: .max, recoveryPending: false),
            container: "local",
            owner: String(repeating: "0", count: 32))
        return WireMessage.hello(hello).frame.count
    }

    func tags(of name: String) async throws -> [String] {
        var tags: [String] = []
        for commit in try allCommits("/d", .test(files)) {
            for entry in commit.entries where entry.key.space == .record && entry.key.name == Array(name.utf8)
            {
                tags.append("\(commit.info.number)-\(entry.index)")
            }
        }
        return tags
    }
}

private func note(_ name: String, _ text: String) -> Record {
    var record = Record(recordType: "Note", recordID: Record.ID(recordName: name))
    record["text"] = .string(text)
    return record
}

@Suite struct RemoteDatabaseTests {
    @Test func `requests over a stream have the answers they have at home`() async throws {
        let served = try Served(seed: 1)
        let remote = served.remote()
        defer { remote.close() }
        let saved = try await remote.modifyRecords(saving: [note("a", "one")], deleting: [])
        let record = try #require(try saved.saveResults[Record.ID(recordName: "a")]?.get())
        #expect(record.recordChangeTag != nil)
        let here = try await served.database.allRecords(inZoneWith: .default)
        #expect(try await remote.allRecords(inZoneWith: .default) == here && here.count == 1)
        #expect(try await remote.identify().owner == served.database.owner)

        // A conflict brings all three records.
        let again = try await remote.modifyRecords(saving: [note("a", "two")], deleting: [])
        guard case .failure(let error) = again.saveResults[record.recordID] else {
            Issue.record("no conflict")
            return
        }
        #expect(error.code == .serverRecordChanged && error.serverRecord?["text"] == .string("one"))
        #expect(error.clientRecord?["text"] == .string("two"))

        // An error of the whole request arrives as it was thrown.
        let zone = RecordZone.ID(zoneName: "none")
        let thrown = await #expect(throws: SyncError.self) { try await remote.allRecords(inZoneWith: zone) }
        #expect(thrown?.code == .zoneNotFound)
        #expect(served.connections.withLock { $0 } == 1)
    }

    @Test func `many requests at once share one connection`() async throws {
        let served = try Served(seed: 2)
        let remote = served.remote()
        defer { remote.close() }
        await withTaskGroup { group in
            for number in 0..<60 {
                group.addTask {
                    _ = try? await remote.modifyRecords(saving: [note("n\(number)", "x")], deleting: [])
                }
            }
        }
        #expect(try await served.database.allRecords(inZoneWith: .default).count == 60)
        #expect(served.connections.withLock { $0 } == 1)
    }

    @Test func `a request whose answer is lost is repeated and stored once`() async throws {
        // Cut behind the greeting, and at each byte of the answer for a while.
        for extra in [0, 1, 3, 4, 5, 20, 60] {
            let served = try Served(seed: 3, cuts: [try Served.greetingSize() + extra])
            let remote = served.remote()
            let results = try await remote.modifyRecords(saving: [note("a", "one")], deleting: [])
            #expect(throws: Never.self) { try results.saveResults[Record.ID(recordName: "a")]?.get() }
            #expect(try await served.tags(of: "a").count == 1, "cut after \(extra) bytes")
            #expect(served.connections.withLock { $0 } == 2)
            remote.close()
        }
    }

    @Test func `an answer lost twice is said to be lost, and the same operation asked again finds it`()
        async throws
    {
        let size = try Served.greetingSize() + 4
        let served = try Served(seed: 4, cuts: [size, size])
        var context = RequestContext()
        context.operation = OperationID(counter: 17, bits: 18)
        let first = served.remote()
        let record = note("a", "one")
        let error = await #expect(throws: SyncError.self) {
            try await first.modifyRecords(saving: [record], deleting: [], context: context)
        }
        #expect(error?.code == .serverResponseLost)
        first.close()
        // Another client in another process, as far as the database can tell.
        let second = served.remote()
        let results = try await second.modifyRecords(saving: [record], deleting: [], context: context)
        let stored = try #require(try results.saveResults[record.recordID]?.get())
        #expect(try await served.tags(of: "a").count == 1)
        #expect(
            try await served.database.records(for: [record.recordID])[record.recordID]?.get().recordChangeTag
                == stored.recordChangeTag)
        second.close()
    }

    @Test func `a connection that died while idle is made again`() async throws {
        let served = try Served(seed: 5, cuts: [try Served.greetingSize() + 200])
        let remote = served.remote()
        defer { remote.close() }
        for _ in 0..<6 { _ = try await remote.identify() }
        #expect(served.connections.withLock { $0 } == 2)
    }

    @Test func `a remote that cannot be reached is a network failure and says that nothing was changed`()
        async throws
    {
        let remote = RemoteDatabase(try SourceAddress("exec:exit 3"))
        let error = await #expect(throws: SyncError.self) {
            try await remote.modifyRecords(saving: [note("a", "one")], deleting: [])
        }
        #expect(error?.code == .networkFailure)
        #expect(error?.description.contains("exit status 3") == true)
        remote.close()
        let closed = await #expect(throws: SyncError.self) { try await remote.identify() }
        #expect(closed?.code == .operationCancelled)
    }

    @Test func `another database behind the same address is not asked`() async throws {
        let one = try Served(seed: 6, cuts: [try Served.greetingSize() + 150])
        let other = try Served(seed: 7)
        let count = Monitor(0)
        let remote = RemoteDatabase(name: "the remote") { () throws(ReplicationError) in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return try (number == 1 ? one : other).open()
        }
        defer { remote.close() }
        var failure: SyncError?
        for number in 0..<8 where failure == nil {
            do throws(SyncError) {
                _ = try await remote.modifyRecords(saving: [note("n\(number)", "x")], deleting: [])
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .foreign)
        #expect(try await other.database.allRecords(inZoneWith: .default).isEmpty)
    }

    @Test func `a hint comes at once and after each change, to all who asked`() async throws {
        let served = try Served(seed: 8)
        let remote = served.remote()
        var first = remote.changeHints().makeAsyncIterator()
        #expect(await first.next()?.database == served.database.id)
        var second = remote.changeHints().makeAsyncIterator()
        #expect(await second.next()?.database == served.database.id)
        for number in 0..<3 {
            _ = try await served.database.modifyRecords(saving: [note("n\(number)", "x")], deleting: [])
            #expect(await first.next()?.database == served.database.id)
            #expect(await second.next()?.database == served.database.id)
        }
        remote.close()
        #expect(await first.next() == nil)
        #expect(await second.next() == nil)
    }
}

@Suite struct JournalServerTests {
    private func serve(_ input: [UInt8]) async throws -> (error: ReplicationError?, output: [WireMessage]) {
        let files = MemoryFileSystem()
        _ = try Journal.create(at: "/d", options: .test(files))
        let server = try JournalServer(path: "/d", options: .test(files))
        let stream = ScriptedStream(input)
        var failure: ReplicationError?
        do throws(ReplicationError) {
            try await server.serve(stream)
        } catch {
            failure = error
        }
        return (failure, try messages(in: stream.output))
    }

    private static let hello = WireMessage.hello(WireHello()).frame

    @Test(
        arguments: [
            ("nothing", []),
            ("a greeting", hello),
            ("a goodbye", hello + WireMessage.bye.frame),
            ("a cut message", hello + WireMessage.subscribe(id: 1).frame.dropLast(1)),
            ("a message of a newer version", hello + [3, 0, 0, 0, 0x81, 0x18, 0x40]),
        ] as [(String, [UInt8])])
    func `a client that goes away is no error`(what: String, input: [UInt8]) async throws {
        let result = try await serve(input)
        #expect(result.error == nil)
        guard case .hello(let hello) = result.output.first else {
            Issue.record("no greeting")
            return
        }
        #expect(hello.journal != nil && result.output.count == 1)
    }

    @Test(
        arguments: [
            ("nonsense", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
            ("4 GB", [0xFF, 0xFF, 0xFF, 0xFF]),
            ("no greeting", WireMessage.subscribe(id: 1).frame),
            ("an answer", hello + WireMessage.answer(id: 1, []).frame),
            ("a second greeting", hello + hello),
        ] as [(String, [UInt8])])
    func `a client that breaks the protocol is told and left`(what: String, input: [UInt8]) async throws {
        let result = try await serve(input)
        guard case .protocolViolation = result.error else {
            Issue.record("\(what): \(String(describing: result.error))")
            return
        }
        guard case .error(.protocolViolation, _) = result.output.last else {
            Issue.record("\(what): the client was not told")
            return
        }
    }

    @Test func `a request to a journal without a database is answered`() async throws {
        let request = DatabaseRequest(.identify).wireBytes
        let result = try await serve(Self.hello + WireMessage.request(id: 7, request).frame)
        guard case .failure(7, let bytes) = result.output.last else {
            Issue.record("no answer")
            return
        }
        #expect(try SyncError(wireBytes: bytes).code == .badContainer)
    }

    @Test func `a large commit is cut into messages and put together again`() {
        let blocks = (1...10).map { block(1, ends: $0 == 10, payload: [UInt8](repeating: 1, count: 30_000)) }
        let parts = ServedConnection.parts(of: blocks)
        #expect(parts.count == 5 && Array(parts.joined()) == blocks)
        let huge = [block(1, payload: [UInt8](repeating: 1, count: 4 << 20))]
        #expect(ServedConnection.parts(of: huge) == [huge])
    }
}
