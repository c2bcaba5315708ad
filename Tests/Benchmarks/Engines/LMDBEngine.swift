#if PeerBenchmarks
    internal import CPeers
    internal import Glibc
    internal import SynclogJournal

    /// LMDB, synced at every commit: one tree of records by zone and name, one of names by zone and sequence.
    ///
    /// The second is appended to. Where a record was replaced, its older sequence stays there and is passed over in a walk,
    /// which spares each commit a search.
    ///
    /// Sendable: LMDB lets one thread write at a time, and `last` changes only there; reading is for one thread.
    final class LMDBEngine: Engine, @unchecked Sendable {
        private static let zone = UInt64(1).sortable
        private let path: String
        private var environment: OpaquePointer?
        private var records: MDB_dbi = 0
        private var changes: MDB_dbi = 0
        private var last = 0
        /// Kept and renewed for each read.
        private var reading: OpaquePointer?

        init(_ path: String) throws {
            self.path = path
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

        private static func put(
            _ writing: OpaquePointer?, _ tree: MDB_dbi, _ key: UnsafeRawBufferPointer,
            _ value: UnsafeRawBufferPointer, _ flags: Int32 = 0
        ) throws {
            var keyValue = MDB_val(
                mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var valueValue = MDB_val(
                mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
            try check(mdb_put(writing, tree, &keyValue, &valueValue, UInt32(flags)))
        }

        func commit(_ slice: ArraySlice<Workload.Record>) throws -> Int {
            try write { writing in
                last += 1
                let sequence = UInt64(last).sortable
                for (index, record) in slice.enumerated() {
                    let key = Self.zone + record.name
                    let value = sequence + record.value
                    let change = Self.zone + sequence + UInt64(index).sortable[4...]
                    try key.withUnsafeBytes { key in
                        try value.withUnsafeBytes { try Self.put(writing, records, key, $0) }
                    }
                    try change.withUnsafeBytes { change in
                        try record.name.withUnsafeBytes {
                            try Self.put(writing, changes, change, $0, MDB_APPEND)
                        }
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

        private func value(of key: [UInt8]) -> UnsafeRawBufferPointer? {
            key.withUnsafeBytes { key in
                var wanted = MDB_val(
                    mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
                var value = MDB_val()
                return mdb_get(reading, records, &wanted, &value) == 0 ? Self.bytes(value) : nil
            }
        }

        func walk(after commit: Int) throws -> Walk {
            try read {
                var cursor: OpaquePointer?
                try Self.check(mdb_cursor_open(reading, changes, &cursor))
                defer { mdb_cursor_close(cursor) }
                var walk = Walk()
                let start = Self.zone + UInt64(commit + 1).sortable
                var name = MDB_val()
                var change = MDB_val()
                var code = start.withUnsafeBytes { start in
                    change = MDB_val(
                        mv_size: start.count, mv_data: UnsafeMutableRawPointer(mutating: start.baseAddress))
                    return mdb_cursor_get(cursor, &change, &name, MDB_SET_RANGE)
                }
                var key = Self.zone
                while code == 0 {
                    key.replaceSubrange(8..., with: Self.bytes(name))
                    if let value = value(of: key), value.prefix(8).elementsEqual(Self.bytes(change)[8..<16]) {
                        walk.add(Self.bytes(name), UnsafeRawBufferPointer(rebasing: value[8...]))
                    }
                    code = mdb_cursor_get(cursor, &change, &name, MDB_NEXT)
                }
                return walk
            }
        }

        func get(_ name: [UInt8]) throws -> Int? {
            try read {
                guard let value = value(of: Self.zone + name), value.last != nil else { return nil }
                return value.count - 8
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
