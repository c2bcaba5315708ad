import Glibc

/// Reads a file or standard input, whole, by line, or by size.
///
/// The descriptor is closed with the reader.
final class InputReader {
    /// What messages call the input.
    let name: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var ended = false
    /// The number of lines given out.
    private(set) var lineNumber = 0
    /// The bytes given out.
    private(set) var offset = 0
    /// A longer line is refused.
    static let lineSizeMax = 64 * 1024 * 1024

    /// Opens a file, or standard input for `-`.
    init(_ path: String) throws(CommandFailure) {
        if sameBytes(path, "-") {
            name = "standard input"
            descriptor = 0
            return
        }
        name = "'\(shown(path))'"
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            throw CommandFailure(
                .storage, "\(name): \(systemText(errno))", next: "name a file that can be read")
        }
        var status = stat()
        if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw CommandFailure(.storage, "\(name) is a directory", next: "name a file that can be read")
        }
    }

    /// Reads bytes that are in memory.
    init(bytes: [UInt8], name: String) {
        self.name = name
        descriptor = -1
        buffer = bytes
        ended = true
    }

    /// Whether the same bytes can be read again by opening the path again.
    static func isRepeatable(_ path: String) -> Bool {
        var status = stat()
        guard !sameBytes(path, "-"), unsafe stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG
    }

    deinit { if descriptor > 0 { close(descriptor) } }

    /// Reads some more.
    /// - Returns: Whether there was more.
    private func fill() throws(CommandFailure) -> Bool {
        if ended { return false }
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        let size = max(64 * 1024, buffer.count)
        let old = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: size))
        while true {
            let descriptor = self.descriptor
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress?.advanced(by: old), size)
            }
            if count < 0, errno == EINTR { continue }
            buffer.removeLast(size - max(0, count))
            if count < 0 {
                throw CommandFailure(.storage, "\(name): \(systemText(errno))", next: "read it again")
            }
            ended = count == 0
            return count > 0
        }
    }

    /// The next line without its end, or nil.
    func line() throws(CommandFailure) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Array(buffer[start..<end])
                offset += line.count + 1
                start = end + 1
                lineNumber += 1
                return line
            }
            let pending = buffer.count - start
            guard pending <= Self.lineSizeMax else {
                throw CommandFailure(
                    .usage, "\(name), line \(lineNumber + 1): longer than \(Self.lineSizeMax) bytes",
                    next: "a line holds one record")
            }
            guard try fill() else {
                if pending == 0 { return nil }
                let line = Array(buffer[start...])
                offset += line.count
                start = buffer.count
                lineNumber += 1
                return line
            }
            searched = start + pending
        }
    }

    /// Exactly `count` bytes, or nil if the input ends before.
    func bytes(_ count: Int) throws(CommandFailure) -> [UInt8]? {
        while buffer.count - start < count { guard try fill() else { return nil } }
        defer {
            start += count
            offset += count
        }
        return Array(buffer[start..<start + count])
    }

    /// Everything that is left, by default at most one line's limit.
    func rest(sizeMax: Int = lineSizeMax) throws(CommandFailure) -> [UInt8] {
        while try fill() {
            guard buffer.count - start <= sizeMax else {
                throw CommandFailure(
                    .usage, "\(name): longer than \(sizeMax) bytes", next: "give one record at a time")
            }
        }
        defer { start = buffer.count }
        return Array(buffer[start...])
    }
}
