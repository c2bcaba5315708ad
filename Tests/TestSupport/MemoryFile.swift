import Glibc
import SynclogJournal

/// An open file of a ``MemoryFileSystem``; its lock goes when it goes.
final class MemoryFile: File {
    let path: String
    private let node: MemoryFileSystem.Node
    private let writable: Bool
    private let system: MemoryFileSystem

    init(path: String, node: MemoryFileSystem.Node, writable: Bool, system: MemoryFileSystem) {
        self.path = path
        self.node = node
        self.writable = writable
        self.system = system
    }

    deinit { unlock() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try system.state.withLock { state throws(FileError) in
            try state.note(.read, path)
            if node.isDirectory { throw FileError(call: "pread", path: path, code: EISDIR) }
            let start = min(Int(clamping: offset), node.bytes.count)
            let count = min(buffer.count, node.bytes.count - start)
            if count > 0 {
                node.bytes.withUnsafeBytes { bytes in
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
                }
            }
            state.counts.reads += 1
            state.counts.bytesRead += count
            return count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        try system.state.withLock { state throws(FileError) in
            state.trace.append(.write)
            guard writable else { throw FileError(call: "pwrite", path: path, code: EBADF) }
            let failure = state.plan.turn(of: .write, path: path)
            let start = Int(clamping: offset)
            let count = failure.map { min($0.bytesBefore, bytes.count) } ?? bytes.count
            if count > 0 {
                if node.bytes.count < start + count {
                    node.bytes += [UInt8](repeating: 0, count: start + count - node.bytes.count)
                }
                node.bytes.withUnsafeMutableBytes { target in
                    UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                }
            }
            state.counts.writes += 1
            state.counts.bytesWritten += count
            state.contentChanged(node)
            if let failure { throw FileError(call: "pwrite", path: path, code: failure.code) }
        }
    }

    func truncate(to size: UInt64) throws(FileError) {
        try system.state.withLock { state throws(FileError) in
            try state.note(.truncate, path)
            guard writable else { throw FileError(call: "ftruncate", path: path, code: EINVAL) }
            let size = Int(clamping: size)
            if size < node.bytes.count {
                node.bytes.removeSubrange(size...)
            } else {
                node.bytes += [UInt8](repeating: 0, count: size - node.bytes.count)
            }
            state.contentChanged(node)
        }
    }

    func syncData() throws(FileError) {
        try system.state.withLock { state throws(FileError) in
            state.counts.dataSyncs += 1
            try state.note(.syncData, path)
            if state.tracksDurability { node.durableBytes = node.bytes }
        }
    }

    func sync() throws(FileError) {
        try system.state.withLock { state throws(FileError) in
            state.counts.syncs += 1
            try state.note(.sync, path)
            if state.tracksDurability { node.durableBytes = node.bytes }
        }
    }

    func status() throws(FileError) -> FileStatus {
        system.state.withLock { _ in node.status }
    }

    func tryLock() throws(FileError) -> Bool {
        try system.state.withLock { state throws(FileError) in
            try state.note(.lock, path)
            if let owner = node.lockOwner, owner != ObjectIdentifier(self) { return false }
            node.lockOwner = ObjectIdentifier(self)
            return true
        }
    }

    func unlock() {
        system.state.withLock { _ in
            if node.lockOwner == ObjectIdentifier(self) { node.lockOwner = nil }
        }
    }
}

/// Waits for changes of one directory in memory.
final class MemoryFileWatch: FileWatch {
    let directory: MemoryFileSystem.Node
    private let changed = Monitor(false)

    init(_ directory: MemoryFileSystem.Node) { self.directory = directory }

    func wait(timeout: Duration) {
        _ = changed.wait(timeout: timeout) { changed -> Bool? in
            guard changed else { return nil }
            changed = false
            return true
        }
    }

    func wake() { notify() }

    func notify() {
        changed.withLock { $0 = true }
        changed.wakeAll()
    }
}
