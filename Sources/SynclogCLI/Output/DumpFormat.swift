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
        out.append(entry.bytes(entry.message))
        out.append(0x0A)
    }
}

/// The journal export format: text as `NAME=value`, everything else with its size.
struct ExportFormat: DumpFormat {
    var isForPrograms: Bool { true }

    func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        for field in AddressField.all {
            out.append(field.name)
            out.append(UInt8(ascii: "="))
            field.append(entry.address, to: &out)
            out.append(0x0A)
        }
        for field in entry.fields {
            for value in field.values {
                out.append(entry.bytes(field.name))
                Self.append(entry.bytes(entry.value(value)), to: &out)
            }
        }
        out.append(0x0A)
    }

    private static func append(_ value: Span<UInt8>, to out: inout [UInt8]) {
        if PrintableText.isText(value, lineFeeds: false) {
            out.append(UInt8(ascii: "="))
        } else {
            out.append(0x0A)
            let size = UInt64(value.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                out.append(UInt8(truncatingIfNeeded: size >> shift))
            }
        }
        out.append(value)
        out.append(0x0A)
    }
}

/// One JSON object a line; every value is a string, an array of byte numbers, or an array of those.
struct JSONFormat: DumpFormat {
    /// The fields of an entry in rising order of their names' bytes.
    private var sorted: [DumpEntry.Place] = []
    var isForPrograms: Bool { true }

    mutating func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        var lead: StaticString = "{\""
        for field in AddressField.all {
            out.append(lead)
            out.append(field.name)
            out.append("\":\"")
            field.append(entry.address, to: &out)
            lead = "\",\""
        }
        out.append(UInt8(ascii: "\""))
        sort(entry)
        for field in sorted {
            out.append(",\"")
            out.append(entry.bytes(field.name))
            out.append("\":")
            if field.values.count == 1 {
                Self.append(entry.bytes(entry.value(field.values.lowerBound)), to: &out)
                continue
            }
            out.append(UInt8(ascii: "["))
            for value in field.values {
                if value > field.values.lowerBound { out.append(UInt8(ascii: ",")) }
                Self.append(entry.bytes(entry.value(value)), to: &out)
            }
            out.append(UInt8(ascii: "]"))
        }
        out.append("}\n")
    }

    /// By insertion: an entry has few fields, and most of them come in order.
    private mutating func sort(_ entry: DumpEntry) {
        sorted.removeAll(keepingCapacity: true)
        for field in entry.fields {
            var place = sorted.count
            sorted.append(field)
            while place > 0, entry.precedes(field, sorted[place - 1]) {
                sorted[place] = sorted[place - 1]
                place -= 1
            }
            sorted[place] = field
        }
    }

    private static func append(_ value: Span<UInt8>, to out: inout [UInt8]) {
        if PrintableText.isText(value, lineFeeds: true) {
            JSONWriter.append(utf8: value, to: &out)
            return
        }
        out.append(UInt8(ascii: "["))
        for place in value.indices {
            if place > 0 { out.append(UInt8(ascii: ",")) }
            out.append(decimal: value[place])
        }
        out.append(UInt8(ascii: "]"))
    }
}

/// All fields, one a line, under a line with time and cursor.
struct VerboseFormat: DumpFormat {
    let clock: TimeZoneClock
    var isForPrograms: Bool { false }

    func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        out += TimeStampText(entry.address.wall, clock).full(precise: true).utf8
        out.append(" [")
        entry.address.cursor.append(to: &out)
        out.append("]\n")
        for field in entry.fields {
            for value in field.values {
                out.append("    ")
                out.append(entry.bytes(field.plainName))
                out.append(UInt8(ascii: "="))
                let value = entry.bytes(entry.value(value))
                if PrintableText.isText(value, lineFeeds: true) {
                    // Further lines of a value stand below its first.
                    for place in value.indices {
                        out.append(value[place])
                        if value[place] == 0x0A {
                            out.append(contentsOf: repeatElement(0x20, count: 5 + field.plainName.count))
                        }
                    }
                } else {
                    out.append(UInt8(ascii: "["))
                    out.append(decimal: value.count)
                    out.append("B blob data]")
                }
                out.append(0x0A)
            }
        }
    }
}
