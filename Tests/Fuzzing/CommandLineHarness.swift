#if DEBUG || FUZZING
    import SynclogJournal
    import SynclogRecords
    import SynclogReplication
    import SynclogTestKit

    @testable import SynclogCLI

    /// Words of the command line; the first byte says what the rest is taken for. What is printed must be understood again.
    func fuzzCommandLine(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let kind = Kind.allCases[Int(first) % Kind.allCases.count]
        if kind == .value, let value = RecordValue(cbor: rest) { return checkValue(value) }
        if kind == .json { return checkJSON(rest) }
        guard let text = String(validating: rest, as: UTF8.self) else { return }
        switch kind {
        case .value, .json: break
        case .field: checkField(text)
        case .kinds: checkKinds(text)
        case .time: checkTime(text)
        case .cursor:
            guard let cursor = try? Cursor(text: text) else { return }
            require(cursor.text.utf8.elementsEqual(text.utf8), "a cursor has two texts")
            require((try? Cursor(bytes: cursor.bytes)) == cursor, "a cursor changes")
        case .tag:
            guard let tag = ChangeTag(text) else { return }
            var printed: [UInt8] = []
            printed.append(tag)
            require(printed == rest && tag.text.utf8.elementsEqual(rest), "a tag has two texts")
        case .base64:
            guard let content = Base64.decode(text) else { return }
            require(Base64.encode(content).utf8.elementsEqual(rest), "bytes have two texts")
        case .script:
            guard let script = try? CrashScript(name: "fuzz", text: text) else { return }
            let again = try? CrashScript(name: "fuzz", text: script.description)
            require(again == script, "a script changes when it is printed and read")
        case .options: checkOptions(text)
        }
    }

    enum Kind: CaseIterable {
        case value, json, field, kinds, time, cursor, tag, base64, script, options
    }

    /// A value of any kind becomes a word and a line of JSON, and both give it back.
    private func checkValue(_ value: RecordValue) {
        let word = FieldArgument.text("f", value)
        require(
            word.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control },
            "a word holds a control")
        let argument = try? FieldArgument(word)
        require(argument?.value == value, "a value changes when it is printed as a word and read")
        let json = ValueJSON.json(value)
        let kind = ValueJSON.kindToName(value)
        require((try? ValueJSON.value(json, kind: kind)) == value, "a value changes as JSON")
        let named = kind.flatMap { FieldKind($0.text) }
        require(kind == named, "a kind's name means another kind")
        var record = Record(recordType: "T", recordID: Record.ID(recordName: "n"))
        record["f"] = value
        guard let parsed = try? JSONParser.parse(JSONWriter.bytes(RecordLine.json(record))),
            let line = try? RecordLine(parsed, kinds: KindTable())
        else { fatalError("a record's line is not understood") }
        // The record leaves its own zone out of references.
        require(line.fields.map(\.value) == [record["f"]], "a record changes as a line")
        checkRecordForm(record, line)
    }

    /// What `list` prints straight from stored bytes is what is printed from values.
    private func checkRecordForm(_ record: Record, _ line: RecordLine) {
        let stored = StoredRecord(type: record.recordType, fields: record.fields, created: 0).encoded()
        var places = RecordPlaces()
        guard (try? places.read(stored.span)) != nil, let field = places.fields.first else {
            fatalError("a stored record is not understood")
        }
        var fast: [UInt8] = []
        ValueJSON.append(field.value, in: stored.span, to: &fast)
        let slow = record["f"].map { JSONWriter.bytes(ValueJSON.json($0)) }
        require(fast == slow, "list prints another value")
        require(
            ValueJSON.kindToName(field.value, in: stored.span)
                == record["f"].flatMap { ValueJSON.kindToName($0) },
            "list prints another kind")
    }

    private func checkJSON(_ bytes: [UInt8]) {
        guard let json = try? JSONParser.parse(bytes) else { return }
        let printed = JSONWriter.bytes(json)
        let again = try? JSONParser.parse(printed)
        require(again == json, "JSON changes when it is printed and read")
        require(again.map(JSONWriter.bytes) == printed, "JSON is printed in two ways")
        require(!printed.contains { $0 < 0x20 }, "JSON is printed with control characters")
        for line in [
            try? RecordLine(json, kinds: KindTable()), try? RecordLine(fields: json, kinds: KindTable()),
        ] {
            for field in line?.fields ?? [] { if let value = field.value { checkStoredValue(value) } }
        }
        if case .object(let members) = json {
            for kind in ["bytes", "location", "reference@z", "unknown", "date[]", "double", "int64"] {
                for member in members { _ = try? ValueJSON.value(member.value, kind: FieldKind(kind)) }
            }
        }
    }

    /// A value made from what somebody wrote can be stored and printed.
    private func checkStoredValue(_ value: RecordValue) {
        require(RecordValue(cbor: value.cbor) == value, "a value changes when it is stored")
        checkValue(value)
    }

    private func checkField(_ text: String) {
        guard let argument = try? FieldArgument(text) else { return }
        require(FieldArgument.isFieldName(argument.field), "a field has no name")
        if let value = argument.value { checkStoredValue(value) }
        // What stands behind a plain sign is the value, byte for byte.
        if let sign = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }),
            text.utf8[sign] == UInt8(ascii: "="), case .string(let string)? = argument.value
        {
            require(
                string.utf8.elementsEqual(text.utf8[text.utf8.index(after: sign)...]),
                "a text changes on its way in")
        }
    }

    private func checkKinds(_ text: String) {
        if let kind = FieldKind(text) {
            require(FieldKind(kind.text) == kind, "a kind changes when printed and read")
        }
        guard let table = try? KindTable(option: text) else { return }
        let printed = table.rows.map { "\($0.field):\($0.kind.text)" }.joined(separator: ",")
        let again = try? KindTable(option: printed)
        require(
            again?.rows.map(\.kind) == table.rows.map(\.kind), "kinds change when they are printed and read")
        for row in table.rows {
            for word in ["=1", ":=1", ":=[1]", "=1,2", ":={}"] {
                _ = try? FieldArgument(row.field + word, kinds: table)
            }
        }
    }

    private func checkTime(_ text: String) {
        if let milliseconds = InternetDate.milliseconds(text) {
            let printed = InternetDate.text(milliseconds)
            require(
                InternetDate.milliseconds(printed) == milliseconds,
                "a date changes when it is printed and read")
        }
        if let number = DoubleText.value(text) {
            let again = DoubleText.value(DoubleText.text(number))
            require(again?.bitPattern == number.bitPattern || number.isNaN, "a number changes")
        }
        for zone in [TimeZoneClock.utc, TimeZoneClock(name: "Europe/Berlin")] {
            for now: Int64 in [1_700_000_000_000_000, 0] {
                _ = try? TimeExpression(now: now, zone: zone).microseconds(text)
            }
        }
    }

    private func checkOptions(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let commands = SynclogCommand.commands
        let command = commands.first { $0.name.utf8.elementsEqual((words.first ?? "").utf8) } ?? commands[0]
        guard let (arguments, next) = try? OptionParser(options: command.allOptions).parse(words) else {
            return
        }
        require(next == words.count, "words are left over")
        require(arguments.operands.count <= words.count, "more operands than words")
        _ = try? SourceAddress(words.first ?? "")
        let stopping = OptionParser(options: Command.globalOptions, stopsAtOperand: true)
        if let (_, next) = try? stopping.parse(words) { require(next <= words.count, "beyond the last word") }
    }
#endif
