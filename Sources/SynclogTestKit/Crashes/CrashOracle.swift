internal import SynclogJournal

/// Something that a crash must not leave.
struct CrashFinding: Error {
    var reason: String
}

/// What was issued and what was acknowledged, and whether a journal that was found agrees.
struct CrashOracle: Sendable {
    /// A commit that somebody tried to make.
    struct Issued: Hashable, Sendable {
        var number: UInt64
        /// The commit before it, as its closure was told.
        var previous: UInt64
        var entries: [Entry]
    }

    /// A lease that was acknowledged.
    struct Promise: Hashable, Sendable {
        var made: UInt64
        var commit: UInt64
        var until: Int64
    }

    private(set) var issued: [UInt64: [Issued]] = [:]
    private(set) var acknowledged: [UInt64: Int] = [:]
    private(set) var promises: [Promise] = []
    /// The highest number that a caller was ever told.
    private(set) var highestTold: UInt64 = 0
    private var relaxed: [UInt64: Int] = [:]
    /// Whether making the journal was acknowledged.
    var isMade = false
    /// Whether the follower was run to its end once.
    var hasFollowed = false
    /// Whether the follower may be a journal of its own, and whether it must be.
    var promoting = false
    var promoted = false

    // MARK: - What happens

    /// - Returns: The place among those of the same number.
    mutating func issue(_ commit: Issued) -> Int {
        let known = issued[commit.number] ?? []
        if let place = known.firstIndex(of: commit) { return place }
        issued[commit.number] = known + [commit]
        return known.count
    }

    mutating func acknowledge(_ number: UInt64, _ place: Int) {
        acknowledged[number] = place
        highestTold = max(highestTold, number)
    }

    mutating func acknowledgeRelaxed(_ number: UInt64, _ place: Int) {
        relaxed[number] = place
        highestTold = max(highestTold, number)
    }

    /// Everything relaxed so far is durable.
    mutating func relaxedIsDurable() {
        for (number, place) in relaxed { acknowledged[number] = place }
        relaxed = [:]
    }

    /// The process that had relaxed commits is gone.
    mutating func relaxedIsOpen() { relaxed = [:] }

    mutating func promise(_ promise: Promise) { promises.append(promise) }
}
