/// Days and times of the proleptic Gregorian calendar in UTC, for every 64-bit number of milliseconds.
enum CivilTime {
    /// The days from 1970-01-01 to a date.
    static func days(year: Int64, month: Int, day: Int) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date that lies `days` after 1970-01-01.
    static func date(days: Int64) -> (year: Int64, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let place = (5 * dayOfYear + 2) / 153
        let month = Int(place < 10 ? place + 3 : place - 9)
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, Int(dayOfYear - (153 * place + 2) / 5 + 1)
        )
    }

    /// The number of days of a month.
    static func dayCount(year: Int64, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The day of the week of a day number; 0 is Sunday.
    static func weekday(days: Int64) -> Int { Int(modulo(days + 4, 7)) }

    /// Division that rounds down.
    static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a / b - (a % b < 0 ? 1 : 0) }

    /// The remainder of ``floorDivide(_:_:)``.
    static func modulo(_ a: Int64, _ b: Int64) -> Int64 {
        let rest = a % b
        return rest < 0 ? rest + b : rest
    }
}

/// A number with leading zeros.
func padded(_ value: some BinaryInteger, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}
