import SynclogJournal
import TestSupport
import Testing

/// Groups padded to 4 KiB, for disks that tear more than a sector.
@Suite struct PaddingTests {
    private func options(_ system: MemoryFileSystem, _ seed: UInt64 = 7) -> JournalOptions {
        var options = JournalOptions.test(system, seed: seed)
        options.padsGroups = true
        return options
    }

    /// The first and the last page of each block and checkpoint, by segment.
    private func pages(_ system: MemoryFileSystem) throws -> [[ClosedRange<Int>]] {
        try system.segments(of: "/j").map { path in
            JournalFiles.frames(try #require(system.contents(path))).filter { $0.kind == 0x50 }
                .map { $0.offset / 4096...($0.offset + $0.size - 1) / 4096 }
        }
    }

    /// Once the end after reopening left the padding out: HEAD and the scan disagreed, and a sound journal was called damaged.
    @Test(arguments: [JournalMode.shared, .exclusive])
    func `a padded journal opens where it ended, and no page is written twice`(mode: JournalMode) throws {
        let system = MemoryFileSystem()
        var model = JournalModel()
        var workload = Workload(seed: 5, entriesMax: 3, valueSizeMax: 300)
        var journal = try Journal.create(at: "/j", options: options(system))
        let reader = try Journal.open(at: "/j", mode: .readOnly, options: options(system, 9))
        for round in 0..<12 {
            try fill(journal, &model, &workload, count: 4)
            #expect(try #require(system.head(of: "/j")).end % 4096 == 0)
            #expect(try reader.head().commit == model.commits.last?.info.number)
            #expect(try reader.commits() == model.commits)
            journal.close()
            journal = try Journal.open(at: "/j", mode: mode, options: options(system, UInt64(round) + 20))
            #expect(try journal.commits() == model.commits)
            let report = try journal.verify()
            #expect(report.damages == [] && report.lost == nil)
        }
        journal.close()
        for pages in try pages(system) {
            for (page, next) in zip(pages, pages.dropFirst()) {
                #expect(page.upperBound < next.lowerBound)
            }
        }
        // Who does not pad goes on in it too.
        let plain = try Journal.open(at: "/j", options: .test(system, seed: 99))
        model.commits.append(try plain.apply(workload.next()))
        plain.close()
        #expect(try recovered(system) == model.commits)
    }

    @Test func `after a crash the next group begins on a page of its own`() throws {
        for lostHead in [false, true] {
            let system = MemoryFileSystem()
            var model = JournalModel()
            var workload = Workload(seed: 6, entriesMax: 3, valueSizeMax: 100)
            let journal = try Journal.create(at: "/j", options: options(system))
            try fill(journal, &model, &workload, count: 2)
            let slot = try #require(system.contents("/j/HEAD"))
            try fill(journal, &model, &workload, count: 3)
            journal.close()
            if lostHead { try system.remove("/j/HEAD") } else { try system.setContents("/j/HEAD", slot) }
            for seed in [30, 31] as [UInt64] {
                let again = try Journal.open(at: "/j", options: options(system, seed))
                #expect(try again.commits() == model.commits)
                #expect(try #require(system.head(of: "/j")).end % 4096 == 0)
                try fill(again, &model, &workload, count: 1)
                again.close()
            }
            #expect(try recovered(system) == model.commits)
        }
    }
}
