import Glibc
import TestSupport
import Testing

@testable import SynclogCLI

/// The directory of the package.
let repositoryRoot: String = {
    let parts = #filePath.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/")
}()

/// The built executable, which lies beside the test bundle.
let synclogPath: String = {
    guard let resolved = realpath(CommandLine.arguments[0], nil) else {
        return repositoryRoot + "/.build/debug/synclog"
    }
    defer { free(resolved) }
    return String(cString: resolved).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        + "/synclog"
}()

/// How a run of the executable ended.
struct Ended {
    var status: Int32
    var output: [UInt8]
    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
    var error: String
}

/// Runs `synclog` to its end.
func synclog(
    _ words: [String], directory: String? = nil, input: [UInt8] = [], environment: [String] = []
) throws -> Ended {
    let scratch = TemporaryDirectory()
    writeFile(scratch("in"), input)
    let descriptors = (
        open(scratch("in"), O_RDONLY | O_CLOEXEC),
        open(scratch("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
        open(scratch("err"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    )
    let place = directory.map { ["-D", $0] } ?? []
    let prefix = ["/usr/bin/env", "-u", "SYNCLOG_DIR"] + environment
    let spawned = ChildProcess.spawn(
        prefix + [synclogPath] + place + words, input: descriptors.0, output: descriptors.1,
        error: descriptors.2)
    let code = errno
    let pid = try #require(spawned, "spawn: errno \(code), descriptors \(descriptors)")
    close(descriptors.0)
    close(descriptors.1)
    close(descriptors.2)
    let status = ChildProcess.wait(pid)
    return Ended(
        status: status, output: try readFile(scratch("out")),
        error: String(decoding: try readFile(scratch("err")), as: UTF8.self))
}

/// A fresh journal.
func newJournal(_ directory: TemporaryDirectory, _ name: String = "journal") throws -> String {
    let path = directory(name)
    try #require(try synclog(["init"], directory: path).status == 0)
    return path
}

/// Runs `synclog`, which must end with status 0.
@discardableResult
func must(_ words: [String], _ directory: String, input: [UInt8] = []) throws -> Ended {
    let ended = try synclog(words, directory: directory, input: input)
    #expect(ended.status == 0, "synclog \(words.joined(separator: " ")): \(ended.error)")
    return ended
}

/// The bytes of a file.
func readFile(_ path: String) throws -> [UInt8] {
    let reader = try InputReader(path)
    return try reader.rest(sizeMax: 1 << 30)
}

/// Writes a file anew.
func writeFile(_ path: String, _ bytes: [UInt8]) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    precondition(descriptor >= 0, "\(path): errno \(errno)")
    defer { close(descriptor) }
    var start = 0
    while start < bytes.count {
        let count = bytes[start...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        precondition(count > 0, "\(path): errno \(errno)")
        start += count
    }
}

/// All files of a directory by name, with their bytes; LOCK is left out, it names its last holder.
func image(_ path: String) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    guard let stream = opendir(path) else { return found }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name == "LOCK" { continue }
        var status = stat()
        guard stat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
        found[name] = try readFile("\(path)/\(name)")
    }
    return found
}
