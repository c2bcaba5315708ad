internal import Glibc

/// The rules that keep commits safe, each of which a crash test can leave out to prove that it would notice.
///
/// Only the test kit sets them.
package struct JournalRules: Hashable, Sendable {
    /// Recovery scans behind the end that HEAD names.
    package var scansBeyondHead = true
    /// Whole commits that were never surely synced are not appended to where they lie.
    package var movesSurvivors = true
    /// They are copied, not synced in place: a sync of pages that a failed one left clean proves nothing.
    package var copiesSurvivors = true
    /// After a tail was dropped numbers go on above all that were seen in it.
    package var numbersAboveDropped = true
    /// A tail that is not whole is dropped back to its last whole commit.
    package var dropsTornTails = true
    /// The payload of a block is checked against its checksum when a tail is scanned.
    package var checksPayloads = true
    /// A merged segment has its durable name before its inputs go.
    package var publishesBeforeUnlink = true
    /// Floors are durable before anything below them goes.
    package var raisesFloorsFirst = true
    /// A tombstone stays as long as an older put of its key is stored.
    package var keepsTombstonesOverPuts = true
    /// A tombstone stays until every live lease has passed it.
    package var respectsLeases = true
    /// A source checks a follower's cursor before it gives blocks.
    package var checksCursors = true
    /// Relaxed commits reserve their numbers durably.
    package var reservesNumbers = true

    package init() {}
}

extension JournalOptions {
    /// Lets the calling thread rest for some microseconds.
    static let defaultPause: @Sendable (UInt32) -> Void = { usleep($0) }
}
