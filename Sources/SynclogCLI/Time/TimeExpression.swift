/// The times that `-S` and `-U` take, as systemd.time(7) has them, and RFC 3339 besides.
struct TimeExpression {
    /// A text that is no time, and why.
    struct Failure: Error, Hashable {
        var reason: String
    }

    /// Microseconds since 1970 that count as now.
    let now: Int64
    /// The zone of times that name none.
    let zone: TimeZoneClock

    /// The microseconds since 1970 that a text means.
    func microseconds(_ text: String) throws(Failure) -> Int64 {
        let words = text.split(separator: " ").map(String.init)
        let text = words.joined(separator: " ")
        guard !words.isEmpty else { throw Failure(reason: "is empty") }
        if text.hasPrefix("@") { return try epoch(String(text.dropFirst())) }
        if text.hasPrefix("+") { return try shifted(by: TimeSpan.microseconds(String(text.dropFirst()))) }
        if text.hasPrefix("-") { return try shifted(by: -TimeSpan.microseconds(String(text.dropFirst()))) }
        if text.hasSuffix(" ago") { return try shifted(by: -TimeSpan.microseconds(String(text.dropLast(4)))) }
        if text.hasSuffix(" left") { return try shifted(by: TimeSpan.microseconds(String(text.dropLast(5)))) }
        if let exact = InternetDate.microseconds(text) { return try joined(exact) }
        return try calendar(words)
    }

    private func joined(_ parts: (milliseconds: Int64, microseconds: Int64)) throws(Failure) -> Int64 {
        let (value, over) = parts.milliseconds.multipliedReportingOverflow(by: 1000)
        guard !over else { throw Failure(reason: "is too far away") }
        return value + parts.microseconds
    }

    private func shifted(by span: Int64) throws(Failure) -> Int64 {
        let (value, over) = now.addingReportingOverflow(span)
        guard !over else { throw Failure(reason: "is too far away") }
        return value
    }

    private func epoch(_ text: String) throws(Failure) -> Int64 {
        var scanner = TextScanner(text)
        let negative = scanner.skip("-")
        guard let seconds = scanner.number(digits: 1...12) else {
            throw Failure(reason: "needs seconds after @")
        }
        var micro: Int64 = 0
        if scanner.skip(".") {
            guard let fraction = scanner.fraction() else {
                throw Failure(reason: "needs digits after the point")
            }
            micro = fraction
        }
        guard scanner.isAtEnd else { throw Failure(reason: "has more after the seconds") }
        return (seconds * 1_000_000 + micro) * (negative ? -1 : 1)
    }

    private func calendar(_ allWords: [String]) throws(Failure) -> Int64 {
        var words = allWords[...]
        var zone = self.zone
        var abbreviation: String?
        if words.count > 1, let last = words.last, Self.looksLikeZone(last) {
            if let named = TimeZoneClock.named(last), last.contains("/") || last == "UTC" || last.count > 3 {
                zone = named
            } else {
                abbreviation = last
            }
            words.removeLast()
        }
        let today = zone.reading(at: CivilTime.floorDivide(now, 1_000_000))
        if words.count == 1, let first = words.first, let shift = Self.dayWords[first] {
            if first == "now" { return now }
            let days = CivilTime.days(year: today.year, month: today.month, day: today.day) + shift
            return try result(days: days, seconds: 0, micro: 0, zone: zone, abbreviation: abbreviation)
        }
        var weekday: Int?
        if words.count > 1, let first = words.first, let index = Self.weekday(first) {
            weekday = index
            words.removeFirst()
        }
        var scanner = TextScanner(words.joined(separator: " "))
        let days = try date(&scanner, today: today)
        if days != nil, !scanner.isAtEnd, !(scanner.skip(" ") || scanner.skip("T")) {
            throw Failure(reason: "has something unreadable after the date")
        }
        var clock: (seconds: Int64, micro: Int64)?
        if !scanner.isAtEnd || days == nil { clock = try time(&scanner) }
        guard scanner.isAtEnd else { throw Failure(reason: "has something unreadable at its end") }
        let day = days ?? CivilTime.days(year: today.year, month: today.month, day: today.day)
        if let weekday, CivilTime.weekday(days: day) != weekday {
            throw Failure(reason: "names a weekday that its date does not have")
        }
        return try result(
            days: day, seconds: clock?.seconds ?? 0, micro: clock?.micro ?? 0, zone: zone,
            abbreviation: abbreviation)
    }

    /// Zones have names, or abbreviations of a sign and digits.
    private static func looksLikeZone(_ word: String) -> Bool {
        guard let first = word.first, !word.contains(":") else { return false }
        return first.isLetter || (first == "+" || first == "-") && word.dropFirst().allSatisfy(\.isNumber)
    }

    private static let dayWords: [String: Int64] = ["now": 0, "today": 0, "yesterday": -1, "tomorrow": 1]

    private static func weekday(_ word: String) -> Int? {
        let word = (word.hasSuffix(",") ? String(word.dropLast()) : word).lowercased()
        return CalendarNames.weekdays.firstIndex { $0.lowercased() == word }
            ?? CalendarNames.longWeekdays.firstIndex { $0.lowercased() == word }
    }

