/// What is measured beside the others: a store of records that tells them again in the order of their change.
protocol Engine: AnyObject {
    /// Makes one durable commit of some records.
    func commit(_ records: ArraySlice<Workload.Record>, number: Int) throws
    /// Walks over all records in the order of their change.
    /// - Returns: Their count and the sum of their sizes.
    func scan(after commit: Int) throws -> (count: Int, bytes: Int)
    /// The size of a record's value.
    func get(_ name: [UInt8]) throws -> Int?
    /// Makes it as small as it gets.
    func compact() throws
    func close()
}

struct BenchmarkError: Error {
    var text: String
    init(_ text: String) { self.text = text }
}
