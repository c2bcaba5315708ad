import Glibc
import SynclogJournal

/// A moment as a wall clock of some zone shows it.
struct ClockReading: Hashable, Sendable {
    var year: Int64
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    /// Seconds that the zone is ahead of UTC.
    var offset: Int
    /// The zone's name at that moment, for instance `CET`.
    var abbreviation: String

    /// The day of the week; 0 is Sunday.
    var weekday: Int { CivilTime.weekday(days: CivilTime.days(year: year, month: month, day: day)) }

    /// The seconds since 1970 if the zone were UTC.
    var plainSeconds: Int64 {
        CivilTime.days(year: year, month: month, day: day) * 86400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// Whether another reading shows the same date and time, whatever the zone.
    func shows(_ other: ClockReading) -> Bool { plainSeconds == other.plainSeconds }
}

/// Converts between moments and wall clocks by the system's time zone data.
struct TimeZoneClock: Sendable {
    /// The zone's name; nil is the local zone of this process.
    var name: String?

    /// The local zone: what the variable TZ says, else the machine's.
    static let local = TimeZoneClock(name: nil)
    /// UTC.
    static let utc = TimeZoneClock(name: "UTC")

    /// TZ belongs to the whole process, so one zone is looked at after the other.
    private static let lock = Monitor<Void>(())

    /// A zone of the tz database, or nil if the machine does not know it.
    static func named(_ name: String) -> TimeZoneClock? {
        if name == "UTC" || name == "Z" { return .utc }
        let allowed = name.utf8.allSatisfy { byte in
            byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39
                || "/_+-".utf8.contains(byte)
        }
        guard allowed, !name.isEmpty, !name.hasPrefix("/") else { return nil }
        guard unsafe access("/usr/share/zoneinfo/" + name, R_OK) == 0 else { return nil }
        var status = stat()
        guard unsafe stat("/usr/share/zoneinfo/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else {
            return nil
        }
        return TimeZoneClock(name: name)
    }

    /// What the zone's clock shows at a moment.
    func reading(at seconds: Int64) -> ClockReading {
        if name == "UTC" { return Self.utcReading(seconds) }
        return Self.lock.withLock { _ in
            withZone { Self.systemReading(seconds) }
        }
    }

    private static func utcReading(_ seconds: Int64) -> ClockReading {
        let days = CivilTime.floorDivide(seconds, 86400)
        let rest = Int(CivilTime.modulo(seconds, 86400))
        let date = CivilTime.date(days: days)
        return ClockReading(
            year: date.year, month: date.month, day: date.day, hour: rest / 3600, minute: rest / 60 % 60,
            second: rest % 60, offset: 0, abbreviation: "UTC")
    }

    private static func systemReading(_ seconds: Int64) -> ClockReading {
        var moment = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&moment, &parts) != nil else { return utcReading(seconds) }
        let abbreviation = unsafe parts.tm_zone.map { unsafe String(cString: $0) } ?? ""
        return unsafe ClockReading(
            year: Int64(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec),
            offset: Int(parts.tm_gmtoff), abbreviation: abbreviation)
    }

    private func withZone<Result>(_ body: () -> Result) -> Result {
        guard let name else {
            tzset()
            return body()
        }
        let old = unsafe getenv("TZ").map { unsafe String(cString: $0) }
        unsafe setenv("TZ", ":" + name, 1)
        tzset()
        let result = body()
        if let old { unsafe setenv("TZ", old, 1) } else { unsafe unsetenv("TZ") }
        tzset()
        return result
    }

    /// The first moment at which the zone's clock shows a date and time.
    ///
    /// A time that the clock skips means the moment as far after the skip as the time says.
    func seconds(showing wanted: ClockReading) -> Int64 {
        let plain = wanted.plainSeconds
        let before = reading(at: plain - 86400).offset
        let after = reading(at: plain + 86400).offset
        let candidates = [plain - Int64(before), plain - Int64(after)].sorted()
        return candidates.first { reading(at: $0).shows(wanted) } ?? plain - Int64(before)
    }
}

/// English names, as the tools of this field print them.
enum CalendarNames {
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
