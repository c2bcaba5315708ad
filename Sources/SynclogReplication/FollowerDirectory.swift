internal import CLZ4
internal import SynclogJournal

/// A follower's directory, the shadow beside it in which it is made anew, and the change of one for the other.
struct FollowerDirectory: Sendable {
    let path: String
    private(set) var options: JournalOptions

    /// Where the copy is made anew.
    var shadow: String { path + ".rebuild" }
    /// Where an old copy lies that goes, unless the file system can exchange the two in one step.
    private var dropped: String { path + ".dropped" }

    init(path: String, options: JournalOptions) {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == 0x2F { bytes = bytes.dropLast() }
        self.path = String(bytes) ?? path
        self.options = options
        // A copy gets much at once, from one writer; small segments would be sealed and merged again and again.
        self.options.segmentSize = options.segmentSize ?? 16 << 20
    }

    private var files: any FileSystem { options.fileSystem }

    /// Opens the follower, or nil if nothing is there yet.
    ///
    /// A change of directories that was cut short is completed first.
    func open() throws(ReplicationError) -> Journal? {
        try finishInterruptedSwap()
        return try open(at: path)
    }

    /// Makes the follower.
    func create(_ id: JournalID, zones: ZoneNames?) throws(ReplicationError) -> Journal {
        try create(at: path, FollowerState(source: id, zones: zones, holder: newHolder()))
    }

    /// Removes a follower that was made and got nothing; its journal must be closed.
    func discard() throws(ReplicationError) {
        _ = try wrap { () throws(FileError) in try removeFollower(path) }
    }

    /// Opens the shadow where it is of this source and these zones, else makes a fresh one.
    func openShadow(_ id: JournalID, zones: ZoneNames?, fresh: Bool) throws(ReplicationError) -> Journal {
        if !fresh, let journal = try? open(at: shadow) {
            let state = try? state(of: journal)
            if journal.id == id, let state, state.source == id, state.zones == zones, state.replacedBy == nil
            {
                return journal
            }
            journal.close()
        }
        guard try wrap({ () throws(FileError) in try removeFollower(shadow) }) else {
            throw .journal(.notEmpty(path: shadow))
        }
        // The lease in the source goes over to the new copy.
        let holder = try wrap { () throws(FileError) in try followerState(in: path) }?.holder ?? newHolder()
        return try create(at: shadow, FollowerState(source: id, zones: zones, holder: holder))
    }

    /// Puts the shadow in the follower's place; both journals must be closed.
    /// - Returns: Where the old copy is kept, if it is.
    func swap(keepsOld: Bool) throws(ReplicationError) -> String? {
        try wrap { () throws(FileError) in
            // Marked before anything moves, so that whoever has it open or finds it elsewhere knows.
            try markReplaced(drops: !keepsOld)
            var old = shadow
            if !exchange(path, shadow) {
                let isTaken = try files.status(dropped) != nil
                old = try keepsOld || isTaken ? freeName(path + ".replaced") : dropped
                try files.rename(path, to: old, replacing: false)
                try files.rename(shadow, to: path, replacing: false)
            }
            try syncParent()
            defer { try? syncParent() }
            // An old copy in which somebody keeps other files stays as well.
            if !keepsOld, try removeFollower(old) { return nil }
            return [shadow, dropped].contains(old) ? try keep(old) : old
        }
    }

    /// Gives an old copy the name of one that is kept.
    private func keep(_ old: String) throws(FileError) -> String {
        let kept = try freeName(path + ".replaced")
        try files.rename(old, to: kept, replacing: false)
        return kept
    }

    // MARK: - Parts

    private func open(at path: String) throws(ReplicationError) -> Journal? {
        let isThere = try wrap { () throws(FileError) in
            guard let status = try files.status(path) else { return false }
            if !status.isDirectory { return true }
            return try !files.list(path).isEmpty
        }
        guard isThere else { return nil }
        do throws(JournalError) {
            let journal = try Journal.open(at: path, mode: .shared, options: options)
            do throws(JournalError) {
                if try journal.followerState() != nil { return journal }
            } catch {
                journal.close()
                throw error
            }
            journal.close()
        } catch {
            if case .notAJournal = error, try isUnfinished(path) { return nil }
            throw .journal(error)
        }
        throw .notAFollower(path: path)
    }

    /// Whether a directory holds only what is made before the first segment, so that making it can begin again.
    private func isUnfinished(_ path: String) throws(ReplicationError) -> Bool {
        try wrap { () throws(FileError) in
            guard let status = try files.status(path), status.isDirectory else { return false }
            return try files.list(path).allSatisfy { ["FOLLOWER", "LOCK", "tmp"].contains($0) }
        }
    }

