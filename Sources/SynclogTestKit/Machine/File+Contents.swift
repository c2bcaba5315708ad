public import SynclogJournal

extension File {
    /// All bytes of the file.
    public func contents() throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try status().size))
        var failure: FileError?
        var count = 0
        unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(FileError) { count = try unsafe read(into: buffer, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        return Array(bytes.prefix(count))
    }
}
