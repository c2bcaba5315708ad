internal import CLZ4
internal import Glibc

/// Bare loops over the same bytes with the same calls, as the limit of what any program could reach.
enum RawLoops {
    /// Writes to a zero-filled file and syncs, then writes 512 bytes elsewhere, as a commit does.
    static func commits(in directory: String, count: Int, size: Int) throws {
        let file = open(directory + "/raw", O_RDWR | O_CREAT | O_TRUNC, 0o644)
        let head = open(directory + "/raw-head", O_RDWR | O_CREAT | O_TRUNC, 0o644)
        defer {
            close(file)
            close(head)
        }
        let zeros = [UInt8](repeating: 0, count: count * size)
        guard pwrite(file, zeros, zeros.count, 0) == zeros.count, fsync(file) == 0 else {
            throw BenchmarkError("raw: the file cannot be written")
        }
        let bytes = [UInt8](repeating: 0x5A, count: max(size, 512))
        for number in 0..<count {
            guard pwrite(file, bytes, size, off_t(number * size)) == size, fdatasync(file) == 0,
                pwrite(head, bytes, 512, off_t(number % 2 * 512)) == 512
            else { throw BenchmarkError("raw: the file cannot be written") }
        }
    }

    /// Decodes files with the LZ4 library alone.
    /// - Returns: The size of the content.
    static func decode(_ paths: [String]) throws -> Int {
        var context: OpaquePointer?
        guard LZ4F_isError(LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))) == 0 else {
            throw BenchmarkError("raw: no LZ4 context")
        }
        defer { LZ4F_freeDecompressionContext(context) }
        var total = 0
        var output = [UInt8](repeating: 0, count: 1 << 16)
        for path in paths {
            let input = try contents(of: path)
            var place = 0
            while place < input.count {
                var made = output.count
                var used = input.count - place
                let result = input.withUnsafeBytes {
                    LZ4F_decompress(context, &output, &made, $0.baseAddress! + place, &used, nil)
                }
                guard LZ4F_isError(result) == 0 else { throw BenchmarkError("raw: \(path) does not decode") }
                place += used
                total += made
                if used == 0, made == 0 { break }
            }
        }
        return total
    }

    /// Copies files into one that is then synced.
    static func copy(_ paths: [String], to target: String) throws {
        let file = open(target, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        defer { close(file) }
        for path in paths {
            let bytes = try contents(of: path)
            guard write(file, bytes, bytes.count) == bytes.count else {
                throw BenchmarkError("raw: \(target) cannot be written")
            }
        }
        guard fsync(file) == 0 else { throw BenchmarkError("raw: \(target) cannot be synced") }
    }

    static func contents(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw BenchmarkError("\(path) cannot be opened") }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, size, 0))
        }
    }

    /// The files of a directory, sorted.
    static func files(in directory: String, suffix: String = "") -> [String] {
        guard let list = opendir(directory) else { return [] }
        defer { closedir(list) }
        var names: [String] = []
        while let item = readdir(list) {
            let name = withUnsafeBytes(of: item.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix("."), name.hasSuffix(suffix) { names.append(directory + "/" + name) }
        }
        return names.sorted()
    }

    /// The bytes of a directory's files, those below it not counted.
    static func size(of directory: String) -> Int {
        files(in: directory).reduce(0) { sum, path in
            var status = stat()
            return stat(path, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }
}
