#if PeerBenchmarks
    internal import CPeers
    internal import Glibc
    internal import SynclogJournal

    /// LMDB, synced at every commit: one tree of records by zone and name, one of changes by zone and sequence, which is
    /// appended to.
    ///
    /// By name, values are in the first. Where a record was replaced, its older change stays there and is passed over in a
    /// walk, which spares each commit a search. By sequence, values are in the second, and older changes are removed.
    ///
    /// Sendable: LMDB lets one thread write at a time, and `last` changes only there; reading is for one thread.
    final class LMDBEngine: Engine, @unchecked Sendable {
        private static let zone = UInt64(1).sortable
        private let path: String
        private let layout: Layout
        private var environment: OpaquePointer?
        private var records: MDB_dbi = 0
        private var changes: MDB_dbi = 0
        private var last = 0
        /// Kept and renewed for each read.
        private var reading: OpaquePointer?

        init(_ path: String, _ layout: Layout) throws {
            self.path = path
            self.layout = layout
            try Self.check(mdb_env_create(&environment))
            try Self.check(mdb_env_set_mapsize(environment, 64 << 30))
            try Self.check(mdb_env_set_maxdbs(environment, 2))
            try Self.check(mdb_env_open(environment, path, UInt32(MDB_NORDAHEAD), 0o644))
            try write { writing in
                try Self.check(mdb_dbi_open(writing, "records", UInt32(MDB_CREATE), &records))
                try Self.check(mdb_dbi_open(writing, "changes", UInt32(MDB_CREATE), &changes))
                var cursor: OpaquePointer?
                try Self.check(mdb_cursor_open(writing, changes, &cursor))
                defer { mdb_cursor_close(cursor) }
                var key = MDB_val()
                var value = MDB_val()
                if mdb_cursor_get(cursor, &key, &value, MDB_LAST) == 0 {
                    last = Int(UInt64(sortable: UnsafeRawBufferPointer(rebasing: Self.bytes(key)[8...])))
                }
            }
            try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reading))
            mdb_txn_reset(reading)
        }

        private static func check(_ code: Int32) throws {
            if code != 0 { throw BenchmarkError("lmdb: " + String(cString: mdb_strerror(code))) }
        }

        private static func bytes(_ value: MDB_val) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        }

        private func write<Result>(_ body: (OpaquePointer?) throws -> Result) throws -> Result {
            var writing: OpaquePointer?
            try Self.check(mdb_txn_begin(environment, nil, 0, &writing))
            let result: Result
            do {
                result = try body(writing)
            } catch {
                mdb_txn_abort(writing)
                throw error
            }
            try Self.check(mdb_txn_commit(writing))
            return result
        }

        /// A key or value that stays where it is during the call it is made for.
        private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
            MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }

        private static func put(
            _ writing: OpaquePointer?, _ tree: MDB_dbi, _ key: [UInt8], _ value: [UInt8], _ flags: Int32 = 0
        ) throws {
            let code = key.withUnsafeBytes { key in
                value.withUnsafeBytes { value in
                    var key = Self.value(key)
                    var value = Self.value(value)
                    return mdb_put(writing, tree, &key, &value, UInt32(flags))
                }
            }
            try check(code)
        }

        private static func value(
            _ transaction: OpaquePointer?, _ tree: MDB_dbi, of key: [UInt8]
        ) -> UnsafeRawBufferPointer? {
            key.withUnsafeBytes { key in
                var key = value(key)
                var value = MDB_val()
                return mdb_get(transaction, tree, &key, &value) == 0 ? bytes(value) : nil
            }
        }

        private static func remove(
            _ writing: OpaquePointer?, _ tree: MDB_dbi, change: UnsafeRawBufferPointer?
        ) throws {
            guard let change else { return }
            let code = (zone + change).withUnsafeBytes { key in
                var key = value(key)
                return mdb_del(writing, tree, &key, nil)
            }
            try check(code)
        }

        func commit(_ slice: ArraySlice<Workload.Record>) throws -> Int {
            try write { writing in
                last += 1
                let sequence = UInt64(last).sortable
                for (index, record) in slice.enumerated() {
                    let key = Self.zone + record.name
                    let change = sequence + UInt64(index).sortable[4...]
                    switch layout {
                    case .byName:
                        try Self.put(writing, records, key, sequence + record.value)
                        try Self.put(writing, changes, Self.zone + change, record.name, MDB_APPEND)
                    case .bySequence:
                        try Self.remove(writing, changes, change: Self.value(writing, records, of: key))
                        try Self.put(writing, records, key, change)
                        let value = [UInt8(record.name.count)] + record.name + record.value
                        try Self.put(writing, changes, Self.zone + change, value, MDB_APPEND)
                    }
                }
                return last
            }
        }

        private func read<Result>(_ body: () throws -> Result) throws -> Result {
            try Self.check(mdb_txn_renew(reading))
            defer { mdb_txn_reset(reading) }
            return try body()
        }

        func walk(after commit: Int) throws -> Walk {
            try read {
                var cursor: OpaquePointer?
                try Self.check(mdb_cursor_open(reading, changes, &cursor))
                defer { mdb_cursor_close(cursor) }
                var walk = Walk()
                let start = Self.zone + UInt64(commit + 1).sortable
                var found = MDB_val()
                var change = MDB_val()
                var code = start.withUnsafeBytes { start in
                    change = Self.value(start)
                    return mdb_cursor_get(cursor, &change, &found, MDB_SET_RANGE)
                }
                var key = Self.zone
                while code == 0 {
                    let content = Self.bytes(found)
                    switch layout {
                    case .byName:
                        key.replaceSubrange(8..., with: content)
                        if let value = Self.value(reading, records, of: key),
                            value.prefix(8).elementsEqual(Self.bytes(change)[8..<16])
                        {
                            walk.add(content, UnsafeRawBufferPointer(rebasing: value[8...]))
                        }
                    case .bySequence: walk.add(named: content)
                    }
                    code = mdb_cursor_get(cursor, &change, &found, MDB_NEXT)
                }
                return walk
            }
        }

        func get(_ name: [UInt8]) throws -> Int? {
            try read {
                guard var value = Self.value(reading, records, of: Self.zone + name) else { return nil }
                if layout == .bySequence {
                    let change = Self.zone + value
                    guard let content = Self.value(reading, changes, of: change) else { return nil }
                    value = content
                }
                // Before it are the sequence, or the name and its size.
                let front = layout == .byName ? 8 : 1 + name.count
                return value.last == nil ? nil : value.count - front
            }
        }

        /// Copies it without free pages, and puts the copy in its place.
        func compact() throws {
            let copy = path + "/copy.mdb"
            let file = try RawLoops.create(copy)
            try Self.check(mdb_env_copyfd2(environment, file, UInt32(MDB_CP_COMPACT)))
            Glibc.close(file)
            close()
            guard rename(copy, path + "/data.mdb") == 0 else { throw BenchmarkError("lmdb: rename") }
        }

        func settle() {}

        func close() {
            guard environment != nil else { return }
            mdb_txn_abort(reading)
            mdb_env_close(environment)
            environment = nil
        }
    }
#endif
