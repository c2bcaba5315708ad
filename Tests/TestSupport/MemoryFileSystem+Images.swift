public import SynclogJournal

extension MemoryFileSystem {
    /// A file system with the same content, inodes included, that goes its own way from here; nothing fails in it.
    public func copy() -> MemoryFileSystem {
        state.withLock { state in
            var made = State(root: Self.copied(state.root), tracksDurability: state.tracksDurability)
            made.nextInode = state.nextInode
            made.boot = state.boot
            return MemoryFileSystem(made)
        }
    }

    /// What a machine would find after its power went now: only synced content under synced names.
    ///
    /// The boot id is a new one. Needs `tracksDurability`.
    public func afterPowerLoss() -> MemoryFileSystem {
        state.withLock { state in
            precondition(state.tracksDurability)
            var made = State(root: Self.copied(state.root, durableOnly: true), tracksDurability: true)
            made.nextInode = state.nextInode
            made.boot = state.boot + 1
            return MemoryFileSystem(made)
        }
    }

    private static func copied(_ node: Node, durableOnly: Bool = false) -> Node {
        let made = Node(inode: node.inode, isDirectory: node.isDirectory)
        made.bytes = durableOnly ? node.durableBytes : node.bytes
        made.durableBytes = node.durableBytes
        for (name, entry) in durableOnly ? node.durableEntries : node.entries {
            made.entries[name] = copied(entry, durableOnly: durableOnly)
        }
        // Names that are durable but gone by now matter only to a second loss of power.
        made.durableEntries = made.entries.filter { node.durableEntries[$0.key] != nil }
        return made
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
            state.contentChanged(node)
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
