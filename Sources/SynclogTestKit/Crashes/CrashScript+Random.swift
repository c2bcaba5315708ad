internal import Glibc

extension CrashScript {
    /// What the scripts of random runs are about.
    public enum Shape: String, CaseIterable, Sendable {
        case put, group, roll, compaction, zones, retention, follow, bootstrap, promote, lease, recovery,
            relaxed
    }

    /// A script of a shape from a seed; the seed also says how many processes there are.
    public static func random(seed: UInt64) -> CrashScript {
        let shapes = Shape.allCases
        return random(shapes[Int(seed % UInt64(shapes.count))], seed: seed)
    }

    /// A script of a shape from a seed.
    public static func random(_ shape: Shape, seed: UInt64) -> CrashScript {
        var generator = SeededGenerator(seed: seed ^ 0x5C21_9700)
        var script = CrashScript(name: shape.rawValue, lines: [])
        let single = shape == .relaxed || shape == .promote
        script.processes = single ? 1 : [1, 1, 1, 2, 2, 3][Int(generator.next() % 6)]
        script.exclusive = shape == .relaxed || script.processes == 1 && generator.next() % 4 == 0
        func below(_ bound: Int) -> Int { Int(generator.next() % UInt64(bound)) }
        func add(_ steps: Step...) {
            for step in steps { script.lines.append(Line(step, process: 1 + below(script.processes))) }
        }
        func writes(_ count: Int) {
            for _ in 0..<count {
                switch below(8) {
                case 0: add(.delete(1 + below(3)))
                case 1: add(.group(2 + below(3)))
                case 2 where generator.next() % 3 == 0: add(.reopen)
                case 3 where generator.next() % 3 == 0: add(.read)
                default: add(.put(1 + below(4)))
                }
            }
        }
        switch shape {
        case .put: writes(4 + below(6))
        case .group: for _ in 0..<3 + below(3) { add(.group(2 + below(4))) }
        case .roll: writes(12 + below(8))
        case .compaction:
            writes(8 + below(8))
            add(.compact, .put(2), .compactAll, .delete(3), .put(3))
            writes(below(12))
            add(.age(below(50)), .compact)
            if below(2) == 0 { add(.compactAll) }
        case .zones:
            add(.makeZone, .put(2), .makeZone)
            writes(4)
            add(.dropZone, .compactAll, .makeZone, .put(1), .dropZone)
            writes(2)
        case .retention:
            // A large old segment with puts, deletes in newer ones, time, and a merge of the newer ones alone.
            for _ in 0..<5 { add(.put(6)) }
            add(.compactAll, .follow, .delete(4))
            for _ in 0..<8 { add(.put(3)) }
            add(.delete(4), .put(4), .put(4), .age(40), .put(1), .compact)
            if below(2) == 0 { add(.compactAll) }
            add(.put(1))
        case .follow:
            writes(3)
            add(.follow)
            writes(4)
            add(.follow, .delete(2), .compact, .follow)
        case .bootstrap:
            writes(10)
            add(.compactAll, .put(2), .follow, .put(1), .follow)
        case .promote:
            writes(4)
            add(.follow, .put(1), .promote)
        case .lease:
            writes(3)
            add(.follow, .lease(20 + below(100)), .delete(3))
            writes(3)
            add(.age(35 + below(40)), .put(1), .compactAll, .put(1), .follow, .compactAll)
        case .recovery:
            for _ in 0..<3 + below(3) {
                add(.kill(after: 5 + below(60)))
                writes(2 + below(3))
                add(.reopen)
            }
        case .relaxed:
            for _ in 0..<3 {
                add(.relaxed(1 + below(3)))
                if below(2) == 0 { add(.put(1)) } else { add(.sync) }
                if below(3) == 0 { add(.reopen) }
            }
        }
        script.addFaults(&generator)
        return script
    }

    /// Lets some calls fail, and some processes die.
    private mutating func addFaults(_ generator: inout SeededGenerator) {
        var faults = Int(generator.next() % 4)
        if faults == 3 { faults = 0 }
        for _ in 0..<faults {
            let place = Int(generator.next() % UInt64(lines.count + 1))
            let process = 1 + Int(generator.next() % UInt64(processes))
            let dice = generator.next()
            func code(_ codes: Int32...) -> Int32 { codes[Int(dice >> 32) % codes.count] }
            let step: Step =
                switch dice % 8 {
                case 0, 1, 2:
                    .fail(.syncData, code: code(EIO, EIO, EDQUOT, EINTR), after: Int(generator.next() % 3))
                case 3: .fail(.write, code: code(ENOSPC, EDQUOT, EINTR), after: Int(generator.next() % 5))
                case 4: .fail(.syncDirectory, code: code(EIO, EINTR), after: Int(generator.next() % 2))
                case 5: .fail(.sync, code: code(EIO, EDQUOT, EINTR), after: Int(generator.next() % 2))
                case 6: .fail(.open, code: code(EMFILE, EACCES, EINTR), after: Int(generator.next() % 6))
                default: .kill(after: Int(generator.next() % 40))
                }
            lines.insert(Line(step, process: process), at: place)
        }
    }
}
