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

    /// Reads up to `count` bytes at an offset into the beginning of an array, which grows if it is too small.
    /// - Returns: The number of bytes read; fewer at the end of the file.
    func read(_ count: Int, at offset: UInt64, into bytes: inout [UInt8]) throws(JournalError) -> Int {
        if bytes.count < count { bytes = [UInt8](repeating: 0, count: count) }
        var failure: FileError?
        let found = unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(FileError) {
                return try unsafe read(
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw .file(failure) }
        return found
    }

    /// Writes an array's bytes at an offset.
    public func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
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
