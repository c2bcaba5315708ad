internal import Glibc

/// The segments of a journal that are open besides the live one: only so many at once, for each holds a descriptor and pages.
///
/// A segment that was not used since the last look at it is closed for another; it is opened again when it is needed, and
/// whoever reads it at that moment keeps it until then.
final class OpenSegments: Sendable {
    /// A quarter of the files that this process may have open, which is often 1024; 64 at least and 1024 at most.
    static let usualMax = min(max(sysconf(Int32(_SC_OPEN_MAX)) / 4, 64), 1024)

    private struct Entry {
        weak let segment: Segment?
    }

    private struct State {
        var entries: [Entry] = []
        /// The entry to look at next.
        var hand = 0
    }

    private let countMax: Int
    private let state = Monitor(State())

    init(countMax: Int) { self.countMax = countMax }

    /// Takes in a segment that was opened, in the place of one that can be closed if there are enough.
    func add(_ segment: Segment) {
        state.withLock { state in
            guard state.entries.count == countMax else {
                state.entries.append(Entry(segment: segment))
                return
            }
            while let old = state.entries[state.hand].segment, !old.closeUnlessUsed() {
                state.hand = (state.hand + 1) % countMax
            }
            state.entries[state.hand] = Entry(segment: segment)
            state.hand = (state.hand + 1) % countMax
        }
    }
}
