import Glibc

/// A directory of the real file system that is removed with everything in it when the object goes.
public final class TemporaryDirectory: Sendable {
    /// Its path.
    public let path: String

    /// Makes a new directory below TMPDIR or /tmp.
    public init() {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/synclog-test-XXXXXX".utf8CString)
        guard let made = template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) else {
            preconditionFailure("no temporary directory below \(base): errno \(errno)")
        }
        path = String(cString: made)
    }

    deinit { removeTree(path) }

    /// The path of a name in it.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
}

/// Removes a file or a directory with all in it.
public func removeTree(_ path: String) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return }
    guard info.st_mode & S_IFMT == S_IFDIR else {
        unlink(path)
        return
    }
    chmod(path, 0o700)
    if let directory = opendir(path) {
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { removeTree("\(path)/\(name)") }
        }
        closedir(directory)
    }
    rmdir(path)
}
