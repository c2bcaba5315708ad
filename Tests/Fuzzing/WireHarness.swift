#if DEBUG || FUZZING
    import SynclogJournal
    import SynclogRecords

    @testable import SynclogReplication

    /// What the other side of a stream may send; the first byte says what the rest is taken for.
    func fuzzWire(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        switch first % 4 {
        case 0: checkMessage(rest)
        case 1:
            guard let request = try? DatabaseRequest(wireBytes: rest) else { return }
            let again = try? DatabaseRequest(wireBytes: request.wireBytes)
            require(again == request, "a request changes when it is written and read")
            require(again?.wireBytes == request.wireBytes, "a request is written in two ways")
        case 2:
            guard let answer = try? DatabaseAnswer(wireBytes: rest) else { return }
            let again = try? DatabaseAnswer(wireBytes: answer.wireBytes)
            require(again == answer, "an answer changes when it is written and read")
            require(again?.wireBytes == answer.wireBytes, "an answer is written in two ways")
        default: checkFrames(rest, chunk: Int(first / 4) + 1)
        }
    }

    private func checkMessage(_ item: [UInt8]) {
        guard let message = try? WireMessage(item: item) else { return }
        let frame = message.frame
        let again = try? WireMessage(item: Array(frame.dropFirst(4)))
        require(again == message, "a message changes when it is written and read")
        require(again?.frame == frame, "a message is written in two ways")
        switch message {
        case .request(_, let bytes): fuzzWire([1] + bytes)
        case .answer(_, let bytes): fuzzWire([2] + bytes)
        case .failure(_, let bytes):
            var reader = CBORReader(bytes)
            guard let error = try? reader.syncError() else { return }
            var writer = CBORWriter()
            writer.syncError(error)
            var second = CBORReader(writer.bytes)
            require((try? second.syncError()) == error, "an error changes when it is written and read")
        default: break
        }
    }

    /// However a stream is cut into reads, the same messages come out.
    private func checkFrames(_ bytes: [UInt8], chunk: Int) {
        let whole = items(bytes, chunk: .max)
        require(whole == items(bytes, chunk: chunk), "messages depend on how the stream was cut")
        var place = 0
        for item in whole {
            place += 4
            require(Array(bytes[place..<place + item.count]) == item, "a message is not what was sent")
            place += item.count
            checkMessage(item)
        }
    }

    private func items(_ bytes: [UInt8], chunk: Int) -> [[UInt8]] {
        var reader = FrameReader(GivenStream(bytes, chunk: chunk))
        var items: [[UInt8]] = []
        while let item = try? reader.next(timeout: nil) { items.append(item) }
        return items
    }

    /// A stream that gives bytes in pieces and then ends.
    private final class GivenStream: ByteStream {
        let name = "the fuzzer"
        private let bytes: [UInt8]
        private let chunk: Int
        private let offset = Monitor(0)

        init(_ bytes: [UInt8], chunk: Int) {
            self.bytes = bytes
            self.chunk = chunk
        }

        func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8] {
            offset.withLock { offset in
                let count = min(max, chunk, bytes.count - offset)
                defer { offset += count }
                return Array(bytes[offset..<offset + count])
            }
        }

        func write(_ bytes: [UInt8]) throws(ReplicationError) {}
        func close() {}
    }

    func wireSeeds() -> [[UInt8]] {
        let journal = JournalID(high: 1, low: .max)
        let cursor = Cursor(
            kind: .zone, journal: journal, session: 3, position: .end(of: 77), scope: 5, bound: 99)
        let head = JournalHead(commit: 9, session: 8, recoveryPending: true)
        let zones = ZoneNames(["b", "a"])
        let block = JournalBlock(
            rawSize: 10, firstCommit: 1, lastCommit: 2, entryCount: 1, endsCommit: true, checksum: 7,
            payload: [1, 2])
        let messages: [WireMessage] = [
            .hello(WireHello()),
            .hello(WireHello(journal: journal, head: head, zones: zones, container: "c", owner: "me")),
            .follow(
                id: 1,
                FollowRequest(
                    cursor: cursor, zones: zones, live: true,
                    sessions: [SessionInfo(label: 3, commit: 70, clock: .min)], holder: [UInt8](1...16))),
            .blocks(id: 2, [block, block]), .caughtUp(id: 3, head), .refused(id: 4, .expired(floor: 12)),
            .refused(id: 4, .rolledBack(common: nil)), .refused(id: 4, .foreign(found: journal)),
            .refused(id: 4, .ahead(head: 3)), .refused(id: 4, .filtered(zones: zones)),
            .refused(id: 4, .unknownZone("z")),
            .refused(id: 4, .malformed), .refused(id: 4, .failed(reason: "why")), .subscribe(id: 6),
            .changed(id: 6, head),
            .error(code: .failed, reason: "why"), .bye, .ignorable(kind: 64),
        ]
        let requests = someRequests(ChangeToken(cursor))
        let answers = someAnswers(journal, ChangeToken(cursor))
        var failure = CBORWriter()
        failure.syncError(someError())
        let carriers: [WireMessage] =
            [.failure(id: 5, failure.bytes)] + requests.map { .request(id: 5, $0.wireBytes) }
            + answers.map { .answer(id: 5, $0.wireBytes) }
        return (messages + carriers).map { [0] + $0.frame.dropFirst(4) } + requests.map { [1] + $0.wireBytes }
            + answers.map { [2] + $0.wireBytes } + [
                [7] + messages.flatMap(\.frame), [255] + carriers[0].frame,
            ]
    }

    private let someZone = RecordZone.ID(zoneName: "é", ownerName: "an owner with a long name")
    private let someID = Record.ID(recordName: "e\u{301}, and more than a register holds", zoneID: someZone)
    private let someTag = ChangeTag(commit: .max, index: 3, checksum: 0xFFFF_FFFF)

    private func someRecord() -> Record {
        var record = Record(recordType: "T", recordID: someID)
        for (place, value) in someValues.enumerated() { record["f\(place)"] = value }
        return record
    }

    private func someError() -> SyncError {
        SyncError(
            .serverRecordChanged, "another version is there", nextStep: "merge", recordID: someID,
            zoneID: someZone,
            retryAfter: .milliseconds(1500), zoneDeletionReason: .encryptedDataReset,
            itemErrors: [SyncError.ItemError(error: SyncError(.zoneNotFound, "gone", nextStep: "make it"))],
            serverRecord: someRecord())
    }

    private func someRequests(_ token: ChangeToken) -> [DatabaseRequest] {
        var context = RequestContext()
        context.database = JournalID(high: 1, low: 2)
        context.owner = "me"
        context.device = DeviceID(high: 1, low: .max)
        context.confirmedOperation = OperationID(counter: 1, bits: 2)
        context.operation = OperationID(counter: 2, bits: .max)
        let modify = DatabaseRequest.ModifyRecords(
            saves: [
                RecordSave(someRecord(), policy: .allKeys),
                RecordSave(
                    recordID: someID, recordType: "T", baseTag: someTag,
                    changes: [FieldChange(key: "cleared", value: nil)]),
            ],
            deletions: [
                RecordDeletion(recordID: someID), RecordDeletion(recordID: someID, changeTag: someTag),
            ],
            savePolicy: .changedKeys, atomically: false)
        return [
            DatabaseRequest(.identify, context: context),
            DatabaseRequest(.modifyRecords(modify), context: context),
            DatabaseRequest(.records(ids: [someID], desiredKeys: ["a", "é"])),
            DatabaseRequest(
                .recordZoneChanges(zoneID: someZone, since: token, desiredKeys: ["a"], resultsLimit: 7)),
            DatabaseRequest(.databaseChanges(since: token, resultsLimit: -1)),
            DatabaseRequest(.modifyRecordZones(saving: [someZone], deleting: [.default], reason: .purged)),
            DatabaseRequest(.allRecordZones),
        ]
    }

    private func someAnswers(_ database: JournalID, _ token: ChangeToken) -> [DatabaseAnswer] {
        let saved = SavedRecord(
            changeTag: someTag, creationDate: Timestamp(microsecondsSince1970: .min),
            modificationDate: Timestamp(microsecondsSince1970: .max), device: .max, mergedWithOther: true)
        var record = someRecord()
        record.completeSave(saved)
        let bodies: [DatabaseAnswer.Body] = [
            .identified,
            .modifiedRecords(
                saves: [.success(saved), .failure(someError())], deletions: [nil, someError()]),
            .records([.success(record), .failure(someError())]),
            .recordZoneChanges(
                RecordZoneChanges(
                    modifications: [record],
                    deletions: [RecordZoneChanges.Deletion(recordID: someID, recordType: "T")],
                    changeToken: token,
                    moreComing: true)),
            .databaseChanges(
                DatabaseChanges(
                    modifications: [someZone, .default],
                    deletions: [DatabaseChanges.Deletion(zoneID: someZone, reason: .purged)],
                    changeToken: token,
                    moreComing: false)),
            .modifiedRecordZones(
                saves: [
                    .success(RecordZone(zoneID: someZone, creationDate: Timestamp(microsecondsSince1970: 1)))
                ],
                deletions: [someError(), nil]),
            .recordZones([RecordZone(zoneID: someZone, creationDate: nil)]),
        ]
        return bodies.map { body in
            DatabaseAnswer(
                database: database, container: "local", owner: "me", session: .max, head: 5,
                lastOperation: OperationID(counter: 1, bits: 2), body: body)
        }
    }
#endif
