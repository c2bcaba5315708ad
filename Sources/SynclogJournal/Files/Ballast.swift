internal import Glibc

/// A file of zeros that is given up when the disk is full, so that deleting and compacting find room; puts never use it.
///
/// Deletions take a little each time and leave the rest to compaction, which needs room for what stays of a segment and makes more
/// of it. All of it is best effort: where the file is not there, or others take the room first, a full disk is an error as
/// always.
struct Ballast {
    static let name = "BALLAST"
    /// Room to merge four segments of the size they have where processes come and go.
    private static let mergeSize: UInt64 = 4 << 20
    private static let sizeMax: UInt64 = 256 << 20
    private static let pieceSize: UInt64 = 1 << 20
    /// Room for some eighty deletions by hand.
    private static let stepSize: UInt64 = 16 * 1024

    private let directory: String
    private let fileSystem: any FileSystem
    private let smallest: UInt64
    private var path: String { directory + "/" + Self.name }

    init(_ directory: String, _ options: JournalOptions) {
        self.directory = directory
        fileSystem = options.fileSystem
        smallest = options.ballastFrom
    }

    /// The size for a journal whose segments have so many bytes: none for a small one, then half of them as far as a merge needs,
    /// and a 32nd where that is more.
    static func size(for content: UInt64, from smallest: UInt64) -> UInt64 {
        content < smallest ? 0 : min(max(content / 32, min(content / 2, mergeSize)), sizeMax)
    }

    /// Makes the file as large as it should be for a journal's size, if there is room for that; with `orLess`, for half, a quarter
    /// and so on.
    func fill(for content: UInt64, orLess: Bool = false) {
        let wanted = Self.size(for: content, from: smallest)
        guard wanted > 0 else { return }
        let held = (try? fileSystem.status(path))?.size ?? 0
        // A little less is good enough, so that not every roll has to write some.
        guard held < wanted - wanted / 16 else { return }
        var size = wanted
        while !grow(from: held, to: size), orLess, size / 2 > max(held, smallest / 4) { size /= 2 }
    }

    /// - Returns: False if there is no room; the file is as it was then.
    @discardableResult
    func grow(from held: UInt64, to size: UInt64) -> Bool {
        guard let file = try? fileSystem.open(path, .create) else { return false }
        let zeros = [UInt8](repeating: 0, count: Int(min(size - held, Self.pieceSize)))
        var end = held
        do {
            while end < size {
                let count = min(size - end, UInt64(zeros.count))
                try file.write(count < UInt64(zeros.count) ? Array(zeros[..<Int(count)]) : zeros, at: end)
                end += count
            }
            return true
        } catch {
            try? held > 0 ? file.truncate(to: held) : fileSystem.remove(path)
            return false
        }
    }

    /// Gives room for a commit of so many bytes and some more back to the file system, at most half of what there is.
    /// - Returns: Whether there was enough for that.
    func release(for size: Int) -> Bool {
        let step = max(Self.stepSize, 2 * UInt64(size))
        guard let file = try? fileSystem.open(path, .readWrite), let held = try? file.status().size,
            held >= smallest / 4, (try? file.truncate(to: held - min(held / 2, step))) != nil
        else { return false }
        // Some file systems give room to others only once it is sure that it is free.
        try? file.sync()
        return true
    }

    /// Gives all of the room back to the file system.
    /// - Returns: How much that was.
    func releaseAll() -> UInt64 {
        guard let size = (try? fileSystem.status(path))?.size, (try? fileSystem.remove(path)) != nil else {
            return 0
        }
        try? fileSystem.syncDirectory(directory)
        return size
    }
}

extension FileError {
    /// Whether the disk is full, or what this user may have of it.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
}

extension JournalError {
    /// Whether a call failed because the disk is full.
    var isOutOfSpace: Bool {
        if case .file(let error) = self { error.isOutOfSpace } else { false }
    }
}
