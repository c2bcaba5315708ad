extension File {
    /// Up to `count` bytes at an offset; fewer at the end of the file.
    func bytes(at offset: UInt64, count: Int) throws(JournalError) -> [UInt8] {
        var failure: FileError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try unsafe read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
                initialized = 0
            }
        }
        if let failure { throw .file(failure) }
        return bytes
    }

    /// Writes an array's bytes at an offset.
    func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
        var failure: FileError?
        unsafe bytes.withUnsafeBytes { buffer in
            do throws(FileError) { try unsafe write(buffer, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// Runs a body that throws file errors where journal errors are thrown.
@inline(__always)
func journalErrors<Result>(_ body: () throws(FileError) -> Result) throws(JournalError) -> Result {
    do { return try body() } catch { throw .file(error) }
}
