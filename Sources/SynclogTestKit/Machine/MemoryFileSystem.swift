internal import Glibc
public import SynclogJournal

/// The files of a simulated machine, as one of its processes sees them.
///
/// A page cache lies over a disk: all processes see each write at once, and a loss of power takes what was not synced, whole or
/// by sectors, in any order, names apart from content (``afterPowerLoss(_:)``). It can be copied, patched, made to fail, and asked
/// what it was used for. More processes come from ``process(decidingBy:)``.
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
        var nextProcess = 0
        var nextGroup: UInt64 = 0
        var openFiles: [ObjectIdentifier: OpenFile] = [:]
        var capacity: Int?

        struct OpenFile {
            var path: String
            var process: Int
        }

        struct Watch {
            weak var watch: MemoryFileWatch?
        }
    }

    let state: Monitor<State>
    /// The process whose view this is; nil for one that is never killed and whose calls nobody decides on.
    public let process: SimulatedProcess?

    /// Makes an empty file system.
    ///
    /// With `tracksDurability` it remembers what was synced, for ``afterPowerLoss(_:)``.
    public init(tracksDurability: Bool = false) {
        state = Monitor(
            State(root: Node(inode: 1, isDirectory: true), tracksDurability: tracksDurability))
        process = nil
    }

    init(_ initial: sending State) {
        state = Monitor(initial)
        process = nil
    }

    init(_ state: Monitor<State>, process: SimulatedProcess) {
        self.state = state
        self.process = process
    }

    // MARK: Knobs

    /// What ``networkKind(_:)`` answers.
    public func setNetworkKind(_ kind: String?) { state.withLock { $0.networkKind = kind } }

    /// What ``bootID()`` answers.
    public func setBootID(_ value: UInt64) { state.withLock { $0.boot = value } }

    /// Whether opening for writing, making, renaming and removing are refused with EROFS.
    public func setReadOnly(_ value: Bool) { state.withLock { $0.readOnly = value } }

    /// Sets what fails from now on.
    public func setFailures(_ plan: FailurePlan) { state.withLock { $0.plan = plan } }

    /// Sets how many bytes all files together may have; a write that needs more goes in as far as it fits and fails with ENOSPC.
    public func setCapacity(_ bytes: Int?) { state.withLock { $0.capacity = bytes } }

    /// The bytes that all files together have.
    public var usedBytes: Int { state.withLock { $0.usedBytes } }

    /// Sets the counts to zero and forgets the trace.
    public func resetCounts() {
        state.withLock {
            $0.counts = FileCounts()
            $0.trace = []
        }
    }

    /// The calls made since the last reset, reads left out.
    public var trace: [Call] { state.withLock { $0.trace } }

    /// The paths of the files that are open now, in order; one that is open twice is there twice.
    ///
    /// Watched directories are among them. The end of a process closes its files.
    public var openFiles: [String] {
        let watches = state.withLock { $0.watches.compactMap(\.watch) }
        let files = state.withLock { $0.openFiles.values.map(\.path) }
        return (files + watches.map(\.path)).sorted()
    }

    // MARK: FileSystem

    /// What was done so far, by all processes.
    public var counts: FileCounts { state.withLock { $0.counts } }

    /// Opens a file; with `.createNew` it must not exist.
    public func open(_ path: String, _ mode: FileMode) throws(FileError) -> any File {
        try enter(.open, path)
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
            parent.add(name, made, group: state.group())
            state.counts.opens += 1
            state.changed(parent)
            return made
        }
        return MemoryFile(path: path, node: node, writable: mode != .read, system: self)
    }

    /// The names in a directory, in no order that helps.
    public func list(_ path: String) throws(FileError) -> [String] {
        try enter(.list, path)
        return try state.withLock { state throws(FileError) in
            try state.note(.list, path)
            let node = try state.node(at: path, call: "opendir")
            guard node.isDirectory else { throw FileError(call: "opendir", path: path, code: ENOTDIR) }
            // In no order that helps: by a hash that changes with the name only.
            return node.entries.keys.sorted { ($0.utf8.last ?? 0, $0) > ($1.utf8.last ?? 0, $1) }
        }
    }

    /// The facts of a path, or nil if nothing is there.
    public func status(_ path: String) throws(FileError) -> FileStatus? {
        try enter(.status, path)
        return try state.withLock { state throws(FileError) in
            try state.note(.status, path)
            return state.find(path)?.status
        }
    }

    /// Makes a directory; its parent exists.
    public func makeDirectory(_ path: String) throws(FileError) {
        try enter(.makeDirectory, path)
        try state.withLock { state throws(FileError) in
            try state.note(.makeDirectory, path)
            try state.checkWritable("mkdir", path)
            let (parent, name) = try state.parent(of: path, call: "mkdir")
            guard parent.entries[name] == nil else {
                throw FileError(call: "mkdir", path: path, code: EEXIST)
            }
            parent.add(name, state.makeNode(isDirectory: true), group: state.group())
            state.changed(parent)
        }
    }

    /// Renames; without `replacing` an existing target is an error (EEXIST).
    public func rename(_ path: String, to target: String, replacing: Bool) throws(FileError) {
        try enter(.rename, path)
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
            let group = state.group()
            parent.removeName(name, group: group, partner: targetParent)
            targetParent.add(targetName, node, group: group)
            state.changed(parent)
            state.changed(targetParent)
        }
    }

    /// Gives a file a second name, which must not exist.
    public func link(_ path: String, to target: String) throws(FileError) {
        try enter(.rename, path)
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
            targetParent.add(targetName, node, group: state.group())
            state.changed(targetParent)
        }
    }

    /// Removes a file.
    public func remove(_ path: String) throws(FileError) {
        try enter(.remove, path)
        try state.withLock { state throws(FileError) in
            try state.note(.remove, path)
            try state.checkWritable("unlink", path)
            let (parent, name) = try state.parent(of: path, call: "unlink")
            guard let node = parent.entries[name] else {
                throw FileError(call: "unlink", path: path, code: ENOENT)
            }
            guard !node.isDirectory else { throw FileError(call: "unlink", path: path, code: EISDIR) }
            parent.removeName(name, group: state.group())
            state.changed(parent)
        }
    }

    /// Removes an empty directory.
    public func removeDirectory(_ path: String) throws(FileError) {
        try enter(.remove, path)
        try state.withLock { state throws(FileError) in
            try state.note(.remove, path)
            try state.checkWritable("rmdir", path)
            let (parent, name) = try state.parent(of: path, call: "rmdir")
            guard let node = parent.entries[name] else {
                throw FileError(call: "rmdir", path: path, code: ENOENT)
            }
            guard node.isDirectory else { throw FileError(call: "rmdir", path: path, code: ENOTDIR) }
            guard node.entries.isEmpty else { throw FileError(call: "rmdir", path: path, code: ENOTEMPTY) }
            parent.removeName(name, group: state.group())
            state.changed(parent)
        }
    }

    /// Makes the names in a directory durable.
    public func syncDirectory(_ path: String) throws(FileError) {
        try enter(.syncDirectory, path)
        try state.withLock { state throws(FileError) in
            state.counts.syncs += 1
            try state.note(.syncDirectory, path)
            let node = try state.node(at: path, call: "open")
            guard node.isDirectory else { throw FileError(call: "open", path: path, code: ENOTDIR) }
            node.flushNames()
        }
    }

    /// What ``setNetworkKind(_:)`` said.
    public func networkKind(_ path: String) throws(FileError) -> String? {
        state.withLock { $0.networkKind }
    }

    /// A value that changes with each loss of power.
    public func bootID() -> UInt64 { state.withLock { $0.boot } }

    /// Watches a directory for changes of its files.
    public func watch(_ path: String) throws(FileError) -> any FileWatch {
        try state.withLock { state throws(FileError) in
            let watch = MemoryFileWatch(
                try state.node(at: path, call: "inotify_add_watch"), path: path)
            state.watches.removeAll { $0.watch == nil }
            state.watches.append(State.Watch(watch: watch))
            return watch
        }
    }
}

extension MemoryFileSystem {
    /// The calls that can be made to fail.
    public enum Call: Hashable, Sendable, CaseIterable {
        /// Calls on paths.
        case open, list, status, makeDirectory, rename, remove, syncDirectory
        /// Calls on open files.
        case read, write, truncate, syncData, sync, lock
    }

    typealias Node = MemoryNode
}

extension MemoryFileSystem.State {
    typealias Node = MemoryNode

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

    /// A number for the changes that one call makes.
    mutating func group() -> UInt64 {
        nextGroup += 1
        return nextGroup
    }

    /// The bytes of all files; one with two names counts once.
    var usedBytes: Int {
        var seen: Set<UInt64> = []
        func size(_ node: Node) -> Int {
            guard seen.insert(node.inode).inserted else { return 0 }
            return node.bytes.count + node.entries.values.reduce(0) { $0 + size($1) }
        }
        return size(root)
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