    private func newHolder() -> [UInt8] {
        [options.random(), options.random()].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - $0 * 8)) }
        }
    }

    private func create(at path: String, _ state: FollowerState) throws(ReplicationError) -> Journal {
        do throws(JournalError) {
            return try Journal.create(
                at: path, id: state.source, follower: state.bytes, mode: .shared,
                options: options)
        } catch {
            throw .journal(error)
        }
    }

    /// What a journal follows.
    func state(of journal: Journal) throws(ReplicationError) -> FollowerState {
        do throws(JournalError) {
            guard let bytes = try journal.followerState(), let state = FollowerState(bytes) else {
                throw .unsupported(path: journal.path, feature: "the content of its file FOLLOWER")
            }
            return state
        } catch {
            throw .journal(error)
        }
    }

    /// Whether there is a file FOLLOWER, so that the directory may be replaced even if it cannot be opened.
    func isMarkedAsFollower() -> Bool {
        (try? files.status(path + "/FOLLOWER")).flatMap { $0 } != nil
    }

    /// After a crash between two renames the follower lies in the shadow; after one behind an exchange the old copy.
    private func finishInterruptedSwap() throws(ReplicationError) {
        try wrap { () throws(FileError) in
            guard try files.status(shadow) != nil else { return }
            if try files.status(path) == nil {
                guard try files.status(shadow + "/FOLLOWER") != nil else { return }
                try files.rename(shadow, to: path, replacing: false)
                try syncParent()
            } else if let state = try followerState(in: shadow), state.replacedBy != nil {
                try finish(shadow, drops: state.isDropped)
            }
        }
        // Not needed for anything, so it may as well stay until the next time.
        try? dropLeftover()
    }

    /// Removes an old copy that goes, or gives it the name of one that is kept.
    private func finish(_ old: String, drops: Bool) throws(FileError) {
        // The new copy's name first: without it the old one might come back, emptied.
        try syncParent()
        let isGone = drops ? try removeFollower(old) : false
        if !isGone { _ = try keep(old) }
        try syncParent()
    }

    /// Removes an old copy whose removal was cut short; what is not marked as one is not touched.
    private func dropLeftover() throws(FileError) {
        guard let old = try files.status(dropped), let new = try files.status(path), old.inode != new.inode
        else { return }
        let isMarked = try followerState(in: dropped)?.isDropped == true
        // The mark goes last but for the directory itself.
        let isEmpty = try files.list(dropped).isEmpty
        if isMarked || isEmpty { try finish(dropped, drops: true) }
    }

    /// What the file FOLLOWER of a directory says, or nil if there is none that can be understood.
    private func followerState(in path: String) throws(FileError) -> FollowerState? {
        guard let status = try files.status(path + "/FOLLOWER") else { return nil }
        let file = try files.open(path + "/FOLLOWER", .read)
        var bytes = [UInt8](repeating: 0, count: Int(min(status.size, 1 << 20)))
        var failure: FileError?
        var count = 0
        unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(FileError) { count = try unsafe file.read(into: buffer, at: 0) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return FollowerState(Array(bytes.prefix(count)))
    }

    /// Says in the old copy's FOLLOWER that another one takes its place.
    private func markReplaced(drops: Bool) throws(FileError) {
        let known = try followerState(in: path)
        var state = known ?? FollowerState(source: JournalID(high: 0, low: 0), zones: nil, holder: [])
        state.replacedBy = path.utf8.split(separator: 0x2F).last.flatMap { String($0) } ?? path
        state.isDropped = drops
        let draft = path + "/FOLLOWER.new"
        let file = try files.open(draft, .create)
        let bytes = state.bytes
        try file.truncate(to: 0)
        var failure: FileError?
        unsafe bytes.withUnsafeBytes { buffer in
            do throws(FileError) { try unsafe file.write(buffer, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        try file.sync()
        try files.rename(draft, to: path + "/FOLLOWER", replacing: true)
        try files.syncDirectory(path)
    }

    private func freeName(_ base: String) throws(FileError) -> String {
        var number = 1
        while try files.status("\(base)-\(number)") != nil { number += 1 }
        return "\(base)-\(number)"
    }

    private func syncParent() throws(FileError) {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: 0x2F) else { return try files.syncDirectory(".") }
        try files.syncDirectory(slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self))
    }

    /// Exchanges two directories in one step, where the file system can.
    private func exchange(_ first: String, _ second: String) -> Bool {
        guard files is PosixFileSystem else { return false }
        return unsafe synclog_rename_exchange(first, second) == 0
    }

    /// Removes a directory if it holds a follower's files and nothing else.
    /// - Returns: False, with nothing removed, if there is anything that is not a follower's.
    private func removeFollower(_ path: String) throws(FileError) -> Bool {
        guard let status = try files.status(path) else { return true }
        guard status.isDirectory else { return false }
        let names = try files.list(path)
        guard names.contains("FOLLOWER") || names.allSatisfy({ $0 == "LOCK" || $0 == "tmp" }),
            names.allSatisfy({ Self.ownNames.contains($0) || SegmentName($0) != nil })
        else { return false }
        for name in names.sorted() where name != "FOLLOWER" {
            let file = path + "/" + name
            if name == "tmp" {
                for draft in try files.list(file) { try files.remove(file + "/" + draft) }
                try files.removeDirectory(file)
            } else {
                try files.remove(file)
            }
        }
        // The mark goes last: what is left after a crash is still known for what it is. Names are not lost in order.
        try files.syncDirectory(path)
        if names.contains("FOLLOWER") { try files.remove(path + "/FOLLOWER") }
        try files.removeDirectory(path)
        return true
    }

    /// The names in a follower's directory besides its segments; kept damaged bytes are not for removal.
    private static let ownNames: Set<String> = [
        "HEAD", "LOCK", "COMPACT", "SYNC", "BALLAST", "FOLLOWER", "FOLLOWER.new", "tmp",
    ]

    private func wrap<Value>(_ body: () throws(FileError) -> Value) throws(ReplicationError) -> Value {
        do throws(FileError) { return try body() } catch { throw .journal(.file(error)) }
    }
}
