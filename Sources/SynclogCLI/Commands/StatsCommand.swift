import SynclogJournal

extension Command {
    /// The command `synclog stats`.
    static let stats = Command(
        name: "stats",
        summary: "print sizes and counts of the journal",
        details: [
            "What is live, what a merge would drop, and which deletions are kept and why. The bytes of entries are those of names "
                + "and values before compression."
        ],
        options: [Option("json", help: "one JSON object")],
        examples: ["synclog -D notes stats"],
        run: { invocation throws(CommandFailure) in try runStats(invocation) })

    private static func runStats(_ invocation: Invocation) throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        let directory = try invocation.directory()
        let opened = try journal { () throws(JournalError) in try Journal.open(at: directory, mode: .readOnly)
        }
        defer { opened.close() }
        let head = try journal { () throws(JournalError) in try opened.head() }
        let numbers = try journal { () throws(JournalError) in try opened.statistics() }
        let follows = try journal { () throws(JournalError) in try opened.followerState() } != nil
        let rows: [(String, JSONValue)] = [
            ("journal", .string(opened.id.description)), ("head", .number(String(head.commit))),
            ("recoveryPending", .bool(head.recoveryPending)), ("follower", .bool(follows)),
            ("segments", .number(String(numbers.segments))), ("blocks", .number(String(numbers.blocks))),
            ("entries", .number(String(numbers.entries))), ("rawBytes", .number(String(numbers.rawBytes))),
            ("storedBytes", .number(String(numbers.storedBytes))),
        ]
        var names = ZoneNumbers(journal: opened)
        let floors = try numbers.floors.map { floor throws(CommandFailure) in
            (
                try journal { () throws(JournalError) in try names.name(of: floor.zone) }, floor.zone,
                floor.commit
            )
        }
        if invocation.arguments.has("json") {
            let more =
                contentRows(numbers) + [
                    ("floors", json(floors)), ("leases", json(numbers.leases, numbers.clock)),
                ]
            return try invocation.console.line(JSONWriter.text(.members(rows + more)))
        }
        for (name, value) in rows {
            let text = if case .string(let text) = value { text } else { JSONWriter.text(value) }
            try row(name, text, invocation.console)
        }
        for (name, share) in shares(numbers) {
            try row(name, "\(share.entries) entries, \(share.bytes) bytes", invocation.console)
        }
        let held = numbers.held
        let reasons = [
            (held.lease, "for a lease"), (held.retention, "too young"),
            (held.olderPut, "with an older version"),
            (held.sourceFloor, "for the source"), (held.nothing, "by nothing: the next merge drops them"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !reasons.isEmpty { try row("tombstonesKept", reasons.joined(separator: ", "), invocation.console) }
        for (name, zone, commit) in floors {
            let what =
                zone == 0 ? "the walk over zones" : name.map { "zone \(shown($0))" } ?? "zone number \(zone)"
            try row("floor", "commit \(commit), \(what)", invocation.console)
        }
        for (holder, lease) in numbers.leases {
            try row(
                "lease",
                "\(kind(lease)) \(hexadecimal(holder)) has everything up to commit \(lease.commit), "
                    + "\(state(lease, numbers.clock)) until \(InternetDate.text(lease.until / 1000))",
                invocation.console)
        }
    }

    private static func row(_ name: String, _ text: String, _ console: Console) throws(CommandFailure) {
        try console.line(name + String(repeating: " ", count: 17 - name.utf8.count) + text)
    }

    private static func shares(_ numbers: JournalStatistics) -> [(String, JournalStatistics.Share)] {
        [
            ("live", numbers.live), ("dead", numbers.dead), ("tombstones", numbers.tombstones),
            ("notes", numbers.notes),
        ]
    }

    private static func contentRows(_ numbers: JournalStatistics) -> [(String, JSONValue)] {
        let held = numbers.held
        return shares(numbers).map { name, share in
            (
                name,
                .members([
                    ("entries", .number(String(share.entries))), ("bytes", .number(String(share.bytes))),
                ])
            )
        } + [
            (
                "tombstonesKept",
                .members([
                    ("lease", .number(String(held.lease))), ("age", .number(String(held.retention))),
                    ("olderVersion", .number(String(held.olderPut))),
                    ("source", .number(String(held.sourceFloor))), ("nothing", .number(String(held.nothing))),
                ])
            )
        ]
    }

    private static func json(_ floors: [(name: String?, zone: UInt64, commit: UInt64)]) -> JSONValue {
        .array(
            floors.map { floor in
                .members([
                    ("number", .number(String(floor.zone))),
                    ("zone", floor.name.map { .string($0) } ?? .null),
                    ("commit", .number(String(floor.commit))),
                ])
            })
    }

    private static func json(_ leases: [(holder: [UInt8], lease: Lease)], _ clock: Int64) -> JSONValue {
        .array(
            leases.map { holder, lease in
                .members([
                    ("holder", .string(hexadecimal(holder))), ("kind", .string(kind(lease))),
                    ("commit", .number(String(lease.commit))),
                    ("until", .string(InternetDate.text(lease.until / 1000))),
                    ("state", .string(state(lease, clock))),
                ])
            })
    }

    private static func kind(_ lease: Lease) -> String {
        switch lease.kind {
        case .replica: "follower"
        case .device: "device"
        }
    }

    private static func state(_ lease: Lease, _ clock: Int64) -> String {
        lease.isLive(at: clock) ? "live" : "expired"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
