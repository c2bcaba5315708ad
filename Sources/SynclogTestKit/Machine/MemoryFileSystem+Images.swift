public import SynclogJournal

extension MemoryFileSystem {
    /// What is there after all processes were killed now: the same content and inodes, and a way of its own from here.
    ///
    /// No lock is held and nothing fails in it.
    public func copy() -> MemoryFileSystem {
        state.withLock { state in
            var copier = NodeCopier(loss: nil)
            var made = State(root: copier.copy(state.root), tracksDurability: state.tracksDurability)
            made.nextInode = state.nextInode
            made.nextGroup = state.nextGroup
            made.boot = state.boot
            return MemoryFileSystem(made)
        }
    }

    /// What the machine finds after its power went now: synced content under synced names, and of the rest what `loss` says.
    ///
    /// The boot id is a new one. Needs `tracksDurability`.
    public func afterPowerLoss(_ loss: PowerLoss = .nothingUnsynced) -> MemoryFileSystem {
        state.withLock { state in
            precondition(state.tracksDurability)
            var copier = NodeCopier(loss: PowerLossDecider(loss))
            var made = State(root: copier.copy(state.root), tracksDurability: true)
            made.nextInode = state.nextInode
            made.nextGroup = state.nextGroup
            made.boot = state.boot + 1
            return MemoryFileSystem(made)
        }
    }

    /// Whether a loss of power now would take anything.
    public var hasUnsynced: Bool {
        state.withLock { state in
            func dirty(_ node: Node) -> Bool {
                !node.pending.isEmpty || !node.pendingNames.isEmpty
                    || node.entries.values.contains(where: dirty)
            }
            return dirty(state.root)
        }
    }

    /// Copies a directory with new inodes, as `cp -a` does; a directory at the target is replaced.
    public func copyDirectory(_ path: String, to target: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            let source = try state.node(at: path, call: "open")
            let (parent, name) = try state.parent(of: target, call: "open")
            parent.entries[name] = Self.renewed(source, &state)
        }
    }

    private static func renewed(_ node: Node, _ state: inout State) -> Node {
        let made = state.makeNode(isDirectory: node.isDirectory)
        made.bytes = node.bytes
        made.durableBytes = node.bytes
        for name in node.entries.keys.sorted() {
            if let entry = node.entries[name] { made.entries[name] = renewed(entry, &state) }
        }
        made.durableEntries = made.entries
        return made
    }

    /// Removes a file or a whole directory.
    public func removeAll(_ path: String) throws(FileError) {
        try state.withLock { state throws(FileError) in
            let (parent, name) = try state.parent(of: path, call: "unlink")
            parent.entries[name] = nil
            parent.durableEntries[name] = nil
            parent.pendingNames.removeAll { $0.name == name }
            state.changed(parent)
        }
    }

    /// The bytes of a file, or nil if there is none.
    public func contents(_ path: String) -> [UInt8]? {
        state.withLock { state in
            guard let node = state.find(path), !node.isDirectory else { return nil }
            return node.bytes
        }
    }

    /// Sets the bytes of a file, durably; makes it if it is not there.
    public func setContents(_ path: String, _ bytes: [UInt8]) throws(FileError) {
        try state.withLock { state throws(FileError) in
            let (parent, name) = try state.parent(of: path, call: "open")
            let node = parent.entries[name] ?? state.makeNode(isDirectory: false)
            node.bytes = bytes
            node.durableBytes = bytes
            node.pending = []
            parent.entries[name] = node
            parent.durableEntries[name] = node
            state.changed(parent)
        }
    }

    /// Changes one byte of a file by exclusive or.
    public func flip(_ path: String, at offset: Int, with mask: UInt8 = 0xFF) throws(FileError) {
        try state.withLock { state throws(FileError) in
            let node = try state.node(at: path, call: "open")
            node.bytes[offset] ^= mask
            node.durableBytes = node.bytes
            node.pending = []
            state.contentChanged(node)
        }
    }

    /// Writes a directory with everything in it to another file system, for instance the real one; the target must not exist.
    public func write(
        _ path: String, to target: String, of files: any FileSystem = PosixFileSystem.shared
    ) throws(FileError) {
        try files.makeDirectory(target)
        for (name, bytes) in image(of: path).sorted(by: { $0.key < $1.key }) {
            if name.hasSuffix("/") {
                try files.makeDirectory(target + "/" + name.dropLast())
                continue
            }
            let file = try files.open(target + "/" + name, .createNew)
            try file.write(bytes, at: 0)
        }
    }

    /// Every file below a directory with its bytes, by path relative to it; for "nothing was changed".
    public func image(of path: String) -> [String: [UInt8]] {
        state.withLock { state in
            var image: [String: [UInt8]] = [:]
            func walk(_ node: Node, _ prefix: String) {
                for (name, entry) in node.entries {
                    if entry.isDirectory {
                        image[prefix + name + "/"] = []
                        walk(entry, prefix + name + "/")
                    } else {
                        image[prefix + name] = entry.bytes
                    }
                }
            }
            if let node = state.find(path) { walk(node, "") }
            return image
        }
    }
}

/// Copies a tree of nodes; one that has several names is copied once.
private struct NodeCopier {
    /// Nil keeps the page cache as it is.
    var loss: PowerLossDecider?
    var made: [UInt64: MemoryNode] = [:]

    mutating func copy(_ node: MemoryNode) -> MemoryNode {
        if let known = made[node.inode] { return known }
        let copy = MemoryNode(inode: node.inode, isDirectory: node.isDirectory)
        made[node.inode] = copy
        guard node.isDirectory else {
            if loss == nil {
                copy.bytes = node.bytes
                copy.durableBytes = node.durableBytes
                copy.pending = node.pending
            } else {
                copy.bytes = loss?.content(of: node) ?? []
                copy.durableBytes = copy.bytes
            }
            return copy
        }
        // In order of names, so that the same seed loses the same bytes.
        let names = loss == nil ? node.entries : loss?.names(in: node) ?? [:]
        for (name, entry) in names.sorted(by: { $0.key < $1.key }) { copy.entries[name] = self.copy(entry) }
        if loss == nil {
            for (name, entry) in node.durableEntries { copy.durableEntries[name] = self.copy(entry) }
            for change in node.pendingNames {
                var change = change
                change.node = self.copy(change.node)
                if let partner = change.partner { change.partner = self.copy(partner) }
                copy.pendingNames.append(change)
            }
        } else {
            copy.durableEntries = copy.entries
        }
        return copy
    }
}
