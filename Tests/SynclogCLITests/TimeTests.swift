import TestSupport
import Testing

@testable import SynclogCLI

@Suite struct TimeTests {
    /// 2026-11-30 18:17:16.250000 UTC, a Monday.
    private static let now: Int64 = 1_796_062_636_250_000

    @Test(arguments: [
        ("now", 1_796_062_636_250_000), ("today", 1_795_996_800_000_000),
        ("yesterday", 1_795_910_400_000_000),
        ("tomorrow", 1_796_083_200_000_000), ("2026-11-30 18:17:16.25", 1_796_062_636_250_000),
        ("2026-11-30 18:17:16", 1_796_062_636_000_000), ("2026-11-30 18:17", 1_796_062_620_000_000),
        ("2026-11-30", 1_795_996_800_000_000), ("26-11-30", 1_795_996_800_000_000),
        ("18:17:16", 1_796_062_636_000_000),
        ("18:17", 1_796_062_620_000_000), ("Nov 30 18:17:16", 1_796_062_636_000_000),
        ("Mon 2026-11-30 18:17:16 UTC", 1_796_062_636_000_000), ("Monday, 2026-11-30", 1_795_996_800_000_000),
        ("2026-11-30T18:17:16Z", 1_796_062_636_000_000), ("2026-11-30T18:17:16+01:00", 1_796_059_036_000_000),
        ("2026-11-30T18:17:16.123456+00:00", 1_796_062_636_123_456),
        ("2026-11-30 18:17:16 Europe/Berlin", 1_796_059_036_000_000), ("@0", 0), ("@1.5", 1_500_000),
        ("@1796062636.250000", 1_796_062_636_250_000), ("-1h", 1_796_059_036_250_000),
        ("+1h", 1_796_066_236_250_000), ("1h ago", 1_796_059_036_250_000), ("1h left", 1_796_066_236_250_000),
        ("-2h30", 1_796_055_406_250_000), ("-1M", 1_793_432_836_250_000), ("-1m", 1_796_062_576_250_000),
        ("-3 days", 1_795_803_436_250_000), ("-1.5h", 1_796_057_236_250_000),
        ("1 day 2 hours ago", 1_795_969_036_250_000),
        ("-1500ms", 1_796_062_634_750_000), ("-5µs", 1_796_062_636_249_995),
        ("1900-01-01", -2_208_988_800_000_000),
        ("0001-01-01", -62_135_596_800_000_000), ("today Europe/Berlin", 1_795_993_200_000_000),
        ("70-01-01", 0), ("yesterday UTC", 1_795_910_400_000_000),
    ])
    func `a time is understood`(_ text: String, _ expected: Int64) throws {
        #expect(try TimeExpression(now: Self.now, zone: .utc).microseconds(text) == expected)
    }

    @Test(arguments: [
        "", "5", "2026", "2026-13-01", "2026-02-29", "2026-00-10", "24:00", "12:60", "12:00:60",
        "Tue 2026-11-30",
        "soon", "2026-11-30 18:17:16 Nowhere/Nothing", "@", "@x", "-5 apples", "ago", " ago", "-",
        "2026-11-30x",
        "2026-11-30 18", "Foo 30 18:17", "2026-11-30T25:00:00Z", "-99999999999y", "2026/11/30",
        "2026-11-30 18:17:16 ../../etc/passwd",
    ])
    func `what is no time is refused with a reason`(_ text: String) {
        let failure = #expect(throws: TimeExpression.Failure.self) {
            try TimeExpression(now: Self.now, zone: .utc).microseconds(text)
        }
        #expect(failure?.reason.isEmpty == false)
    }

    @Test func `clocks that are put forward and back give the first valid reading`() throws {
        let zone = try #require(TimeZoneClock.named("Europe/Berlin"))
        let expression = TimeExpression(now: Self.now, zone: zone)
        // 02:30 twice on this day: the first is summer time.
        #expect(try expression.microseconds("2026-10-25 02:30") == 1_792_888_200_000_000)
        // 02:30 never on this day: 03:30 summer time.
        #expect(try expression.microseconds("2026-03-29 02:30") == 1_774_747_800_000_000)
        #expect(try expression.microseconds("2026-10-25 02:30 CET") == 1_792_891_800_000_000)
    }

    @Test(arguments: ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Asia/Tokyo"])
    func `every form that dump prints is taken back`(_ name: String) throws {
        let zone = try #require(TimeZoneClock.named(name))
        let seed = UInt64.random(in: 0...999_999)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let wall = Int64.random(in: -1_000_000_000_000_000...4_000_000_000_000_000, using: &random)
            let expression = TimeExpression(now: wall, zone: zone)
            let text = TimeStampText(wall, zone)
            let second = CivilTime.floorDivide(wall, 1_000_000) * 1_000_000
            #expect(
                try expression.microseconds(text.full(precise: true)) == wall, "\(text.full(precise: true))")
            #expect(try expression.microseconds(text.full(precise: false)) == second)
            #expect(try expression.microseconds(text.iso(precise: true)) == wall)
            #expect(try expression.microseconds(text.iso(precise: false)) == second)
            #expect(try expression.microseconds("@" + text.unix) == wall || wall < 0)
        }
    }

    @Test func `dates and milliseconds are inverses, far ones too`() {
        let seed = UInt64.random(in: 0...999_999)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for step in 0..<20_000 {
            let size = Int64(1) << Int64(step % 63)
            let value = step < 2 ? (step == 0 ? .min : .max) : Int64.random(in: -size...size, using: &random)
            #expect(InternetDate.milliseconds(InternetDate.text(value)) == value, "\(value)")
        }
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00z", 0), ("1970-01-01 00:00:00Z", 0),
        ("1970-01-01T00:00:00.5Z", 500), ("1970-01-01T00:00:00.123999Z", 123),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2000-02-29T12:00:00-05:30", 951_845_400_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
    ])
    func `an RFC 3339 date is understood`(_ text: String, _ expected: Int64) {
        #expect(InternetDate.milliseconds(text) == expected)
    }

    @Test(arguments: [
        "1970-01-01", "1970-01-01T00:00:00", "1970-1-1T00:00:00Z", "70-01-01T00:00:00Z", "1970-01-01T00:00Z",
        "1970-01-01T00:00:60Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00+1", "1970-01-32T00:00:00Z",
        "1900-02-29T00:00:00Z", "1970-01-01T00:00:00Zx", "+999999999-01-01T00:00:00Z", "",
    ])
    func `what is no RFC 3339 date is refused`(_ text: String) {
        #expect(InternetDate.milliseconds(text) == nil)
    }
}
