internal import Glibc

/// The values of all rounds, and how they are told.
struct Measurements {
    /// In this order the values of a case are printed; those behind the fifth only where there are any.
    private static let order = [
        "synclog", "raw", "sqlite", "rocksdb", "lmdb", "raw-one-sync", "journalctl", "one", "hundredth",
    ]
    private var values: [String: [String: [Double]]] = [:]
    private var skipped: [String: [(contestant: String, reason: String)]] = [:]

    mutating func add(_ name: String, _ contestant: String, _ value: Double) {
        values[name, default: [:]][contestant, default: []].append(value)
    }

    /// Tells why a contestant has no value.
    mutating func skip(_ name: String, _ contestant: String, _ reason: String) {
        guard skipped[name]?.contains(where: { $0.contestant == contestant }) != true else { return }
        skipped[name, default: []].append((contestant, reason))
    }

    /// The median over all rounds; for a contestant with several layouts that of the best one.
    func median(_ name: String, _ contestant: String) -> Double? { best(name, contestant)?.value }

    private func best(_ name: String, _ contestant: String) -> (layout: Layout?, value: Double)? {
        if let value = plainMedian(name, contestant) { return (nil, value) }
        let all = Layout.allCases.compactMap { layout in
            plainMedian(name, "\(contestant) \(layout.rawValue)").map { (layout, $0) }
        }
        let higher = BenchmarkCase.all.first { $0.name == name }?.higherIsBetter ?? true
        return higher ? all.max { $0.1 < $1.1 } : all.min { $0.1 < $1.1 }
    }

    private func plainMedian(_ name: String, _ label: String) -> Double? {
        guard let found = values[name]?[label]?.sorted(), !found.isEmpty else { return nil }
        let half = found.count / 2
        return found.count % 2 == 1 ? found[half] : (found[half - 1] + found[half]) / 2
    }

    /// Prints a line for each case.
    func report(_ options: BenchmarkOptions, work: UInt64) {
        for kind in options.cases {
            print(options.json ? json(kind, options, work) : text(kind))
        }
    }

    private func ratios(_ name: String) -> [(contestant: String, ratio: Double)] {
        guard let own = median(name, "synclog") else { return [] }
        return Self.order.dropFirst().compactMap { key in
            median(name, key).map { (key, own / $0) }
        }
    }

    private func text(_ kind: BenchmarkCase) -> String {
        var line = kind.name + String(repeating: " ", count: max(1, 11 - kind.name.count))
        line += kind.unit + (kind.higherIsBetter ? "" : " (less is better)")
        for key in Self.order {
            guard let (layout, value) = best(kind.name, key) else { continue }
            line += "  \(key)\(layout.map { " \($0.rawValue)" } ?? "") \(Self.text(value))"
        }
        let ratios = ratios(kind.name).map { "\($0.contestant) \(Self.text($0.ratio))" }
        if !ratios.isEmpty { line += "  ratio: " + ratios.joined(separator: ", ") }
        for (contestant, reason) in skipped[kind.name] ?? [] {
            line += "\n           \(contestant) skipped: \(reason)"
        }
        return line
    }

    private func json(_ kind: BenchmarkCase, _ options: BenchmarkOptions, _ work: UInt64) -> String {
        var members = [
            "\"case\":\"\(kind.name)\"", "\"unit\":\"\(kind.unit)\"",
            "\"better\":\"\(kind.higherIsBetter ? "higher" : "lower")\"",
        ]
        for (place, key) in Self.order.enumerated() {
            let value = median(kind.name, key)
            if place < 5 || value != nil { members.append("\"\(key)\":" + (value.map(Self.text) ?? "null")) }
        }
        let ratios = ratios(kind.name).map { "\"\($0.contestant)\":" + Self.text($0.ratio) }
        members.append("\"ratio\":{" + ratios.joined(separator: ",") + "}")
        let layouts = Self.order.compactMap { key in
            best(kind.name, key)?.layout.map { "\"\(key)\":\"\($0.rawValue)\"" }
        }
        if !layouts.isEmpty { members.append("\"layout\":{" + layouts.joined(separator: ",") + "}") }
        if let skipped = skipped[kind.name] {
            let reasons = skipped.map { "\"\($0.contestant)\":\"\($0.reason)\"" }
            members.append("\"skipped\":{" + reasons.joined(separator: ",") + "}")
        }
        members += [
            "\"scale\":\(options.scale)", "\"rounds\":\(options.rounds)", "\"seed\":\(options.seed)",
            "\"work\":\"\(String(work, radix: 16))\"", "\"machine\":\"\(Self.machine)\"",
        ]
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Three or more digits that count.
    static func text(_ value: Double) -> String {
        value >= 100 ? String(Int(value.rounded())) : String((value * 1000).rounded() / 1000)
    }

    /// The processor, how many, and the kernel.
    private static let machine: String = {
        var model = "unknown processor"
        if let file = fopen("/proc/cpuinfo", "r") {
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
                guard text.hasPrefix("model name"), let colon = text.firstIndex(of: ":") else { continue }
                model = String(text[text.index(colon, offsetBy: 2)...].dropLast())
                break
            }
        }
        var system = utsname()
        uname(&system)
        let release = withUnsafeBytes(of: system.release) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let plain = model.filter { $0 != "\"" && $0 != "\\" }
        return "\(plain), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors, Linux \(release)"
    }()
}
