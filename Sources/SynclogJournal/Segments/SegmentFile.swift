internal import Glibc

/// A segment's file that is closed while it is not read and the journal has many others open, and opened again by its path.
///
/// Compaction may have taken the file away meanwhile: then reading fails as if it were looked for only now.
final class SegmentFile: File {
    let path: String
    private let fileSystem: any FileSystem
    private let others: OpenFiles
    private let inode: UInt64
    private let state = Monitor(State())

    private struct State {
        var file: (any File)?
        /// The same file, while somebody still holds it.
        weak var held: (any File)?
        /// Whether it was read since somebody thought of closing it.
        var isUsed = false
    }

    /// Takes a file that was just opened, with its inode.
    init(_ file: any File, inode: UInt64, fileSystem: any FileSystem, among others: OpenFiles) {
        path = file.path
        self.fileSystem = fileSystem
        self.others = others
        self.inode = inode
        keep(file)
    }

    /// The open file; it stays open as long as somebody holds it.
    func opened() throws(FileError) -> any File {
        let known = state.withLock { state in
            state.isUsed = true
            return state.file ?? state.held
        }
        if let known { return known }
        let file = try fileSystem.open(path, .read)
        guard try file.status().inode == inode else {
            throw FileError(call: "open", path: path, code: ENOENT)
        }
        keep(file)
        return file
    }

    private func keep(_ file: any File) {
        let isNew = state.withLock { state in
            guard state.file == nil else { return false }
            state.file = file
            state.held = file
            state.isUsed = false
            return true
        }
        if isNew { others.add(self) }
    }

    /// Closes the file as soon as nobody holds it, unless it was read since the last call.
    func closeUnlessUsed() -> Bool {
        state.withLock { state in
            guard !state.isUsed else {
                state.isUsed = false
                return false
            }
            state.file = nil
            return true
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try unsafe opened().read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        try unsafe opened().write(bytes, at: offset)
    }
    func truncate(to size: UInt64) throws(FileError) { try opened().truncate(to: size) }
    func syncData() throws(FileError) { try opened().syncData() }
    func sync() throws(FileError) { try opened().sync() }
    func status() throws(FileError) -> FileStatus { try opened().status() }
    func tryLock() throws(FileError) -> Bool { try opened().tryLock() }
    func unlock() { try? opened().unlock() }
}

/// The files of a journal's segments that are open besides the live one: only so many at once.
final class OpenFiles: Sendable {
    /// A quarter of the files that this process may have open, which is often 1024; 64 at least and 1024 at most.
    static let usualMax = min(max(sysconf(Int32(_SC_OPEN_MAX)) / 4, 64), 1024)

    private struct Entry {
        weak let file: SegmentFile?
    }

    private struct State {
        var entries: [Entry] = []
        /// The entry to look at next.
        var hand = 0
    }

    private let countMax: Int
    private let state = Monitor(State())

    init(countMax: Int) { self.countMax = countMax }

    /// Takes in a file that was opened, in the place of one that can be closed if there are enough.
    func add(_ file: SegmentFile) {
        state.withLock { state in
            guard state.entries.count == countMax else {
                state.entries.append(Entry(file: file))
                return
            }
            while let old = state.entries[state.hand].file, !old.closeUnlessUsed() {
                state.hand = (state.hand + 1) % countMax
            }
            state.entries[state.hand] = Entry(file: file)
            state.hand = (state.hand + 1) % countMax
        }
    }
}
