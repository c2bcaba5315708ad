/// Dates as RFC 3339 writes them, with milliseconds.
///
/// Years outside 0000 to 9999, which RFC 3339 does not know, have a sign and as many digits as they need.
enum InternetDate {
    /// The text of milliseconds since 1970, in UTC.
    static func text(_ milliseconds: Int64) -> String {
        var out: [UInt8] = []
        append(milliseconds, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the text of milliseconds since 1970, in UTC.
    static func append(_ milliseconds: Int64, to out: inout [UInt8]) {
        let day = CivilTime.floorDivide(milliseconds, 86_400_000)
        let rest = CivilTime.modulo(milliseconds, 86_400_000)
        let (year, month, date) = CivilTime.date(days: day)
        if year > 9999 { out.append(UInt8(ascii: "+")) }
        out.append(decimal: year, width: 4)
        func add(_ sign: UInt8, _ number: Int64) {
            out.append(sign)
            out.append(decimal: number, width: 2)
        }
        add(UInt8(ascii: "-"), Int64(month))
        add(UInt8(ascii: "-"), Int64(date))
        add(UInt8(ascii: "T"), rest / 3_600_000)
        add(UInt8(ascii: ":"), rest / 60000 % 60)
        add(UInt8(ascii: ":"), rest / 1000 % 60)
        out.append(UInt8(ascii: "."))
        out.append(decimal: rest % 1000, width: 3)
        out.append(UInt8(ascii: "Z"))
    }

    /// The milliseconds since 1970 of a text, or nil if it is not such a date.
    ///
    /// Digits after the third of a second are dropped.
    static func milliseconds(_ text: String) -> Int64? {
        guard let micro = microseconds(text) else { return nil }
        return micro.milliseconds
    }

    /// The parts of a text: milliseconds since 1970, and the microseconds above them.
    static func microseconds(_ text: String) -> (milliseconds: Int64, microseconds: Int64)? {
        var scanner = TextScanner(text)
        let negative = scanner.skip("-")
        let signed = negative || scanner.skip("+")
        guard let year = scanner.number(digits: signed ? 4...9 : 4...4), scanner.skip("-"),
            let month = scanner.number(digits: 2...2), (1...12).contains(month), scanner.skip("-"),
            let day = scanner.number(digits: 2...2),
            scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
            let hour = scanner.number(digits: 2...2), hour < 24, scanner.skip(":"),
            let minute = scanner.number(digits: 2...2), minute < 60, scanner.skip(":"),
            let second = scanner.number(digits: 2...2), second < 60
        else { return nil }
        let signedYear = negative ? -year : year
        guard day >= 1, day <= CivilTime.dayCount(year: signedYear, month: Int(month)) else { return nil }
        var micro: Int64 = 0
        if scanner.skip(".") {
            guard let fraction = scanner.fraction() else { return nil }
            micro = fraction
        }
        var shift: Int64 = 0
        if !scanner.skip("Z"), !scanner.skip("z") {
            let west = scanner.skip("-")
            guard west || scanner.skip("+"), let hours = scanner.number(digits: 2...2), hours < 24,
                scanner.skip(":"), let minutes = scanner.number(digits: 2...2), minutes < 60
            else { return nil }
            shift = (hours * 60 + minutes) * (west ? 60 : -60)
        }
        guard scanner.isAtEnd else { return nil }
        let days = CivilTime.days(year: signedYear, month: Int(month), day: Int(day))
        let seconds = hour * 3600 + minute * 60 + second + shift
        // Count from the end of the day before 1970, or the first day that 64 bits reach would overflow.
        let whole = days < 0 ? days + 1 : days
        let (dayPart, tooFar) = whole.multipliedReportingOverflow(by: 86_400_000)
        let rest = seconds * 1000 + micro / 1000 - (days < 0 ? 86_400_000 : 0)
        let (total, over) = dayPart.addingReportingOverflow(rest)
        guard !tooFar, !over else { return nil }
        return (total, micro % 1000)
    }
}

/// Takes texts apart from left to right.
struct TextScanner {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether everything was taken.
    var isAtEnd: Bool { offset == bytes.count }

    /// What was not taken yet.
    var rest: String { String(decoding: bytes[offset...], as: UTF8.self) }

    /// Takes a text if it comes next.
    mutating func skip(_ text: String) -> Bool {
        let wanted = text.utf8
        guard bytes.count - offset >= wanted.count,
            bytes[offset..<offset + wanted.count].elementsEqual(wanted)
        else {
            return false
        }
        offset += wanted.count
        return true
    }

    /// Takes a whole number of so many digits.
    mutating func number(digits: ClosedRange<Int>) -> Int64? {
        var end = offset
        var value: Int64 = 0
        while end < bytes.count, end - offset < digits.upperBound, bytes[end] >= 0x30, bytes[end] <= 0x39 {
            value = value * 10 + Int64(bytes[end] - 0x30)
            end += 1
        }
        guard end - offset >= digits.lowerBound else { return nil }
        offset = end
        return value
    }

    /// Takes the digits after a decimal point.
    /// - Returns: Microseconds; further digits are dropped.
    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while offset < bytes.count, bytes[offset] >= 0x30, bytes[offset] <= 0x39 {
            if count < 6 { value = value * 10 + Int64(bytes[offset] - 0x30) }
            count += 1
            offset += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 6)..<6 { value *= 10 }
        return value
    }

    /// Takes letters.
    mutating func letters() -> String {
        let start = offset
        while offset < bytes.count, bytes[offset] | 0x20 >= 0x61, bytes[offset] | 0x20 <= 0x7A { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// Takes spaces.
    mutating func skipSpaces() { while offset < bytes.count, bytes[offset] == 0x20 { offset += 1 } }
}
