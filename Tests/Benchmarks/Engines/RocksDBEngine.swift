#if PeerBenchmarks
    internal import CPeers
    internal import Glibc
    internal import SynclogJournal

    /// RocksDB, its log synced at every commit, with LZ4, a block cache of 64 MiB and bloom filters: one column family of
    /// records by zone and name, one of changes by zone and sequence.
    ///
    /// By name, values are in the first. Where a record was replaced, its older change stays in the second and is passed over
    /// in a walk, which spares each commit a search. By sequence, values are in the second, and older changes are removed.
    ///
    /// Sendable: RocksDB is used by threads at once, and the number of the last commit lies in a lock.
    final class RocksDBEngine: Engine, @unchecked Sendable {
        private static let zone = UInt64(1).sortable
        private let layout: Layout
        private var database: OpaquePointer?
        private var records: OpaquePointer?
        private var changes: OpaquePointer?
        private let writing: OpaquePointer?
        private let reading: OpaquePointer?
        private let options: OpaquePointer?
        private let last = Monitor(0)

        init(_ path: String, _ layout: Layout) throws {
            self.layout = layout
            options = Self.options()
            writing = rocksdb_writeoptions_create()
            rocksdb_writeoptions_set_sync(writing, 1)
            reading = rocksdb_readoptions_create()
            rocksdb_readoptions_set_readahead_size(reading, 2 << 20)
            var handles: [OpaquePointer?] = [nil, nil]
            let options = options
            database = try Self.checked { error in
                synclog_rocksdb_open(options, path, &handles, error)
            }
            (records, changes) = (handles[0], handles[1])
            let iterator = rocksdb_create_iterator_cf(database, reading, changes)
            defer { rocksdb_iter_destroy(iterator) }
            rocksdb_iter_seek_to_last(iterator)
            if rocksdb_iter_valid(iterator) != 0 {
                let key = Self.key(of: iterator)
                last.withLock { $0 = Int(UInt64(sortable: UnsafeRawBufferPointer(rebasing: key[8...]))) }
            }
        }

        private static func options() -> OpaquePointer? {
            let options = rocksdb_options_create()
            rocksdb_options_set_create_if_missing(options, 1)
            rocksdb_options_set_create_missing_column_families(options, 1)
            rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
            rocksdb_options_set_bottommost_compression(options, Int32(rocksdb_lz4_compression))
            rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
            rocksdb_options_set_max_background_jobs(options, 2)
            rocksdb_options_set_recycle_log_file_num(options, 2)
            rocksdb_options_set_info_log_level(options, 4)
            let tables = rocksdb_block_based_options_create()
            rocksdb_block_based_options_set_block_cache(tables, rocksdb_cache_create_lru(64 << 20))
            rocksdb_block_based_options_set_filter_policy(tables, rocksdb_filterpolicy_create_bloom_full(10))
            rocksdb_block_based_options_set_block_size(tables, 16 << 10)
            rocksdb_block_based_options_set_format_version(tables, 5)
            rocksdb_options_set_block_based_table_factory(options, tables)
            rocksdb_block_based_options_destroy(tables)
            return options
        }

        private static func checked<Result>(
            _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
        ) throws -> Result {
            var error: UnsafeMutablePointer<CChar>?
            let result = try body(&error)
            guard let error else { return result }
            defer { rocksdb_free(error) }
            throw BenchmarkError("rocksdb: " + String(cString: error))
        }

        private static func key(of iterator: OpaquePointer?) -> UnsafeRawBufferPointer {
            var size = 0
            let start = rocksdb_iter_key(iterator, &size)
            return UnsafeRawBufferPointer(start: start, count: size)
        }

        private static func value(of iterator: OpaquePointer?) -> UnsafeRawBufferPointer {
            var size = 0
            let start = rocksdb_iter_value(iterator, &size)
            return UnsafeRawBufferPointer(start: start, count: size)
        }

        func commit(_ slice: ArraySlice<Workload.Record>) throws -> Int {
            let number = last.withLock { last in
                last += 1
                return last
            }
            let sequence = UInt64(number).sortable
            let batch = rocksdb_writebatch_create()
            defer { rocksdb_writebatch_destroy(batch) }
            for (index, record) in slice.enumerated() {
                let key = Self.zone + record.name
                let change = sequence + UInt64(index).sortable[4...]
                switch layout {
                case .byName:
                    put(batch, records, key, sequence + record.value)
                    put(batch, changes, Self.zone + change, record.name)
                case .bySequence:
                    try withValue(of: key, in: records) { remove(batch, changes, Self.zone + $0) }
                    put(batch, records, key, change)
                    let value = [UInt8(record.name.count)] + record.name + record.value
                    put(batch, changes, Self.zone + change, value)
                }
            }
            try Self.checked { rocksdb_write(database, writing, batch, $0) }
            return number
        }

        private func put(
            _ batch: OpaquePointer?, _ family: OpaquePointer?, _ key: [UInt8], _ value: [UInt8]
        ) {
            key.withUnsafeBytes { key in
                value.withUnsafeBytes { value in
                    rocksdb_writebatch_put_cf(
                        batch, family, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count,
                        value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
                }
            }
        }

        private func remove(_ batch: OpaquePointer?, _ family: OpaquePointer?, _ key: [UInt8]) {
            key.withUnsafeBytes { key in
                rocksdb_writebatch_delete_cf(
                    batch, family, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
            }
        }

        /// Calls the body with the value of a key, if there is one.
        private func withValue<Result>(
            of key: [UInt8], in family: OpaquePointer?, _ body: (UnsafeRawBufferPointer) throws -> Result
        ) throws -> Result? {
            let found = try key.withUnsafeBytes { key in
                try Self.checked {
                    rocksdb_get_pinned_cf(
                        database, reading, family, key.baseAddress?.assumingMemoryBound(to: CChar.self),
                        key.count, $0)
                }
            }
            guard let found else { return nil }
            defer { rocksdb_pinnableslice_destroy(found) }
            var size = 0
            let start = rocksdb_pinnableslice_value(found, &size)
            return try body(UnsafeRawBufferPointer(start: start, count: size))
        }

        func walk(after commit: Int) throws -> Walk {
            let iterator = rocksdb_create_iterator_cf(database, reading, changes)
            defer { rocksdb_iter_destroy(iterator) }
            let start = Self.zone + UInt64(commit + 1).sortable
            start.withUnsafeBytes {
                rocksdb_iter_seek(iterator, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
            }
            var walk = Walk()
            var names = Names()
            while rocksdb_iter_valid(iterator) != 0 {
                switch layout {
                case .byName:
                    names.add(Self.key(of: iterator), Self.value(of: iterator))
                    if names.count == Names.countMax { try look(up: &names, into: &walk) }
                case .bySequence: walk.add(named: Self.value(of: iterator))
                }
                rocksdb_iter_next(iterator)
            }
            try Self.checked { rocksdb_iter_get_error(iterator, $0) }
            try look(up: &names, into: &walk)
            return walk
        }

        /// Keys that are looked up in one call, one after the other in one buffer.
        private struct Names {
            static let countMax = 256
            var keys: [UInt8] = []
            var sizes: [Int] = []
            var sequences: [UInt64] = []
            var count: Int { sizes.count }

            mutating func add(_ change: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) {
                keys += RocksDBEngine.zone
                keys.append(contentsOf: name)
                sizes.append(8 + name.count)
                sequences.append(UInt64(sortable: UnsafeRawBufferPointer(rebasing: change[8...])))
            }
        }

        private func look(up names: inout Names, into walk: inout Walk) throws {
            let count = names.count
            var values = [OpaquePointer?](repeating: nil, count: count)
            var errors = [UnsafeMutablePointer<CChar>?](repeating: nil, count: count)
            names.keys.withUnsafeBytes { keys in
                var places: [UnsafePointer<CChar>?] = []
                places.reserveCapacity(count)
                var offset = 0
                for size in names.sizes {
                    places.append(keys.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
                    offset += size
                }
                rocksdb_batched_multi_get_cf(
                    database, reading, records, count, &places, names.sizes, &values, &errors, false)
                var start = 0
                for index in 0..<count {
                    let key = UnsafeRawBufferPointer(rebasing: keys[start..<start + names.sizes[index]])
                    start += names.sizes[index]
                    guard let found = values[index] else { continue }
                    defer { rocksdb_pinnableslice_destroy(found) }
                    var size = 0
                    let bytes = UnsafeRawBufferPointer(
                        start: rocksdb_pinnableslice_value(found, &size), count: size)
                    guard UInt64(sortable: bytes) == names.sequences[index] else { continue }
                    walk.add(
                        UnsafeRawBufferPointer(rebasing: key[8...]),
                        UnsafeRawBufferPointer(rebasing: bytes[8...]))
                }
            }
            for error in errors {
                if let error { throw BenchmarkError("rocksdb: " + String(cString: error)) }
            }
            names = Names()
        }

        func get(_ name: [UInt8]) throws -> Int? {
            try withValue(of: Self.zone + name, in: records) { value in
                if layout == .byName { return value.last == nil ? nil : value.count - 8 }
                return try withValue(of: Self.zone + value, in: changes) { content in
                    content.last == nil ? nil : content.count - 1 - name.count
                } ?? nil
            } ?? nil
        }

        func compact() throws {
            let flush = rocksdb_flushoptions_create()
            defer { rocksdb_flushoptions_destroy(flush) }
            rocksdb_flushoptions_set_wait(flush, 1)
            for family in [records, changes] {
                try Self.checked { rocksdb_flush_cf(database, flush, family, $0) }
                rocksdb_compact_range_cf(database, family, nil, 0, nil, 0)
            }
            try settle()
        }

        func settle() throws {
            while true {
                var busy: UInt64 = 0
                for name in ["num-running-flushes", "num-running-compactions", "compaction-pending"] {
                    for family in [records, changes] {
                        var value: UInt64 = 0
                        rocksdb_property_int_cf(database, family, "rocksdb." + name, &value)
                        busy += value
                    }
                }
                if busy == 0 { return }
                usleep(10_000)
            }
        }

        func close() {
            guard database != nil else { return }
            rocksdb_column_family_handle_destroy(records)
            rocksdb_column_family_handle_destroy(changes)
            rocksdb_close(database)
            database = nil
        }

        deinit {
            rocksdb_options_destroy(options)
            rocksdb_writeoptions_destroy(writing)
            rocksdb_readoptions_destroy(reading)
        }
    }
#endif
