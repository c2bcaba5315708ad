/// What of the unsynced changes is on the disk after the power went.
///
/// Synced content under synced names is there in any case; nothing else is promised by a file system.
public enum PowerLoss: Hashable, Sendable, CustomStringConvertible {
    /// Nothing that was not synced.
    case nothingUnsynced
    /// Everything, as if it had been synced.
    case everything
    /// Any calls of those that were not synced, whole, whatever their order; both names of a rename may be there.
    case anyCalls(seed: UInt64)
    /// Any sectors of 512 bytes of what was not synced, each as of any moment; sizes and names apart from them.
    case anySectors(seed: UInt64)

    /// A short name without spaces, such as `sectors:17`.
    public var description: String {
        switch self {
        case .nothingUnsynced: "nothing"
        case .everything: "everything"
        case .anyCalls(let seed): "calls:\(seed)"
        case .anySectors(let seed): "sectors:\(seed)"
        }
    }
}

/// Decides, for one loss of power, what survives.
struct PowerLossDecider {
    static let sectorSize = 512

    private let loss: PowerLoss
    private var generator: SeededGenerator
    /// The chance in eighths that a change survives.
    private var chance = 4
    /// Whether space that was added but never written holds something else than zeros.
    private var leavesGarbage = false
    private var renames: [UInt64: Int] = [:]

    init(_ loss: PowerLoss) {
        self.loss = loss
        switch loss {
        case .anyCalls(let seed), .anySectors(let seed):
            generator = SeededGenerator(seed: seed)
            chance = [1, 4, 4, 7][Int(generator.next() % 4)]
            leavesGarbage = generator.next() % 4 == 0
        default: generator = SeededGenerator(seed: 0)
        }
    }

    private mutating func survives() -> Bool { Int(generator.next() >> 32 & 7) < chance }

    /// The content of a file.
    mutating func content(of node: MemoryNode) -> [UInt8] {
        guard !node.pending.isEmpty else { return node.durableBytes }
        var content = node.durableBytes
        switch loss {
        case .nothingUnsynced: break
        case .everything: for change in node.pending { content.apply(change) }
        case .anyCalls: for change in node.pending where survives() { content.apply(change) }
        case .anySectors: return sectors(of: node)
        }
        return content
    }

    private mutating func sectors(of node: MemoryNode) -> [UInt8] {
        // The size is metadata: as of some moment, whatever became of the content.
        let moment = survives() ? node.pending.count : Int(generator.next() % UInt64(node.pending.count + 1))
        var size = node.durableBytes.count
        for change in node.pending[..<moment] {
            switch change {
            case .truncate(let cut): size = cut
            case .write(let offset, let bytes): size = max(size, offset + bytes.count)
            }
        }
        var content = node.durableBytes
        if size > content.count, leavesGarbage {
            let garbage = generator.bytes(64)
            while content.count < size { content.append(garbage[content.count % 64]) }
        }
        content.setCount(size)
        var touched: Set<Int> = []
        for change in node.pending {
            guard case .write(let offset, let bytes) = change else { continue }
            touched.formUnion(offset / Self.sectorSize...(offset + bytes.count - 1) / Self.sectorSize)
        }
        for sector in touched.sorted() {
            let last =
                survives() ? node.pending.count : Int(generator.next() % UInt64(node.pending.count + 1))
            let start = sector * Self.sectorSize
            guard start < size else { continue }
            let range = start..<min(start + Self.sectorSize, size)
            for (place, change) in node.pending.enumerated() {
                switch change {
                case .write(let offset, let bytes):
                    guard place < last else { continue }
                    let lower = max(range.lowerBound, offset)
                    let upper = min(range.upperBound, offset + bytes.count)
                    guard lower < upper else { continue }
                    content.replaceSubrange(lower..<upper, with: bytes[lower - offset..<upper - offset])
                case .truncate(let cut):
                    guard place < max(last, moment), cut < range.upperBound else { continue }
                    for byte in max(cut, range.lowerBound)..<range.upperBound { content[byte] = 0 }
                }
            }
        }
        return content
    }

    /// The names in a directory, each with the node it stands for.
    mutating func names(in node: MemoryNode) -> [String: MemoryNode] {
        switch loss {
        case .nothingUnsynced: return node.durableEntries
        case .everything: return node.entries
        case .anyCalls, .anySectors: break
        }
        var names = node.durableEntries
        for change in node.pendingNames {
            // Nothing of a rename, the new name beside the old one, or all of it.
            let known = renames[change.group]
            let decision = known ?? (survives() ? 1 + Int(generator.next() & 1) : 0)
            renames[change.group] = decision
            if !change.isRemoval {
                if decision > 0 { names[change.name] = change.node }
            } else if change.isRename ? decision == 2 : decision > 0, names[change.name] === change.node {
                names[change.name] = nil
            }
        }
        return names
    }
}
