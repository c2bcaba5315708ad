import Glibc
public import SynclogJournal

/// A file system in memory that can be copied, patched, made to fail, and asked what it was used for.
///
/// Paths are absolute or not, it makes no difference; `.` and empty parts are ignored. It starts with an empty root.
public final class MemoryFileSystem: FileSystem {
    struct State {
        var root: Node
        var nextInode: UInt64 = 2
        var counts = FileCounts()
        var plan = FailurePlan()
        var boot: UInt64 = 0xB007
        var networkKind: String?
        var readOnly = false
        var tracksDurability: Bool
        var watches: [Watch] = []
        var trace: [Call] = []

        struct Watch {
            weak var watch: MemoryFileWatch?
        }
    }

    let state: Monitor<State>

    /// Makes an empty file system.
    ///
    /// With `tracksDurability` it remembers what was synced, for ``afterPowerLoss()``.
    public init(tracksDurability: Bool = false) {
        state = Monitor(
            State(root: Node(inode: 1, isDirectory: true), tracksDurability: tracksDurability))
    }

    init(_ initial: sending State) { state = Monitor(initial) }

    // MARK: Knobs

    /// What ``networkKind(_:)`` answers.
    public func setNetworkKind(_ kind: String?) { state.withLock { $0.networkKind = kind } }

    /// What ``bootID()`` answers.
    public func setBootID(_ value: UInt64) { state.withLock { $0.boot = value } }

    /// Whether opening for writing, making, renaming and removing are refused with EROFS.
    public func setReadOnly(_ value: Bool) { state.withLock { $0.readOnly = value } }

    /// Sets what fails from now on.
    public func setFailures(_ plan: FailurePlan) { state.withLock { $0.plan = plan } }

    /// Sets the counts to zero and forgets the trace.
    public func resetCounts() {
        state.withLock {
            $0.counts = FileCounts()
            $0.trace = []
        }
    }

    /// The calls made since the last reset, reads left out.
    public var trace: [Call] { state.withLock { $0.trace } }

    // MARK: FileSystem

    public var counts: FileCounts { state.withLock { $0.counts } }

    public func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
        let node: Node = try state.withLock { state throws(FileError) in
            try state.note(.open, path)
            let (parent, name) = try state.parent(of: path, call: "open")
            if let found = parent.entries[name] {
                if mode == .createNew { throw FileError(call: "open", path: path, code: EEXIST) }
                if mode != .read {
                    if found.isDirectory { throw FileError(call: "open", path: path, code: EISDIR) }
                    try state.checkWritable("open", path)
                }
                state.counts.opens += 1
                return found
            }
            guard mode == .create || mode == .createNew else {
                throw FileError(call: "open", path: path, code: ENOENT)
            }
            try state.checkWritable("open", path)
            let made = state.makeNode(isDirectory: false)
            parent.entries[name] = made
            state.counts.opens += 1
            state.changed(parent)
            return made
        }
        return MemoryFile(path: path, node: node, writable: mode != .read, system: self)
    }

    public func list(_ path: String) throws(FileError) -> [String] {
        try state.withLock { state throws(FileError) in
            try state.note(.list, path)
            let node = try state.node(at: path, call: "opendir")
            guard node.isDirectory else { throw FileError(call: "opendir", path: path, code: ENOTDIR) }
            // In no order that helps: by a hash that changes with the name only.
            return node.entries.keys.sorted { ($0.utf8.last ?? 0, $0) > ($1.utf8.last ?? 0, $1) }
        }
    }

    public func status(_ path: String) throws(FileError) -> FileStatus? {
        try state.withLock { state throws(FileError) in
            try state.note(.status, path)
            return state.find(path)?.status
        }
    }

    public func makeDirectory(_ path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            try state.note(.makeDirectory, path)
            try state.checkWritable("mkdir", path)
            let (parent, name) = try state.parent(of: path, call: "mkdir")
            guard parent.entries[name] == nil else {
                throw FileError(call: "mkdir", path: path, code: EEXIST)
            }
            parent.entries[name] = state.makeNode(isDirectory: true)
            state.changed(parent)
        }
    }

    public func rename(_ path: String, to target: String, replacing: Bool) throws(FileError) {
        try state.withLock { state throws(FileError) in
            try state.note(.rename, path)
            try state.checkWritable("rename", path)
            let (parent, name) = try state.parent(of: path, call: "rename")
            guard let node = parent.entries[name] else {
                throw FileError(call: "rename", path: path, code: ENOENT)
            }
            let (targetParent, targetName) = try state.parent(of: target, call: "rename")
            if targetParent.entries[targetName] != nil, !replacing {
                throw FileError(call: "rename", path: path, code: EEXIST)
            }
            parent.entries[name] = nil
            targetParent.entries[targetName] = node
            state.changed(parent)
            state.changed(targetParent)
        }
    }

    public func link(_ path: String, to target: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            try state.note(.rename, path)
            try state.checkWritable("link", target)
            let (parent, name) = try state.parent(of: path, call: "link")
            let (targetParent, targetName) = try state.parent(of: target, call: "link")
            guard let node = parent.entries[name] else {
                throw FileError(call: "link", path: path, code: ENOENT)
            }
            guard !node.isDirectory else { throw FileError(call: "link", path: path, code: EPERM) }
            guard targetParent.entries[targetName] == nil else {
                throw FileError(call: "link", path: path, code: EEXIST)
            }
            targetParent.entries[targetName] = node
            state.changed(targetParent)
        }
    }

    public func remove(_ path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            try state.note(.remove, path)
            try state.checkWritable("unlink", path)
            let (parent, name) = try state.parent(of: path, call: "unlink")
            guard let node = parent.entries[name] else {
                throw FileError(call: "unlink", path: path, code: ENOENT)
            }
            guard !node.isDirectory else { throw FileError(call: "unlink", path: path, code: EISDIR) }
            parent.entries[name] = nil
            state.changed(parent)
        }
    }

    public func removeDirectory(_ path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            try state.note(.remove, path)
            try state.checkWritable("rmdir", path)
            let (parent, name) = try state.parent(of: path, call: "rmdir")
            guard let node = parent.entries[name] else {
                throw FileError(call: "rmdir", path: path, code: ENOENT)
            }
            guard node.isDirectory else { throw FileError(call: "rmdir", path: path, code: ENOTDIR) }
            guard node.entries.isEmpty else { throw FileError(call: "rmdir", path: path, code: ENOTEMPTY) }
            parent.entries[name] = nil
            state.changed(parent)
        }
    }

    public func syncDirectory(_ path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            state.counts.syncs += 1
            try state.note(.syncDirectory, path)
            let node = try state.node(at: path, call: "open")
            guard node.isDirectory else { throw FileError(call: "open", path: path, code: ENOTDIR) }
            node.durableEntries = node.entries
        }
    }

    public func networkKind(_ path: String) throws(FileError) -> String? {
        state.withLock { $0.networkKind }
    }

    public func bootID() -> UInt64 { state.withLock { $0.boot } }

    public func watch(_ path: String) throws(FileError) -> any FileWatch {
        try state.withLock { state throws(FileError) in
            let watch = MemoryFileWatch(try state.node(at: path, call: "inotify_add_watch"))
            state.watches.removeAll { $0.watch == nil }
            state.watches.append(State.Watch(watch: watch))
            return watch
        }
    }
}

