import SynclogJournal

/// One line an entry: time, device, what it is about, and the message.
struct ShortFormat: DumpFormat {
    /// How the time is written.
    enum Stamp: String, CaseIterable, Sendable {
        case short
        case full = "short-full"
        case iso = "short-iso"
        case isoPrecise = "short-iso-precise"
        case precise = "short-precise"
        case monotonic = "short-monotonic"
        case delta = "short-delta"
        case unix = "short-unix"
    }

    let stamp: Stamp
    let clock: TimeZoneClock
    private var previous: (session: UInt64, monotonic: Int64)?
    /// The time of the last line; entries of one commit share it.
    private var time: (wall: Int64, text: String)?
    var isForPrograms: Bool { false }

    init(stamp: Stamp, clock: TimeZoneClock) {
        self.stamp = stamp
        self.clock = clock
    }

    mutating func append(_ entry: DumpEntry, to out: inout [UInt8]) {
        if time?.wall != entry.address.wall || stamp == .monotonic || stamp == .delta {
            time = (entry.address.wall, timeText(entry))
        }
        out += (time?.text ?? "").utf8
        if entry.device == 0 {
            out.append(" local ")
        } else {
            out.append(" device-")
            out.append(decimal: entry.device)
            out.append(UInt8(ascii: " "))
        }
        out.append(entry.bytes(entry.subject))
        out.append(": ")
        out.append(entry.bytes(entry.message))
        out.append(0x0A)
        previous = (entry.address.cursor.session, entry.address.monotonic)
    }

    private func timeText(_ entry: DumpEntry) -> String {
        let text = TimeStampText(entry.address.wall, clock)
        switch stamp {
        case .short: return text.syslog(precise: false)
        case .precise: return text.syslog(precise: true)
        case .full: return text.full(precise: false)
        case .iso: return text.iso(precise: false)
        case .isoPrecise: return text.iso(precise: true)
        case .unix: return text.unix
        case .monotonic: return "[\(Self.seconds(entry.address.monotonic))]"
        case .delta:
            guard let previous else {
                return "[\(Self.seconds(entry.address.monotonic))" + String(repeating: " ", count: 15) + "]"
            }
            // Across sessions the two clocks do not have the same start.
            let sure = previous.session == entry.address.cursor.session
            let delta = sure ? entry.address.monotonic - previous.monotonic : entry.address.monotonic
            return "[\(Self.seconds(entry.address.monotonic)) <\(Self.seconds(delta))\(sure ? " " : "*")>]"
        }
    }

    /// Seconds and microseconds, 12 wide.
    private static func seconds(_ microseconds: Int64) -> String {
        let negative = microseconds < 0
        let size = microseconds.magnitude
        let text = "\(negative ? "-" : "")\(size / 1_000_000).\(padded(size % 1_000_000, 6))"
        return String(repeating: " ", count: max(0, 12 - text.utf8.count)) + text
    }
}

/// The forms in which a moment is printed; `-S` and `-U` take them back.
struct TimeStampText {
    private let reading: ClockReading
    private let microseconds: Int64
    private let wall: Int64

    init(_ wall: Int64, _ clock: TimeZoneClock) {
        self.wall = wall
        microseconds = CivilTime.modulo(wall, 1_000_000)
        reading = clock.reading(at: CivilTime.floorDivide(wall, 1_000_000))
    }

    private var time: String {
        "\(padded(reading.hour, 2)):\(padded(reading.minute, 2)):\(padded(reading.second, 2))"
    }
    private var date: String {
        "\(padded(reading.year, 4))-\(padded(reading.month, 2))-\(padded(reading.day, 2))"
    }
    private func fraction(_ precise: Bool) -> String { precise ? "." + padded(microseconds, 6) : "" }

    /// As `Nov 14 22:13:49`.
    func syslog(precise: Bool) -> String {
        "\(CalendarNames.months[reading.month - 1]) \(padded(reading.day, 2)) \(time)\(fraction(precise))"
    }

    /// As `Tue 2023-11-14 22:13:49 UTC`.
    func full(precise: Bool) -> String {
        "\(CalendarNames.weekdays[reading.weekday]) \(date) \(time)\(fraction(precise)) \(reading.abbreviation)"
    }

    /// As `2023-11-14T22:13:49+00:00`.
    func iso(precise: Bool) -> String {
        let size = abs(reading.offset)
        let zone = "\(reading.offset < 0 ? "-" : "+")\(padded(size / 3600, 2)):\(padded(size / 60 % 60, 2))"
        return "\(date)T\(time)\(fraction(precise))\(zone)"
    }

    /// As `1700000029.123456`.
    var unix: String { "\(CivilTime.floorDivide(wall, 1_000_000)).\(padded(microseconds, 6))" }
}
