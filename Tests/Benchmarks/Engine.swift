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

/// How a peer lays its data out: beside an index, the values lie in one of two orders.
///
/// The first finds single records faster, the second reads changes and loads faster. Both are measured, and in each case the
/// better one counts.
enum Layout: String, CaseIterable {
    case byName = "by name"
    case bySequence = "by sequence"
}

/// Whom to measure, and how to make or open one in a directory.
struct Contestant: Sendable {
    var name: String
    var layout: Layout?
    var open: @Sendable (String) throws -> any Engine

    static let all: [Contestant] = {
        var all = [Contestant(name: "synclog") { try JournalEngine($0) }]
        #if PeerBenchmarks
            for layout in Layout.allCases {
                all += [
                    Contestant(name: "sqlite", layout: layout) { try SQLiteEngine($0, layout) },
                    Contestant(name: "rocksdb", layout: layout) { try RocksDBEngine($0, layout) },
                    Contestant(name: "lmdb", layout: layout) { try LMDBEngine($0, layout) },
                ]
            }
        #endif
        return all
    }()

    /// The name, with the layout if there are several.
    var label: String { layout.map { "\(name) \($0.rawValue)" } ?? name }

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