    /// The day number of a date at the front, or nil if a time of day stands there.
    private func date(_ scanner: inout TextScanner, today: ClockReading) throws(Failure) -> Int64? {
        let start = scanner
        let word = scanner.letters()
        if !word.isEmpty {
            let month = CalendarNames.months.firstIndex { $0.lowercased() == word.lowercased() }
            guard let month, scanner.skip(" ") else { throw Failure(reason: "is no time") }
            scanner.skipSpaces()
            guard let day = scanner.number(digits: 1...2) else {
                throw Failure(reason: "needs a day of the month")
            }
            return try days(year: today.year, month: month + 1, day: Int(day))
        }
        guard let year = scanner.number(digits: 1...4), scanner.skip("-") else {
            scanner = start
            return nil
        }
        let digits = scanner.offset - start.offset - 1
        guard digits == 4 || digits == 2, let month = scanner.number(digits: 1...2), scanner.skip("-"),
            let day = scanner.number(digits: 1...2)
        else { throw Failure(reason: "has an unreadable date") }
        let full = digits == 2 ? year + (year < 69 ? 2000 : 1900) : year
        return try days(year: full, month: Int(month), day: Int(day))
    }

    private func days(year: Int64, month: Int, day: Int) throws(Failure) -> Int64 {
        guard year >= 1, (1...12).contains(month), day >= 1,
            day <= CivilTime.dayCount(year: year, month: month)
        else { throw Failure(reason: "has a date that does not exist") }
        return CivilTime.days(year: year, month: month, day: day)
    }

    private func time(_ scanner: inout TextScanner) throws(Failure) -> (seconds: Int64, micro: Int64) {
        guard let hour = scanner.number(digits: 1...2), scanner.skip(":") else {
            throw Failure(reason: scanner.isAtEnd ? "is a bare number" : "is no time")
        }
        guard let minute = scanner.number(digits: 2...2), hour < 24, minute < 60 else {
            throw Failure(reason: "has a time of day that does not exist")
        }
        var seconds = hour * 3600 + minute * 60
        var micro: Int64 = 0
        if scanner.skip(":") {
            guard let second = scanner.number(digits: 2...2), second < 60 else {
                throw Failure(reason: "has a time of day that does not exist")
            }
            seconds += second
            if scanner.skip(".") {
                guard let fraction = scanner.fraction() else {
                    throw Failure(reason: "needs digits after the point")
                }
                micro = fraction
            }
        }
        return (seconds, micro)
    }

    private func result(
        days: Int64, seconds: Int64, micro: Int64, zone: TimeZoneClock, abbreviation: String?
    ) throws(Failure) -> Int64 {
        let date = CivilTime.date(days: days)
        let wanted = ClockReading(
            year: date.year, month: date.month, day: date.day, hour: Int(seconds / 3600),
            minute: Int(seconds / 60 % 60), second: Int(seconds % 60), offset: 0, abbreviation: "")
        var moment = zone.seconds(showing: wanted)
        if let abbreviation {
            // The short names that dump prints are taken back if the zone's clock has them around that time.
            let plain = wanted.plainSeconds
            let around = [plain - 86400, plain + 86400, moment].map { zone.reading(at: $0) }
            guard let match = around.first(where: { $0.abbreviation == abbreviation }) else {
                throw Failure(reason: "names an unknown zone")
            }
            moment = plain - Int64(match.offset)
        }
        return moment * 1_000_000 + micro
    }
}

/// Lengths of time as systemd.time(7) writes them: numbers with units, summed.
enum TimeSpan {
    private static let units: [(names: [String], microseconds: Double)] = [
        (["us", "\u{B5}s", "\u{3BC}s", "usec"], 1),
        (["ms", "msec"], 1000),
        (["", "s", "sec", "second", "seconds"], 1_000_000),
        (["m", "min", "minute", "minutes"], 60_000_000),
        (["h", "hr", "hour", "hours"], 3_600_000_000),
        (["d", "day", "days"], 86_400_000_000),
        (["w", "week", "weeks"], 604_800_000_000),
        (["M", "month", "months"], 2_629_800_000_000),
        (["y", "year", "years"], 31_557_600_000_000),
    ]

    /// The microseconds of a span.
    static func microseconds(_ text: String) throws(TimeExpression.Failure) -> Int64 {
        var rest = text[...]
        var total = 0.0
        var parts = 0
        func skipSpaces() { rest = rest.drop { $0 == " " } }
        skipSpaces()
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard !digits.isEmpty, let number = Double(String(digits)) else {
                throw TimeExpression.Failure(reason: "has a length of time without a number")
            }
            rest = rest.dropFirst(digits.count)
            skipSpaces()
            let unit = String(rest.prefix { !$0.isASCII || $0.isLetter })
            guard let row = units.first(where: { $0.names.contains { sameBytes($0, unit) } }) else {
                throw TimeExpression.Failure(reason: "has a length of time with an unknown unit")
            }
            rest = rest.dropFirst(unit.count)
            skipSpaces()
            total += number * row.microseconds
            parts += 1
        }
        guard parts > 0 else { throw TimeExpression.Failure(reason: "lacks a length of time") }
        guard total < 9e18 else { throw TimeExpression.Failure(reason: "is too far away") }
        return Int64(total.rounded())
    }
}
