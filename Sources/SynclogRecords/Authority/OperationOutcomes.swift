import SynclogJournal

/// The operation of a request as the authority knows it: who, which, and of what request.
struct Operation: Hashable, Sendable {
    /// The device, nil for a program without one.
    var device: DeviceID?
    var id: OperationID
    /// The digest of the request.
    var digest: [UInt8]
}

/// What a device did last, and its number.
struct StoredDevice: Hashable, Sendable {
    var number: UInt32
    /// The last operation that stored something; counter 0 if there was none.
    var last = OperationID(counter: 0, bits: 0)
    var digest: [UInt8] = []
    /// The log clock of the commit that this was read from, in microseconds since 1970.
    var changed: Int64 = 0

    init(number: UInt32) { self.number = number }

    init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        _ = try reader.array()
        number = UInt32(truncatingIfNeeded: try reader.unsigned())
        last = OperationID(counter: try reader.unsigned(), bits: try reader.unsigned())
        digest = try reader.byteString()
    }

    func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 64)
        writer.array(4)
        writer.unsigned(UInt64(number))
        writer.unsigned(last.counter)
        writer.unsigned(last.bits)
        writer.byteString(digest)
        return writer.bytes
    }

    static func key(_ device: DeviceID) -> EntryKey {
        EntryKey(space: .device, name: bigEndian(device.high) + bigEndian(device.low))
    }

    /// The key that holds the highest number given to a device, as an array of one.
    static let numbersKey = EntryKey(space: .device, name: [])
}

/// What became of the items of an operation in one zone.
struct StoredOutcomes: Hashable, Sendable {
    /// What became of one item.
    enum Outcome: Hashable, Sendable {
        /// It was saved as an entry of a commit; commit 0 and a modification of 0 stand for the commit this is in.
        case saved(
            commit: UInt64, index: UInt32, checksum: UInt32, created: Int64, modified: Int64,
            mergedWithOther: Bool)
        /// It was deleted, or a zone was made or deleted.
        case done
        /// It was refused.
        case refused(SyncError.Code)
    }

    var id: OperationID
    var digest: [UInt8]
    /// By the item's place in the request: saves, then deletions.
    var outcomes: [Int: Outcome] = [:]

    init(_ operation: Operation) {
        id = operation.id
        digest = operation.digest
    }

    init(value: [UInt8]) throws(CBORError) {
        var reader = CBORReader(value)
        _ = try reader.array()
        id = OperationID(counter: try reader.unsigned(), bits: try reader.unsigned())
        digest = try reader.byteString()
        for _ in 0..<(try reader.array()) {
            let count = try reader.array()
            let item = Int(clamping: try reader.unsigned())
            if try reader.peek() == .text {
                outcomes[item] = .refused(SyncError.Code(rawValue: try reader.text()))
                try reader.skip(items: count - 2)
            } else if count >= 8 {
                _ = try reader.nullIfPresent()
                outcomes[item] = .saved(
                    commit: try reader.unsigned(), index: UInt32(truncatingIfNeeded: try reader.unsigned()),
                    checksum: UInt32(truncatingIfNeeded: try reader.unsigned()),
                    created: try reader.integer(),
                    modified: try reader.integer(), mergedWithOther: try reader.bool())
                try reader.skip(items: count - 8)
            } else {
                _ = try reader.nullIfPresent()
                outcomes[item] = .done
                try reader.skip(items: count - 2)
            }
        }
    }

    func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 64 + outcomes.count * 24)
        writer.array(4)
        writer.unsigned(id.counter)
        writer.unsigned(id.bits)
        writer.byteString(digest)
        writer.array(outcomes.count)
        for item in outcomes.keys.sorted() {
            switch outcomes[item] {
            case .saved(let commit, let index, let checksum, let created, let modified, let merged):
                writer.array(8)
                writer.unsigned(UInt64(item))
                writer.null()
                writer.unsigned(commit)
                writer.unsigned(UInt64(index))
                writer.unsigned(UInt64(checksum))
                writer.integer(created)
                writer.integer(modified)
                writer.bool(merged)
            case .done, nil:
                writer.array(2)
                writer.unsigned(UInt64(item))
                writer.null()
            case .refused(let code):
                writer.array(2)
                writer.unsigned(UInt64(item))
                writer.text(code.rawValue)
            }
        }
        return writer.bytes
    }

    /// Where the outcomes of an operation in a zone stand; a device has one place per zone, its last operation's.
    static func key(_ operation: Operation, zoneKey: [UInt8]) -> EntryKey {
        var writer = CBORWriter(capacity: 64 + zoneKey.count)
        writer.array(3)
        if let device = operation.device {
            writer.unsigned(1)
            writer.byteString(bigEndian(device.high) + bigEndian(device.low))
        } else {
            writer.unsigned(2)
            writer.byteString(bigEndian(operation.id.counter) + bigEndian(operation.id.bits))
        }
        writer.byteString(zoneKey)
        return EntryKey(space: .operation, name: writer.bytes)
    }

    /// Completes what points to the commit this was read from.
    func completed(with commit: CommitInfo) -> StoredOutcomes {
        var result = self
        for (item, outcome) in outcomes {
            if case .saved(0, let index, let checksum, let created, _, let merged) = outcome {
                result.outcomes[item] = .saved(
                    commit: commit.number, index: index, checksum: checksum, created: created,
                    modified: commit.clock, mergedWithOther: merged)
            }
        }
        return result
    }
}

