import SynclogJournal
import SynclogRecords

/// How `list` and `export` print a record: straight from what is stored, without making values of its fields first.
enum RecordForm {
    /// Name, type and change tag between tabs.
    case row
    /// One JSON object, with the zone in front if it is given.
    case json(zone: String?)

    /// Appends a line.
    func append(_ record: borrowing JournalDatabase.LiveRecord, to out: inout [UInt8]) {
        let name = record.name
        let type = record.value.extracting(record.places.type)
        switch self {
        case .row:
            out.append(shown: name)
            out.append(UInt8(ascii: "\t"))
            out.append(type)
            out.append(UInt8(ascii: "\t"))
            out.append(record.tag)
        case .json(let zone):
            out.append(UInt8(ascii: "{"))
            if let zone {
                out.append("\"zone\":")
                JSONWriter.append(string: zone, to: &out)
                out.append(UInt8(ascii: ","))
            }
            out.append("\"recordName\":")
            JSONWriter.append(utf8: name, to: &out)
            out.append(",\"recordType\":")
            JSONWriter.append(utf8: type, to: &out)
            out.append(",\"changeTag\":\"")
            out.append(record.tag)
            out.append("\",")
            Self.appendFields(of: record, to: &out)
            out.append(UInt8(ascii: "}"))
        }
        out.append(0x0A)
    }

    private static func appendFields(
        of record: borrowing JournalDatabase.LiveRecord, to out: inout [UInt8]
    ) {
        let value = record.value
        out.append("\"fields\":{")
        for (number, field) in record.places.fields.enumerated() {
            if number > 0 { out.append(UInt8(ascii: ",")) }
            JSONWriter.append(utf8: value.extracting(field.key), to: &out)
            out.append(UInt8(ascii: ":"))
            ValueJSON.append(field.value, in: value, to: &out)
        }
        out.append("},\"types\":{")
        var isFirst = true
        for field in record.places.fields {
            guard let kind = ValueJSON.kindToName(field.value, in: value) else { continue }
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = false
            JSONWriter.append(utf8: value.extracting(field.key), to: &out)
            out.append(UInt8(ascii: ":"))
            JSONWriter.append(string: kind.text, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }
}

extension ValueJSON {
    /// Appends the JSON of a value where it lies in a record's value.
    static func append(_ place: ValuePlace, in value: Span<UInt8>, to out: inout [UInt8]) {
        switch place {
        case .string(let text): JSONWriter.append(utf8: value.extracting(text), to: &out)
        case .int64(let number):
            if isExact(number) { return out.append(decimal: number) }
            out.append(UInt8(ascii: "\""))
            out.append(decimal: number)
            out.append(UInt8(ascii: "\""))
        case .double(let number): JSONWriter.append(json(number), to: &out)
        case .bytes(let bytes):
            out.append(UInt8(ascii: "\""))
            Base64.append(value.extracting(bytes), to: &out)
            out.append(UInt8(ascii: "\""))
        case .date(let milliseconds):
            out.append(UInt8(ascii: "\""))
            InternetDate.append(milliseconds, to: &out)
            out.append(UInt8(ascii: "\""))
        case .other(let item):
            JSONWriter.append(json(RecordValue(item: value.extracting(item))), to: &out)
        }
    }

    /// The kind that `types` must name; see ``kindToName(_:)``.
    static func kindToName(_ place: ValuePlace, in value: Span<UInt8>) -> FieldKind? {
        switch place {
        case .string: nil
        case .int64(let number): kindToName(.int64(number))
        case .double(let number): kindToName(.double(number))
        case .bytes: FieldKind(.bytes)
        case .date: FieldKind(.date)
        case .other(let item): kindToName(RecordValue(item: value.extracting(item)))
        }
    }
}
