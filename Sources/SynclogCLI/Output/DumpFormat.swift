import SynclogJournal

/// A way to print entries.
protocol DumpFormat {
    /// Whether programs read it, so that nothing but entries may be printed among them.
    var isForPrograms: Bool { get }
    /// Appends an entry.
    mutating func append(_ entry: DumpEntry, to out: inout [UInt8])
}

/// The formats by name.
enum DumpFormats {
    /// The names, in the order of help.
    static let names = [
        "short", "short-full", "short-iso", "short-iso-precise", "short-precise", "short-monotonic",
        "short-delta",
        "short-unix", "verbose", "json", "export", "cat",
    ]

    /// The format of a name, or nil.
    static func format(_ name: String, clock: TimeZoneClock) -> (any DumpFormat)? {
        switch name {
        case "verbose": VerboseFormat(clock: clock)
        case "json": JSONFormat()
        case "export": ExportFormat()
        case "cat": CatFormat()
        default: ShortFormat.Stamp(rawValue: name).map { ShortFormat(stamp: $0, clock: clock) }
        }
    }
}

/// Only the message.
struct CatFormat: DumpFormat {
    var isForPrograms: Bool { false }

    func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        out += entry.message.utf8
        out.append(0x0A)
    }
}

/// The journal export format: text as `NAME=value`, everything else with its size.
struct ExportFormat: DumpFormat {
    var isForPrograms: Bool { true }

    func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        for field in entry.addressing + entry.fields {
            for value in field.values { Self.append(field.name, value, to: &out) }
        }
        out.append(0x0A)
    }

    private static func append(_ name: String, _ value: [UInt8], to out: inout [UInt8]) {
        out += name.utf8
        if PrintableText.isText(value, allowing: [0x09]) {
            out.append(UInt8(ascii: "="))
        } else {
            out.append(0x0A)
            let size = UInt64(value.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                out.append(UInt8(truncatingIfNeeded: size >> shift))
            }
        }
        out += value
        out.append(0x0A)
    }
}

/// One JSON object a line; every value is a string, an array of byte numbers, or an array of those.
struct JSONFormat: DumpFormat {
    var isForPrograms: Bool { true }

    func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        let fields = entry.addressing + entry.fields.sorted { bytesPrecede($0.name, $1.name) }
        for (place, field) in fields.enumerated() {
            if place > 0 { out.append(UInt8(ascii: ",")) }
            JSONWriter.append(string: field.name, to: &out)
            out.append(UInt8(ascii: ":"))
            if field.values.count == 1 {
                Self.append(field.values[0], to: &out)
                continue
            }
            out.append(UInt8(ascii: "["))
            for (index, value) in field.values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.append(value, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        }
        out += "}\n".utf8
    }

    private static func append(_ value: [UInt8], to out: inout [UInt8]) {
        if PrintableText.isText(value, allowing: [0x09, 0x0A]) {
            JSONWriter.append(utf8: value, to: &out)
            return
        }
        out.append(UInt8(ascii: "["))
        for (place, byte) in value.enumerated() {
            if place > 0 { out.append(UInt8(ascii: ",")) }
            if byte >= 100 { out.append(UInt8(ascii: "0") + byte / 100) }
            if byte >= 10 { out.append(UInt8(ascii: "0") + byte / 10 % 10) }
            out.append(UInt8(ascii: "0") + byte % 10)
        }
        out.append(UInt8(ascii: "]"))
    }
}

/// All fields, one a line, under a line with time and cursor.
struct VerboseFormat: DumpFormat {
    let clock: TimeZoneClock
    var isForPrograms: Bool { false }

    func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        out +=
            "\(TimeStampText(entry.address.wall, clock).full(precise: true)) [\(entry.address.cursor.text)]\n"
            .utf8
        for field in entry.fields {
            for value in field.values {
                let lead = "    \(field.plainName)="
                out += lead.utf8
                if PrintableText.isText(value, allowing: [0x09, 0x0A]) {
                    // Further lines of a value stand below its first.
                    let indent = [UInt8](repeating: 0x20, count: lead.utf8.count)
                    for byte in value {
                        out.append(byte)
                        if byte == 0x0A { out += indent }
                    }
                } else {
                    out += "[\(value.count)B blob data]".utf8
                }
                out.append(0x0A)
            }
        }
    }
}
