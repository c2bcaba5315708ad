import Glibc

extension Command {
    /// The command `synclog demo`.
    static let demo = Command(
        name: "demo",
        summary: "publish ten releases of real data while a follower is killed again and again",
        details: [
            "In a fresh temporary directory: publishes each release as a snapshot into two zones, while a "
                + "follower in another process copies the journal, is killed at random moments and started again. "
                + "Then two processes save the same record and one meets a conflict. Then both journals are "
                + "verified and compared record by record. The status is 0 only if everything is the same."
        ],
        options: [
            Option("data", nil, .required("DIR"), help: "releases as *.ndjson files (Fixtures/tz)"),
            Option("seed", nil, .required("N"), help: "repeats the moments of an earlier demo"),
        ],
        examples: ["synclog demo"],
        run: runDemo)

    private static func runDemo(_ invocation: Invocation) async throws(CommandFailure) {
        _ = try invocation.operands(0...0)
        var seed = UInt64.random(in: 0...999_999)
        if let text = invocation.arguments.value("seed") {
            guard let given = UInt64(text) else {
                throw .usage("--seed: '\(shown(text))' is no number", next: invocation.usageStep)
            }
            seed = given
        }
        let data = try dataDirectory(invocation)
        let releases = try Self.releases(in: data)
        let run = try DemoRun(
            directory: try temporaryDirectory(), releases: releases, seed: seed, console: invocation.console)
        try await run.run()
    }

    /// Where the releases are: what `--data` says, or the fixtures of the source tree.
    private static func dataDirectory(_ invocation: Invocation) throws(CommandFailure) -> String {
        if let given = invocation.arguments.value("data") { return given }
        let source = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let candidates = ["/" + source + "/Fixtures/tz", "Fixtures/tz"]
        guard let found = candidates.first(where: { unsafe access($0, R_OK) == 0 }) else {
            throw CommandFailure(
                .storage, "the releases are not there: '\(candidates[0])'",
                next: "name their directory by --data")
        }
        return found
    }

    private static func releases(in directory: String) throws(CommandFailure) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw CommandFailure(
                .storage, "'\(shown(directory))': \(systemText(errno))",
                next: "name the directory of the releases by --data")
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasSuffix(".ndjson") { names.append(name) }
        }
        guard !names.isEmpty else {
            throw CommandFailure(
                .storage, "'\(shown(directory))' holds no *.ndjson files",
                next: "name the directory of the releases by --data")
        }
        return names.sorted(by: bytesPrecede).map { "\(directory)/\($0)" }
    }

    private static func temporaryDirectory() throws(CommandFailure) -> String {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/synclog-demo-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandFailure(
                .storage, "'\(shown(parent))': \(systemText(errno))",
                next: "set TMPDIR to a directory with room")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
