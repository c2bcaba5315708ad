internal import SynclogJournal

/// A file or directory of a simulated machine: what the page cache holds, what the disk holds, and what lies between.
///
/// Sendable: touched only under the machine's lock.
final class MemoryNode: @unchecked Sendable {
    let inode: UInt64
    let isDirectory: Bool
    /// What every process reads.
    var bytes: [UInt8] = []
    /// What is on the disk.
    var durableBytes: [UInt8] = []
    /// Writes that no sync has carried to the disk, in order.
    var pending: [PendingWrite] = []
    /// The names that every process sees.
    var entries: [String: MemoryNode] = [:]
    /// The names that are on the disk.
    var durableEntries: [String: MemoryNode] = [:]
    /// Changes of names that no sync has carried to the disk, in order.
    var pendingNames: [PendingName] = []
    var lockOwner: LockOwner?

    /// A change of a file's content that may be lost.
    enum PendingWrite {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    /// A change of a name that may be lost.
    struct PendingName {
        var name: String
        var node: MemoryNode
        var isRemoval: Bool
        /// Both halves of a rename have one number.
        var group: UInt64
        /// Whether it is half of a rename.
        var isRename: Bool
        /// Where the other half lies; weak, for a directory is held by the one above it, which it may name here.
        weak var partner: MemoryNode?
    }

    /// Who holds the file's lock.
    struct LockOwner: Hashable {
        var file: ObjectIdentifier
        var process: Int
    }

    init(inode: UInt64, isDirectory: Bool) {
        self.inode = inode
        self.isDirectory = isDirectory
    }

    var status: FileStatus {
        FileStatus(inode: inode, device: 7, size: UInt64(bytes.count), isDirectory: isDirectory)
    }

    // MARK: - Content

    func write(_ new: UnsafeRawBufferPointer, at start: Int, tracked: Bool) {
        guard unsafe !new.isEmpty else { return }
        let end = start + new.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<end]).copyMemory(from: new)
        }
        if tracked { unsafe pending.append(.write(offset: start, bytes: Array(new))) }
    }

    func truncate(to size: Int, tracked: Bool) {
        bytes.setCount(size)
        if tracked { pending.append(.truncate(size: size)) }
    }

    /// Carries everything unsynced to the disk.
    func flush() {
        for change in pending { durableBytes.apply(change) }
        pending = []
    }

    /// What a failed sync does: the pages count as clean, readers go on seeing them, the disk never gets them.
    ///
    /// A size that was set is not content and stays to be carried.
    func loseUnsynced() {
        pending.removeAll { change in
            if case .write = change { return true }
            return false
        }
    }

    // MARK: - Names

    func add(_ name: String, _ node: MemoryNode, group: UInt64) {
        entries[name] = node
        pendingNames.append(
            PendingName(name: name, node: node, isRemoval: false, group: group, isRename: false))
    }

    func removeName(_ name: String, group: UInt64, partner: MemoryNode? = nil) {
        guard let node = entries.removeValue(forKey: name) else { return }
        pendingNames.append(
            PendingName(
                name: name, node: node, isRemoval: true, group: group, isRename: partner != nil,
                partner: partner))
    }

    /// Carries all changes of names to the disk; where a name came from here, its new place as well.
    func flushNames() {
        for change in pendingNames {
            if let partner = change.partner, partner !== self {
                for other in partner.pendingNames where other.group == change.group {
                    partner.durableEntries[other.name] = other.node
                }
                partner.pendingNames.removeAll { $0.group == change.group }
            }
        }
        durableEntries = entries
        pendingNames = []
    }
}

extension [UInt8] {
    mutating func setCount(_ size: Int) {
        if size < count {
            removeSubrange(size...)
        } else {
            self += [UInt8](repeating: 0, count: size - count)
        }
    }

    mutating func apply(_ change: MemoryNode.PendingWrite) {
        switch change {
        case .truncate(let size): setCount(size)
        case .write(let offset, let bytes):
            if count < offset + bytes.count { setCount(offset + bytes.count) }
            replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
    }
}
