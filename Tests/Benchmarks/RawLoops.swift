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

    /// Decodes the blocks of files with LZ4 alone: no checksum is looked at, and what comes out is thrown away.
    /// - Returns: The size of the content.
    static func decode(_ paths: [String]) throws -> Int {
        var total = 0
        var output = [UInt8](repeating: 0, count: 1 << 17)
        for path in paths {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw BenchmarkError("\(path) cannot be opened: errno \(errno)") }
            defer { close(file) }
            let size = Int(lseek(file, 0, SEEK_END))
            guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0),
                start != MAP_FAILED
            else { throw BenchmarkError("\(path) cannot be mapped: errno \(errno)") }
            defer { munmap(start, size) }
            total += try decode(UnsafeRawBufferPointer(start: start, count: size), &output)
        }
        return total
    }

    /// Decodes the LZ4 frames of one file and skips the skippable ones.
    private static func decode(_ input: UnsafeRawBufferPointer, _ output: inout [UInt8]) throws -> Int {
        var total = 0
        var place = 0
        func number(at place: Int) -> Int { Int(input.loadUnaligned(fromByteOffset: place, as: UInt32.self)) }
        while place + 8 <= input.count {
            guard number(at: place) == 0x184D_2204 else {
                place += 8 + number(at: place + 4)
                continue
            }
            let flags = input[place + 4]
            place += flags & 8 == 0 ? 7 : 15
            while case let size = number(at: place), size != 0 {
                place += 4
                let stored = size & 0x7FFF_FFFF
                if size == stored {
                    let made = LZ4_decompress_safe(
                        input.baseAddress?.advanced(by: place).assumingMemoryBound(to: CChar.self),
                        &output, Int32(stored), Int32(output.count))
                    guard made >= 0 else { throw BenchmarkError("raw: a block does not decode") }
                    total += Int(made)
                } else {
                    total += stored
                }
                place += stored
            }
            place += flags & 4 == 0 ? 4 : 8
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
        size(of: files(in: directory).filter { !$0.hasSuffix("/LOG") && !$0.contains("/LOG.") })
    }

    /// The bytes of regular files.
    static func size(of files: [String]) -> Int {
        files.reduce(0) { sum, path in
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
            return sum + Int(status.st_size)
        }
    }
}