extension MemoryFileSystem {
    /// The calls that can be made to fail.
    public enum Call: Hashable, Sendable, CaseIterable {
        case open, list, status, makeDirectory, rename, remove, syncDirectory
        case read, write, truncate, syncData, sync, lock
    }

    /// A file or directory.
    ///
    /// Sendable: touched only under the file system's lock.
    final class Node: @unchecked Sendable {
        let inode: UInt64
        let isDirectory: Bool
        var bytes: [UInt8] = []
        var durableBytes: [UInt8] = []
        var entries: [String: Node] = [:]
        var durableEntries: [String: Node] = [:]
        var lockOwner: ObjectIdentifier?

        init(inode: UInt64, isDirectory: Bool) {
            self.inode = inode
            self.isDirectory = isDirectory
        }

        var status: FileStatus {
            FileStatus(inode: inode, device: 7, size: UInt64(bytes.count), isDirectory: isDirectory)
        }
    }
}

extension MemoryFileSystem.State {
    typealias Node = MemoryFileSystem.Node

    static func parts(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    func find(_ path: String) -> Node? {
        var node = root
        for part in Self.parts(path) {
            guard let next = node.entries[part] else { return nil }
            node = next
        }
        return node
    }

    func node(at path: String, call: String) throws(FileError) -> Node {
        guard let node = find(path) else { throw FileError(call: call, path: path, code: ENOENT) }
        return node
    }

    func parent(of path: String, call: String) throws(FileError) -> (Node, String) {
        var parts = Self.parts(path)
        guard let name = parts.popLast() else { throw FileError(call: call, path: path, code: EISDIR) }
        let parent = try node(at: parts.joined(separator: "/"), call: call)
        guard parent.isDirectory else { throw FileError(call: call, path: path, code: ENOTDIR) }
        return (parent, name)
    }

    mutating func makeNode(isDirectory: Bool) -> Node {
        defer { nextInode += 1 }
        return Node(inode: nextInode, isDirectory: isDirectory)
    }

    func checkWritable(_ call: String, _ path: String) throws(FileError) {
        if readOnly { throw FileError(call: call, path: path, code: EROFS) }
    }

    /// Counts a call for the failure plan and fails if it is its turn.
    mutating func note(_ call: MemoryFileSystem.Call, _ path: String) throws(FileError) {
        if call != .read && call != .status { trace.append(call) }
        if let failure = plan.turn(of: call, path: path) {
            throw FileError(call: "\(call)", path: path, code: failure.code)
        }
    }

    /// Tells those who watch the directory.
    func changed(_ directory: Node) {
        for entry in watches {
            if let watch = entry.watch, watch.directory === directory { watch.notify() }
        }
    }

    /// Tells those who watch a directory with this file.
    func contentChanged(_ file: Node) {
        for entry in watches {
            guard let watch = entry.watch else { continue }
            if watch.directory.entries.values.contains(where: { $0 === file }) { watch.notify() }
        }
    }
}
