internal import SynclogJournal

/// Lets exactly one of some threads run, and changes it at calls as a seed says.
///
/// Each simulated process has a thread of its own; it hands the baton on where it makes a call, rests or ends.
final class ProcessScheduler: Sendable {
    private struct State {
        var generator: SeededGenerator
        var running: [Int]
    }

    private let state: Monitor<State>
    /// Whose turn it is; one flag a thread.
    private let gates: [Monitor<Bool>]
    private let done = Monitor(false)

    init(count: Int, seed: UInt64) {
        state = Monitor(State(generator: SeededGenerator(seed: seed), running: Array(0..<count)))
        gates = (0..<count).map { _ in Monitor(false) }
    }

    /// Runs the bodies, each on its own thread, until all have ended.
    func run(_ bodies: [@Sendable () -> Void]) {
        for (place, body) in bodies.enumerated() {
            startThread { [self] in
                waitForTurn(place)
                body()
                end(place)
            }
        }
        hand(to: state.withLock { $0.running[Int($0.generator.next() % UInt64($0.running.count))] })
        _ = done.wait { $0 ? true : nil }
    }

    /// At a call: usually goes on, sometimes lets another one run.
    func atCall(of place: Int) { change(from: place, always: false) }

    /// Where a process waits for others: lets another one run, if there is one.
    func rest(_ place: Int) { change(from: place, always: true) }

    private func change(from place: Int, always: Bool) {
        let next = state.withLock { state -> Int in
            guard state.running.count > 1, always || state.generator.next() % 4 == 0 else { return place }
            let others = state.running.filter { $0 != place }
            return others[Int(state.generator.next() % UInt64(others.count))]
        }
        guard next != place else { return }
        hand(to: next)
        waitForTurn(place)
    }

    private func end(_ place: Int) {
        let next = state.withLock { state -> Int? in
            state.running.removeAll { $0 == place }
            guard !state.running.isEmpty else { return nil }
            return state.running[Int(state.generator.next() % UInt64(state.running.count))]
        }
        if let next {
            hand(to: next)
        } else {
            done.withLock { $0 = true }
            done.wakeAll()
        }
    }

    private func hand(to place: Int) {
        gates[place].withLock { $0 = true }
        gates[place].wakeAll()
    }

    private func waitForTurn(_ place: Int) {
        _ = gates[place].wait { open -> Bool? in
            guard open else { return nil }
            open = false
            return true
        }
    }
}
