import SynclogJournal

/// Reads files of the source tree.
public enum TextFile {
    /// The text of a file.
    public static func read(_ path: String) throws -> String {
        let file = try PosixFileSystem.shared.open(path, .read)
        var bytes = [UInt8](repeating: 0, count: Int(try file.status().size))
        let count = try bytes.withUnsafeMutableBytes { buffer throws(FileError) in
            try file.read(into: buffer, at: 0)
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
