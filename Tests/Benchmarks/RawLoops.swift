internal import CLZ4
internal import Glibc

/// Bare loops over the same bytes with the same calls, as the limit of what any program could reach.
enum RawLoops {
    /// Writes to a file that was filled with zeros, syncs it, and writes 512 bytes elsewhere, as a commit does.
    final class Log {
        private let file: Int32
        private let head: Int32
        private let area = 1 << 20
        private var end = 0
        private var filled = 0
        private var count = 0
        private let bytes = [UInt8](repeating: 0x5A, count: 1 << 20)

        init(_ directory: String) throws {
            file = try RawLoops.create(directory + "/raw")
            head = try RawLoops.create(directory + "/raw-head")
        }

        deinit {
            close(file)
            close(head)
        }

        func commit(size: Int) throws {
            if end + size > filled {
                let zeros = [UInt8](repeating: 0, count: area)
                guard pwrite(file, zeros, area, off_t(filled)) == area else { throw failure }
                filled += area
            }
            guard pwrite(file, bytes, size, off_t(end)) == size, fdatasync(file) == 0,
                pwrite(head, bytes, 512, off_t(count % 2 * 512)) == 512
            else { throw failure }
            end += size
            count += 1
        }

        private var failure: BenchmarkError { BenchmarkError("raw: writing failed with errno \(errno)") }
    }

    static func create(_ path: String) throws -> Int32 {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw BenchmarkError("\(path) cannot be made: errno \(errno)") }
        return file
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

    /// The size of names and values one after the other, compressed in pieces of 16 KiB and without anything else.
    static func compressedSize(_ records: [Workload.Record]) -> Int {
        var total = 0
        var piece: [UInt8] = []
        var output = [UInt8](repeating: 0, count: 1 << 16)
        func compress() {
            piece.withUnsafeBytes { input in
                output.withUnsafeMutableBytes { output in
                    total += Int(
                        LZ4_compress_default(
                            input.baseAddress?.assumingMemoryBound(to: CChar.self),
                            output.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(input.count),
                            Int32(output.count)))
                }
            }
            piece.removeAll(keepingCapacity: true)
        }
        for record in records {
            piece += record.name
            piece += record.value
            if piece.count >= 16 << 10 { compress() }
        }
        if !piece.isEmpty { compress() }
        return total
    }

    /// Runs `cat` over files into a pipe, and writes what comes out to a new file, with a sync after each `batch` bytes.
    /// - Returns: The number of bytes.
    static func copy(_ paths: [String], to target: String, batch: Int) throws -> Int {
        let file = try create(target)
        defer { close(file) }
        let pipe = try ChildProcess.makePipe()
        let cat = try ChildProcess(["cat", "--"] + paths, output: pipe[1])
        close(pipe[1])
        defer { close(pipe[0]) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        var unsynced = 0
        while true {
            let count = read(pipe[0], &buffer, buffer.count)
            guard count > 0 else { break }
            guard write(file, buffer, count) == count else { throw BenchmarkError("raw: write failed") }
            total += count
            unsynced += count
            if unsynced >= batch {
                guard fdatasync(file) == 0 else { throw BenchmarkError("raw: sync failed") }
                unsynced = 0
            }
        }
        guard fdatasync(file) == 0 else { throw BenchmarkError("raw: sync failed") }
        try cat.wait()
        return total
    }

    static func contents(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkError("\(path) cannot be opened: errno \(errno)") }
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

    /// The bytes of a directory's files; those below it and logs of messages (RocksDB's LOG) are not counted.
    static func size(of directory: String) -> Int {
        files(in: directory).filter { !$0.hasSuffix("/LOG") && !$0.contains("/LOG.") }.reduce(0) {
            sum, path in
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
            return sum + Int(status.st_size)
        }
    }
}