extension EntryLookup {
    /// What is known of a device, or nil.
    func device(_ id: DeviceID) throws(JournalError) -> Result<StoredDevice, SyncError>? {
        guard let stored = try entry(for: StoredDevice.key(id)), stored.entry.operation == .put else {
            return nil
        }
        return Result { () throws(CBORError) in
            var device = try StoredDevice(value: stored.entry.value)
            device.changed = stored.commit.clock
            return device
        }.mapError { _ in .notUnderstood() }
    }
}

extension DecisionState {
    /// What was decided on an operation in a zone before; fails if it must not be done.
    ///
    /// Outcomes older than `retention` may be gone; then it is not known whether the operation was done.
    func outcomes(
        of operation: Operation, zoneKey: [UInt8], retention: Duration
    ) throws(JournalError) -> Result<StoredOutcomes, SyncError> {
        var mayBeForgotten = false
        if let device = operation.device, case .success(let known)? = try self.device(device) {
            if operation.id.counter < known.last.counter { return .failure(.operationForgotten) }
            if operation.id.counter == known.last.counter {
                guard operation.id.bits == known.last.bits, operation.digest == known.digest else {
                    return .failure(.deviceCloned)
                }
                mayBeForgotten = .microseconds(clock - known.changed) >= retention
            }
        }
        guard let stored = try entry(for: StoredOutcomes.key(operation, zoneKey: zoneKey)),
            stored.entry.operation == .put
        else { return mayBeForgotten ? .failure(.operationForgotten) : .success(StoredOutcomes(operation)) }
        guard let content = try? StoredOutcomes(value: stored.entry.value) else {
            return .failure(.notUnderstood())
        }
        guard content.id == operation.id else {
            return mayBeForgotten ? .failure(.operationForgotten) : .success(StoredOutcomes(operation))
        }
        guard content.digest == operation.digest else {
            return .failure(
                .invalid(
                    "the operation id was used for another request",
                    nextStep: "take a new operation id for each request"))
        }
        return .success(content.completed(with: stored.commit))
    }
}

extension DecisionState {
    /// Keeps the outcomes of an operation in a zone for its repeats.
    mutating func keep(_ outcomes: StoredOutcomes, of operation: Operation, zoneKey: [UInt8])
        throws(JournalError)
    {
        _ = try put(
            StoredOutcomes.key(operation, zoneKey: zoneKey), value: outcomes.encoded(), firstSeen: nil)
        guard let device = operation.device, case .success(var known)? = try self.device(device),
            known.last != operation.id
        else { return }
        known.last = operation.id
        known.digest = operation.digest
        _ = try put(StoredDevice.key(device), value: known.encoded(), firstSeen: nil)
    }

    /// The number of a device, which is given one if it has none.
    mutating func register(_ device: DeviceID) throws(JournalError) -> Result<UInt32, SyncError> {
        if let known = try self.device(device) { return known.map(\.number) }
        var number: UInt64 = 0
        if let stored = try entry(for: StoredDevice.numbersKey) {
            var reader = CBORReader(stored.entry.value)
            guard (try? reader.array()) != nil, let last = try? reader.unsigned() else {
                return .failure(.notUnderstood())
            }
            number = last
        }
        number += 1
        var writer = CBORWriter()
        writer.array(1)
        writer.unsigned(number)
        _ = try put(StoredDevice.numbersKey, value: writer.bytes, firstSeen: nil)
        let known = StoredDevice(number: UInt32(truncatingIfNeeded: number))
        _ = try put(StoredDevice.key(device), value: known.encoded(), firstSeen: nil)
        return .success(known.number)
    }
}

/// The eight bytes of a number, the highest first.
func bigEndian(_ value: UInt64) -> [UInt8] {
    (0..<8).map { place in UInt8(truncatingIfNeeded: value >> UInt64(56 - place * 8)) }
}
