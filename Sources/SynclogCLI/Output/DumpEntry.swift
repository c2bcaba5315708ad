import SynclogJournal

/// One entry of a journal as `dump` shows it: fields in a fixed order, each with one value or more.
struct DumpEntry: Sendable {
    /// The facts that address it.
    struct Address: Hashable, Sendable {
        var position: JournalPosition
        var cursor: Cursor
        /// Microseconds since 1970.
        var wall: Int64
        /// Microseconds since the session's label.
        var monotonic: Int64
    }

    /// One field with its values; a list has several.
    struct Field: Hashable, Sendable {
        /// The name that export and JSON show.
        var name: String
        /// The name that people read: `.title` for a user's field.
        var plainName: String
        var values: [[UInt8]]

        init(_ name: String, _ values: [[UInt8]]) {
            self.name = name
            plainName = name
            self.values = values
        }

        init(_ name: String, _ value: String) { self.init(name, [Array(value.utf8)]) }

        /// A field of a record.
        init(user key: String, _ values: [[UInt8]]) {
            name = UserFieldName.encode(key)
            plainName = "." + key
            self.values = values
        }
    }

    var address: Address
    /// The summary, always there.
    var message: String
    /// What the short forms show before the message: device, then zone and type, or kind.
    var device: String
    var subject: String
    /// Everything else, without what addresses the entry, message first.
    var fields: [Field]

    /// The fields that address the entry, in their order.
    var addressing: [Field] {
        [
            Field("__CURSOR", address.cursor.text),
            Field("__SEQNUM", String(address.position.commit)),
            Field("__INDEX", String(address.position.index)),
            Field("__SEQNUM_ID", address.cursor.journal.description),
            Field("__REALTIME_TIMESTAMP", String(address.wall)),
            Field("__MONOTONIC_TIMESTAMP", String(address.monotonic)),
            Field(
                "_BOOT_ID",
                String(repeating: "0", count: 16) + hexadecimal(address.cursor.session, digits: 16)),
        ]
    }
}

/// Names of user fields as importers of the journal format keep them: `F_` and A–Z, 0–9, `_`.
enum UserFieldName {
    /// The name in export and JSON: small letters become capitals, every other byte but a digit `_` and two hex digits.
    static func encode(_ key: String) -> String {
        var out = Array("F_".utf8)
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): out.append(byte - 0x20)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): out.append(byte)
            default:
                out.append(UInt8(ascii: "_"))
                for digit in [byte >> 4, byte & 15] {
                    out.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
                }
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The key that a name stands for, or nil if it is none of ours.
    static func decode(_ name: String) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.starts(with: "F_".utf8) else { return nil }
        var key: [UInt8] = []
        var place = 2
        while place < bytes.count {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): key.append(byte + 0x20)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): key.append(byte)
            case UInt8(ascii: "_"):
                guard place + 2 < bytes.count, let high = hexDigit(bytes[place + 1]),
                    let low = hexDigit(bytes[place + 2])
                else { return nil }
                key.append(high << 4 | low)
                place += 2
            default: return nil
            }
            place += 1
        }
        return String(validating: key, as: UTF8.self)
    }
}

/// What the journal export format and its JSON take for text.
enum PrintableText {
    /// Whether bytes are UTF-8 without control characters other than those allowed.
    static func isText(_ bytes: [UInt8], allowing allowed: [UInt8]) -> Bool {
        var ascii = true
        for byte in bytes {
            if byte < 0x20 || byte == 0x7F {
                if !allowed.contains(byte) { return false }
            } else if byte >= 0x80 {
                ascii = false
            }
        }
        if ascii { return true }
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        // The C1 controls, which are two bytes each.
        return !text.unicodeScalars.contains { $0.value >= 0x80 && $0.value < 0xA0 }
    }
}
