import SynclogRecords

extension Command {
    /// The command `synclog import`.
    static let `import` = Command(
        name: "import",
        operands: "[ZONE] FILE",
        summary: "make records equal to the lines of a file",
        details: [
            "FILE holds one JSON object a line; - is standard input. With --key a line holds the fields of a "
                + "record side by side. Without it lines are those of 'list --json' and 'export'; ZONE may then "
                + "be left out, or picks the lines of one zone. Nothing is written if a line is wrong.",
            "A record that is equal to its line already is not changed. Requests hold at most 400 records or 2 MB. "
                + "What was new, changed, deleted and unchanged is printed at the end.",
            "With --format export FILE is what 'dump -o export' printed; its saves and deletes are repeated in order.",
            """
            Values:
              JSON               field
              text               string
              whole number       int64; true and false are 1 and 0
              other number       double
              array              list of strings, of whole numbers or of doubles
              null               no field
            Kinds of --types, for what JSON cannot tell:
              bytes (base64), date (RFC 3339), location (an object of latitude,
              longitude, ...), reference (a name in the same zone, or an object of
              zone and recordName), reference@ZONE (names in another zone), int64 and
              double (also as text, with NaN, inf and -inf), string, and lists of
              them such as date[]
            """,
        ],
        options: [
            Option("key", nil, .required("FIELD"), help: "the field that holds the record's name"),
            Option("type-field", nil, .required("FIELD"), help: "the field that holds the record's type"),
            Option("type", "t", .required("TYPE"), help: "the type of new records without one (Record)"),
            Option("types", nil, .required("LIST"), help: "kinds of fields: FIELD:KIND,FIELD:KIND"),
            Option(
                "where", nil, .required("FIELD=VALUE"), help: "only lines with this value; may be given again"
            ),
            Option("snapshot", help: "delete the zone's records that the file lacks"),
            Option("merge", help: "keep fields that the line lacks"),
            Option("no-create", help: "refuse instead of making a zone"),
            Option("format", nil, .required("FORMAT"), help: "lines (default) or export"),
            Option("json", help: "print the counts as JSON"),
        ],
        examples: [
            "synclog -D tz import zones tz.ndjson --key name --snapshot \\",
            "    --type-field type --types 'tzif:bytes,location:location'",
            "synclog -D copy import notes.ndjson",
        ],
        run: runImport)

    private static func runImport(_ invocation: Invocation) async throws(CommandFailure) {
        let words = try invocation.operands(1...2)
        let arguments = invocation.arguments
        let zone = words.count == 2 ? words[0] : nil
        let job = ImportJob(
            path: words[words.count - 1], source: try source(invocation, zone: zone), zone: zone,
            isSnapshot: arguments.has("snapshot"), createsZones: !arguments.has("no-create"))
        try await OpenedDatabase.use(invocation, writing: true) { opened throws(CommandFailure) in
            let counts = try await job.run(on: opened, invocation.console)
            let rows = [
                ("new", counts.new), ("changed", counts.changed), ("deleted", counts.deleted),
                ("unchanged", counts.unchanged),
            ]
            if arguments.has("json") {
                try invocation.console.line(
                    JSONWriter.text(.members(rows.map { ($0.0, .number(String($0.1))) })))
            } else {
                try invocation.console.line(rows.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
            }
        }
    }

    private static func source(_ invocation: Invocation, zone: String?) throws(CommandFailure)
        -> ImportJob.Source
    {
        let arguments = invocation.arguments
        switch arguments.value("format") ?? "lines" {
        case "lines": break
        case "export":
            let others = ["key", "type-field", "type", "types", "where", "snapshot", "merge"].filter {
                arguments.has($0)
            }
            if let other = others.first {
                throw .usage("--format export and --\(other) exclude each other", next: invocation.usageStep)
            }
            return .stream(ExportStream(zone: zone))
        case let other:
            throw .usage(
                "--format: '\(shown(other))' is neither lines nor export", next: invocation.usageStep)
        }
        var conditions: [(field: String, value: String)] = []
        for text in arguments.values("where") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw .usage("--where: '\(shown(text))' is not FIELD=VALUE", next: invocation.usageStep)
            }
            conditions.append((String(parts[0]), String(parts[1])))
        }
        let kinds = try arguments.value("types").map { text throws(CommandFailure) in
            try KindTable(option: text)
        }
        let key = arguments.value("key")
        if key != nil, zone == nil {
            throw .usage("--key needs a zone before the file", next: invocation.usageStep)
        }
        if key == nil, arguments.has("type-field") {
            throw .usage("--type-field needs --key", next: invocation.usageStep)
        }
        return .lines(
            ImportLines(
                zone: zone, key: key, typeField: arguments.value("type-field"), type: arguments.value("type"),
                kinds: kinds ?? KindTable(), conditions: conditions, merges: arguments.has("merge")))
    }
}

/// One import: checks the whole input first, then carries it out.
struct ImportJob: Sendable {
    /// What the input is.
    enum Source: Sendable {
        case lines(ImportLines)
        case stream(ExportStream)
    }

    let path: String
    let source: Source
    let zone: String?
    let isSnapshot: Bool
    let createsZones: Bool

    /// Everything from a pipe is kept in memory, up to this many bytes, since it is read twice.
    private static let pipeSizeMax = 1 << 30

    func run(on opened: OpenedDatabase, _ console: Console) async throws(CommandFailure) -> ImportCounts {
        let kept: (bytes: [UInt8], name: String)?
        if InputReader.isRepeatable(path) {
            kept = nil
        } else {
            let input = try InputReader(path)
            kept = (try input.rest(sizeMax: Self.pipeSizeMax), input.name)
        }
        func reader() throws(CommandFailure) -> InputReader {
            if let kept { return InputReader(bytes: kept.bytes, name: kept.name) }
            return try InputReader(path)
        }
        var total = 0
        try await read(try reader()) { wish throws(CommandFailure) in
            try wish.validate()
            total += 1
        }
        var reconciler = RecordReconciler(opened: opened, console: console, createsZones: createsZones)
        var names: [[UInt8]: Set<[UInt8]>] = [:]
        if isSnapshot, let zone { names[Array(zone.utf8)] = [] }
        var done = 0
        try await read(try reader()) { wish throws(CommandFailure) in
            try await reconciler.add(wish)
            if isSnapshot { names[Array(wish.zone.utf8), default: []].insert(Array(wish.name.utf8)) }
            done += 1
            if done % 100 == 0 { console.progress("import: \(done) of \(total)") }
        }
        try await reconciler.flush()
        for zone in names.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try await reconciler.deleteOthers(
                in: String(decoding: zone, as: UTF8.self), keeping: names[zone] ?? [])
        }
        console.clearProgress()
        return reconciler.counts
    }

    private func read(
        _ input: InputReader, _ use: (RecordWish) async throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        switch source {
        case .lines(let lines): try await lines.read(input, use)
        case .stream(let stream): try await stream.read(input, use)
        }
    }
}
