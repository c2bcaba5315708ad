import SynclogRecords

/// Makes the records of a database what a row of wishes says, in order, in as few requests as the limits allow.
struct RecordReconciler {
    private let opened: OpenedDatabase
    private let console: Console
    private let createsZones: Bool
    private var pending: [RecordWish] = []
    private var pendingNames: Set<[UInt8]> = []
    private var pendingSize = 0
    private var knownZones: Set<[UInt8]> = []
    /// What was done so far.
    private(set) var counts = ImportCounts()

    /// The most items of a request.
    static let itemCountMax = 400
    /// The most bytes of a request, as estimated; a little below the authority's 2 MB.
    static let requestSizeMax = 1_900_000
    private static let attemptsMax = 20

    init(opened: OpenedDatabase, console: Console, createsZones: Bool) {
        self.opened = opened
        self.console = console
        self.createsZones = createsZones
    }

    /// Takes a wish; it is carried out now or later, after all that were taken before.
    mutating func add(_ wish: RecordWish) async throws(CommandFailure) {
        switch wish.action {
        case .makeZone:
            try await flush()
            try await zone(wish.zone)
            return
        case .deleteZone:
            try await flush()
            try await deleteZone(wish)
            return
        case .save, .delete: break
        }
        let name = Array(wish.name.utf8)
        let otherZone = pending.first.map { !$0.zone.hasSameBytes(as: wish.zone) } ?? false
        if otherZone || pending.count >= Self.itemCountMax || pendingNames.contains(name)
            || pendingSize + wish.size > Self.requestSizeMax
        {
            try await flush()
        }
        pending.append(wish)
        pendingNames.insert(name)
        pendingSize += wish.size
    }

    /// Deletes the records of a zone whose names are not among those given.
    mutating func deleteOthers(in zone: String, keeping names: Set<[UInt8]>) async throws(CommandFailure) {
        try await flush()
        try await self.zone(zone)
        let records = try await database { () throws(SyncError) in
            try await opened.database.allRecords(inZoneWith: RecordZone.ID(zoneName: zone), desiredKeys: [])
        }
        for record in records where !names.contains(Array(record.recordID.recordName.utf8)) {
            let name = record.recordID.recordName
            try await add(
                RecordWish(
                    zone: zone, name: name, action: .delete,
                    place: "record '\(shown(name))' in zone '\(shown(zone))'"))
        }
        try await flush()
    }

    private mutating func zone(_ name: String) async throws(CommandFailure) {
        guard !knownZones.contains(Array(name.utf8)) else { return }
        try await opened.ensureZone(RecordZone.ID(zoneName: name), create: createsZones, console)
        knownZones.insert(Array(name.utf8))
    }

    private mutating func deleteZone(_ wish: RecordWish) async throws(CommandFailure) {
        let id = RecordZone.ID(zoneName: wish.zone)
        knownZones.remove(Array(wish.zone.utf8))
        guard try await opened.hasZone(id) else { return }
        let results = try await database { () throws(SyncError) in
            try await opened.database.modifyRecordZones(
                saving: [], deleting: [id], context: opened.writeContext())
        }
        if case .failure(let error)? = results.deleteResults[id] { throw located(error, wish) }
    }

    /// Carries out everything taken so far.
    mutating func flush() async throws(CommandFailure) {
        guard let zone = pending.first?.zone else { return }
        let wishes = pending
        pending = []
        pendingNames = []
        pendingSize = 0
        try await self.zone(zone)
        for _ in 0..<Self.attemptsMax {
            if let done = try await attempt(wishes, RecordZone.ID(zoneName: zone)) {
                counts += done
                return
            }
        }
        throw CommandFailure(
            .busy, "records of zone '\(shown(zone))' are changed by others all the time",
            next: "run the command again")
    }

    /// Looks up what is there, sends what differs.
    /// - Returns: What was done, or nil if others changed something meanwhile and nothing was done.
    private func attempt(_ wishes: [RecordWish], _ zone: RecordZone.ID) async throws(CommandFailure)
        -> ImportCounts?
    {
        let ids = wishes.map { Record.ID(recordName: $0.name, zoneID: zone) }
        let found = try await database { () throws(SyncError) in try await opened.database.records(for: ids) }
        var done = ImportCounts()
        var saves: [Record] = []
        var deletions: [RecordDeletion] = []
        var wishOf: [Record.ID: RecordWish] = [:]
        for (wish, id) in zip(wishes, ids) {
            wishOf[id] = wish
            let existing: Record?
            switch found[id] {
            case .success(let record)?: existing = record
            case .failure(let error)? where error.code == .unknownItem: existing = nil
            case .failure(let error)?: throw located(error, wish)
            case nil:
                throw CommandFailure(
                    .remote, "\(wish.place): no answer about the record", next: "import again")
            }
            switch wish.action {
            case .save(let type, let fields, let replaces):
                if let existing {
                    guard let changed = Self.changed(existing, type, fields, replaces: replaces) else {
                        done.unchanged += 1
                        continue
                    }
                    saves.append(changed)
                    done.changed += 1
                } else {
                    var record = Record(recordType: type ?? "Record", recordID: id)
                    for field in fields where field.value != nil { record[field.field] = field.value }
                    saves.append(record)
                    done.new += 1
                }
            case .delete:
                guard let existing else {
                    done.unchanged += 1
                    continue
                }
                deletions.append(RecordDeletion(existing))
                done.deleted += 1
            case .makeZone, .deleteZone: continue
            }
        }
        if saves.isEmpty, deletions.isEmpty { return done }
        let results = try await database { [saves, deletions] () throws(SyncError) in
            try await opened.database.modifyRecords(
                saving: saves, deleting: deletions, context: opened.writeContext())
        }
        var failures: [(SyncError, RecordWish)] = []
        for id in ids {
            guard let wish = wishOf[id] else { continue }
            if case .failure(let error)? = results.saveResults[id] { failures.append((error, wish)) }
            if case .failure(let error)? = results.deleteResults[id] { failures.append((error, wish)) }
        }
        guard !failures.isEmpty else { return done }
        let hard = failures.first { failure in
            ![.serverRecordChanged, .unknownItem, .batchRequestFailed].contains(failure.0.code)
        }
        if let (error, wish) = hard { throw located(error, wish) }
        return nil
    }

    /// The record as wished, or nil if it is that already; only what differs counts as changed.
    private static func changed(
        _ existing: Record, _ type: String?, _ fields: [FieldArgument], replaces: Bool
    ) -> Record? {
        var wanted = existing
        for field in fields { wanted[field.field] = field.value }
        var record = existing
        var differs = false
        if let type, !type.hasSameBytes(as: existing.recordType) {
            record.recordType = type
            differs = true
        }
        var named: Set<[UInt8]> = []
        for field in fields {
            named.insert(Array(field.field.utf8))
            // Compared after the record took it in, which puts references to the own zone into their short form.
            guard wanted[field.field] != existing[field.field] else { continue }
            record[field.field] = field.value
            differs = true
        }
        if replaces {
            for key in existing.allKeys() where !named.contains(Array(key.utf8)) {
                record[key] = nil
                differs = true
            }
        }
        return differs ? record : nil
    }

    private func located(_ error: SyncError, _ wish: RecordWish) -> CommandFailure {
        var failure = CommandFailure(error)
        failure.message = "\(wish.place): \(failure.message)"
        return failure
    }
}
