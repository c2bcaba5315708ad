internal import Glibc
internal import SynclogJournal

/// An open file of a ``MemoryFileSystem``; its lock goes when it goes.
final class MemoryFile: File {
    let path: String
    private let node: MemoryNode
    private let writable: Bool
    private let system: MemoryFileSystem

    init(path: String, node: MemoryNode, writable: Bool, system: MemoryFileSystem) {
        self.path = path
        self.node = node
        self.writable = writable
        self.system = system
        system.state.withLock { state in
            state.openFiles[ObjectIdentifier(self)] = MemoryFileSystem.State.OpenFile(
                path: path, process: system.process?.number ?? 0)
        }
    }

    deinit {
        unlock()
        system.state.withLock { _ = $0.openFiles.removeValue(forKey: ObjectIdentifier(self)) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileError) -> Int {
        try system.enter(.read, path)
        return try system.state.withLock { state throws(FileError) in
            try state.note(.read, path)
            if node.isDirectory { throw FileError(call: "pread", path: path, code: EISDIR) }
            let start = min(Int(clamping: offset), node.bytes.count)
            let count = min(buffer.count, node.bytes.count - start)
            if count > 0 {
                unsafe node.bytes.withUnsafeBytes { bytes in
                    unsafe buffer.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
                }
            }
            state.counts.reads += 1
            state.counts.bytesRead += count
            return count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileError) {
        let interruption = try system.enter(.write, path)
        try system.state.withLock { state throws(FileError) in
            state.trace.append(.write)
            guard writable else { throw FileError(call: "pwrite", path: path, code: EBADF) }
            var failure = interruption.map { ($0.bytes, $0.error) }
            if failure == nil, let rule = state.plan.turn(of: .write, path: path) {
                failure = (rule.bytesBefore, FileError(call: "pwrite", path: path, code: rule.code))
            }
            if failure == nil, let capacity = state.capacity {
                let start = Int(clamping: offset)
                let room = max(capacity - state.usedBytes, 0) + max(node.bytes.count - start, 0)
                if bytes.count > room {
                    failure = (room, FileError(call: "pwrite", path: path, code: ENOSPC))
                }
            }
            let count = failure.map { min($0.0, bytes.count) } ?? bytes.count
            unsafe node.write(
                UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: Int(clamping: offset),
                tracked: state.tracksDurability)
            state.counts.writes += 1
            state.counts.bytesWritten += count
            state.contentChanged(node)
            if interruption?.kills == true { return }
            if let failure { throw failure.1 }
        }
        if let interruption, interruption.kills {
            system.kill()
            throw interruption.error
        }
    }

    func truncate(to size: UInt64) throws(FileError) {
        try system.enter(.truncate, path)
        try system.state.withLock { state throws(FileError) in
            try state.note(.truncate, path)
            guard writable else { throw FileError(call: "ftruncate", path: path, code: EINVAL) }
            node.truncate(to: Int(clamping: size), tracked: state.tracksDurability)
            state.contentChanged(node)
        }
    }

    func syncData() throws(FileError) { try sync(.syncData) }

    func sync() throws(FileError) { try sync(.sync) }

    private func sync(_ call: MemoryFileSystem.Call) throws(FileError) {
        if let failure = try system.enter(call, path, failing: node) { throw failure.error }
        try system.state.withLock { state throws(FileError) in
            if call == .sync { state.counts.syncs += 1 } else { state.counts.dataSyncs += 1 }
            do throws(FileError) {
                try state.note(call, path)
            } catch {
                node.loseUnsynced()
                throw error
            }
            node.flush()
        }
    }

    func status() throws(FileError) -> FileStatus {
        system.state.withLock { _ in node.status }
    }

    func tryLock() throws(FileError) -> Bool {
        try system.enter(.lock, path)
        return try system.state.withLock { state throws(FileError) in
            try state.note(.lock, path)
            let me = MemoryNode.LockOwner(
                file: ObjectIdentifier(self), process: system.process?.number ?? 0)
            if let owner = node.lockOwner, owner != me { return false }
            node.lockOwner = me
            return true
        }
    }

    func unlock() {
        system.state.withLock { _ in
            if node.lockOwner?.file == ObjectIdentifier(self) { node.lockOwner = nil }
        }
    }
}

/// Waits for changes of one directory in memory.
final class MemoryFileWatch: FileWatch {
    let directory: MemoryNode
    let path: String
    private let changed = Monitor(false)

    init(_ directory: MemoryNode, path: String) {
        self.directory = directory
        self.path = path
    }

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
