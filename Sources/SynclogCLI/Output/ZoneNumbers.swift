import SynclogJournal
import SynclogRecords

/// The names of zones by their numbers; a zone that was made again has a number of its own.
struct ZoneNumbers {
    private let journal: Journal
    private var names: [UInt64: String?] = [:]

    init(journal: Journal) { self.journal = journal }

    /// The zone's name in a zone entry's key.
    static func name(in key: EntryKey) -> String? { (try? StoredZone.names(in: key))?.name }

    /// Takes over what a zone entry says.
    mutating func learn(_ entry: Entry, commit: UInt64) {
        guard entry.operation == .put, let stored = try? StoredZone(value: entry.value) else { return }
        names[stored.number == 0 ? commit : stored.number] = Self.name(in: entry.key)
    }

    /// The name of a zone; nil if its entry is not kept.
    mutating func name(of number: UInt64) throws(JournalError) -> String? {
        if let known = names[number] { return known }
        // A zone has the number of the commit that made it, so its entry is found there. A filter would look for another
        // one in all that follows.
        do throws(JournalError) {
            var reader = try journal.read(after: .end(of: number - min(number, 1)))
            reader.onDamage = { _ in }
            if number > 0, let commit = try reader.next(), commit.info.number == number {
                for entry in commit.entries where entry.key.space == .zone { learn(entry, commit: number) }
            }
        } catch {
            // A name that is damaged is no reason to stop showing what is not.
            guard case .corrupted = error else { throw error }
        }
        let name = names[number] ?? nil
        names[number] = .some(name)
        return name
    }

    /// The numbers that zones whose names match have had, up to the known head.
    static func numbers(
        _ journal: Journal, after commit: UInt64 = 0, matching: (String) -> Bool
    ) throws(JournalError) -> Set<UInt64> {
        var found: Set<UInt64> = []
        var reader = try journal.read(after: .end(of: commit), filter: ReadFilter(spaces: [.zone]))
        reader.onDamage = { _ in }
        while let commit = try reader.next() {
            for entry in commit.entries where entry.key.space == .zone && entry.operation == .put {
                guard let name = name(in: entry.key), matching(name) else { continue }
                let stored = try? StoredZone(value: entry.value)
                let number = stored?.number ?? 0
                found.insert(number == 0 ? commit.info.number : number)
            }
        }
        return found
    }
}
