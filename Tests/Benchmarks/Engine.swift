/// What is measured beside the others: a store of records in one zone that finds them by name, and tells them again in the
/// order of their change.
protocol Engine: AnyObject, Sendable {
    /// Makes one durable commit of some records; threads may call it at once.
    /// - Returns: The commit's number.
    func commit(_ records: ArraySlice<Workload.Record>) throws -> Int
    /// Walks over all records changed after a commit, in the order of their change, and looks at names and values.
    func walk(after commit: Int) throws -> Walk
    /// The size of a record's value, after a look at its last byte; nil without the record.
    func get(_ name: [UInt8]) throws -> Int?
    /// Makes it as small as it gets.
    func compact() throws
    /// Waits for what it still does in the background.
    func settle() throws
    func close()
}

/// Whom to measure, and how to make or open one in a directory.
struct Contestant: Sendable {
    var name: String
    var open: @Sendable (String) throws -> any Engine

    static let all: [Contestant] = {
        var all = [Contestant(name: "synclog") { try JournalEngine($0) }]
        #if PeerBenchmarks
            all.append(Contestant(name: "sqlite") { try SQLiteEngine($0) })
            all.append(Contestant(name: "rocksdb") { try RocksDBEngine($0) })
            all.append(Contestant(name: "lmdb") { try LMDBEngine($0) })
        #endif
        return all
    }()

    static var peersAreThere: Bool { all.count > 1 }
}

/// Ends the run; the text says what and why.
struct BenchmarkError: Error {
    var text: String
    init(_ text: String) { self.text = text }
}

extension UInt64 {
    /// The eight bytes that sort as the number does.
    var sortable: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * UInt64($0))) } }

    /// The number of eight such bytes.
    init(sortable bytes: UnsafeRawBufferPointer) {
        self = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
