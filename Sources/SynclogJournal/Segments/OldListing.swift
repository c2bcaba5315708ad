internal import Glibc

extension JournalError {
    /// How often in a row the files may have changed between listing and opening; after that something is missing.
    static let oldListingsMax = 10

    /// Whether looking at the directory again may help: a file vanished, or is missing in the list.
    var mayBeAnOldListing: Bool {
        switch self {
        case .file(let failure): failure.code == ENOENT
        case .missingSegment: true
        default: false
        }
    }
}

/// Runs a body that lists the directory, again if segments were begun or replaced meanwhile.
func lookingAgain<Result>(
    _ body: () throws(JournalError) -> Result
) throws(JournalError) -> Result {
    var oldListings = 0
    while true {
        do throws(JournalError) {
            return try body()
        } catch {
            guard error.mayBeAnOldListing, oldListings < JournalError.oldListingsMax else { throw error }
            oldListings += 1
        }
    }
}
