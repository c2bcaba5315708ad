internal import Synchronization

/// How much memory the index pages of a journal may take, shared by all its parts.
final class PageBudget: Sendable {
    private static let pagesMax = 8192
    private let pages = Atomic<Int>(0)

    /// Whether one more page may be kept; then it counts.
    func take() -> Bool {
        if pages.add(1, ordering: .relaxed).newValue <= Self.pagesMax { return true }
        pages.subtract(1, ordering: .relaxed)
        return false
    }

    /// Gives pages back.
    func give(_ count: Int) { pages.subtract(count, ordering: .relaxed) }
}

/// The pages of one index that were read last.
///
/// When the journal's budget is used up, a new page takes the place of another one of the same index.
final class PageCache: Sendable {
    private struct State {
        /// By number; empty where a page is not kept.
        var pages: [[UInt8]] = []
        /// The pages that are there, in the order in which they are given up.
        var kept: [Int] = []
        var next = 0
        var counted = 0
    }

    /// Every index may have so many, whatever the budget says.
    private static let pagesMin = 64
    private let budget: PageBudget
    private let state = Monitor(State())

    init(_ budget: PageBudget) { self.budget = budget }

    deinit { budget.give(state.withLock { $0.counted }) }

    /// Runs a body with a page that is kept; nil if it is not.
    @inline(__always)
    func withPage<Result>(_ number: Int, _ body: (Span<UInt8>) -> Result) -> Result? {
        state.withLock { state in
            guard number < state.pages.count, !state.pages[number].isEmpty else { return nil }
            // Under the lock nobody takes the page away, so it need not be retained.
            return unsafe state.pages[number].withUnsafeBufferPointer {
                unsafe body(Span(_unsafeElements: $0))
            }
        }
    }

    /// Keeps a page of an index of `count` pages.
    func keep(_ page: [UInt8], _ number: Int, of count: Int) {
        state.withLock { state in
            if state.pages.isEmpty { state.pages = [[UInt8]](repeating: [], count: count) }
            guard state.pages[number].isEmpty else { return }
            if budget.take() {
                state.counted += 1
                state.kept.append(number)
            } else if state.kept.count < Self.pagesMin {
                state.kept.append(number)
            } else {
                state.pages[state.kept[state.next]] = []
                state.kept[state.next] = number
                state.next = (state.next + 1) % state.kept.count
            }
            state.pages[number] = page
        }
    }
}
