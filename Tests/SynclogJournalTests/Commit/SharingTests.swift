import SynclogJournal
import TestSupport
import Testing

/// Several handles on one directory, as several processes have them.
@Suite struct SharingTests {
    @Test(arguments: [101, 102, 103] as [UInt64])
    func `interleaved handles agree after every commit`(seed: UInt64) throws {
        let system = MemoryFileSystem()
        var generator = SeededGenerator(seed: seed)
        var workload = Workload(seed: seed, valueSizeMax: 500)
        var model = JournalModel()
        var handles = [
            try Journal.create(at: "/j", options: .test(system, seed: 1)),
            try Journal.open(at: "/j", options: .test(system, seed: 2)),
            try Journal.open(at: "/j", options: .test(system, seed: 3)),
        ]
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: .test(system))
        for round in 0..<150 {
            let turn = Int.random(in: 0..<handles.count, using: &generator)
            if Int.random(in: 0..<20, using: &generator) == 0 {
                handles[turn].close()
                handles[turn] = try Journal.open(at: "/j", options: .test(system, seed: UInt64(round) + 10))
            }
            model.commits.append(try handles[turn].apply(workload.next()))
            let looking = handles + [reader]
            let other = looking[Int.random(in: 0..<looking.count, using: &generator)]
            #expect(try other.head().commit == model.commits.last?.info.number)
            let after = JournalPosition.end(of: model.commits.randomElement(using: &generator)!.info.number)
            #expect(try other.commits(after: after) == model.read(after: after), "round \(round)")
            let key = workload.randomKey()
            #expect(try other.entry(for: key) == model.entry(for: key), "round \(round)")
        }
        #expect(system.segments(of: "/j").count > 2)
        for handle in handles + [reader] {
            _ = try handle.head()
            #expect(try handle.commits() == model.commits)
        }
        #expect(try reader.verify().damages == [])
    }

    @Test(.timeLimit(.minutes(1)), arguments: [JournalMode.shared, .exclusive])
    func `beside an exclusive holder others are told busy without waiting`(mode: JournalMode) throws {
        let system = MemoryFileSystem()
        let holder = try Journal.create(at: "/j", mode: .exclusive, options: .test(system))
        try holder.apply([put("a", "1")])
        var options = JournalOptions.test(system, seed: 2)
        // Whoever waited would run into the test's time limit.
        options.lockTimeout = .seconds(3600)
        let error = #expect(throws: JournalError.self) {
            let second = try Journal.open(at: "/j", mode: mode, options: options)
            try second.apply([put("b", "1")])
        }
        guard case .busy(let pid) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(pid == processIdentifier())
        // Reading needs no lock.
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: options)
        #expect(try reader.commits().count == 1)
        try holder.apply([put("b", "2")])
        holder.close()
        let second = try Journal.open(at: "/j", mode: mode, options: options)
        #expect(try second.commits().count == 2)
        try second.apply([put("c", "3")])
    }

    @Test(.timeLimit(.minutes(1))) func `a lock that never comes free ends in busy after the timeout`() throws
    {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        try journal.apply([put("a", "1")])
        let stranger = try system.open("/j/LOCK", .readWrite)
        #expect(try stranger.tryLock())
        var options = JournalOptions.test(system, seed: 2)
        options.lockTimeout = .milliseconds(20)
        let error = #expect(throws: JournalError.self) {
            let second = try Journal.open(at: "/j", options: options)
            try second.apply([put("b", "1")])
        }
        guard case .busy = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        stranger.unlock()
        try journal.apply([put("b", "2")])
        #expect(try journal.commits().count == 2)
    }

    @Test func `a handle whose directory was swapped goes on in the new one`() throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 104)
        let journal = try Journal.create(at: "/j", options: .test(system))
        try fill(journal, &model, &workload, count: 5)
        try system.copyDirectory("/j", to: "/backup")
        try journal.apply([put("lost", "x")])
        // The copy comes back under the same name, while the handle is open.
        try system.rename("/j", to: "/old", replacing: false)
        try system.rename("/backup", to: "/j", replacing: false)
        let before = try journal.session(at: 1)
        let next = try journal.apply([put("after", "y")])
        model.commits.append(next)
        #expect(try journal.commits() == model.commits)
        #expect(try journal.session(at: next.info.number).label != before.label)
        #expect(try recovered(system) == model.commits)
    }

    /// It went on to read, and kept all files open, of which compaction had deleted some.
    @Test func `a closed handle refuses, keeps no file open, and may be closed again`() throws {
        let system = MemoryFileSystem()
        let journal = try Journal.create(at: "/j", options: .test(system))
        var model = JournalModel()
        var workload = Workload(seed: 63)
        try fill(journal, &model, &workload, count: 120)
        #expect(try journal.commits() == model.commits && system.segments(of: "/j").count > 2)
        journal.close()
        journal.close()
        #expect(system.openFiles == [])
        #expect(throws: JournalError.closed) { try journal.apply([put("a", "1")]) }
        #expect(throws: JournalError.closed) { try journal.commits() }
        #expect(throws: JournalError.closed) { try journal.entry(for: put("a", "").key) }
        #expect(throws: JournalError.closed) { try journal.head() }
        #expect(throws: JournalError.closed) { try journal.compact() }
    }
}
