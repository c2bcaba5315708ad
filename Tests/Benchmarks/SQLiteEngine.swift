#if PeerBenchmarks
    internal import CPeers

    /// SQLite with a write-ahead log, synced at every commit, and prepared statements.
    final class SQLiteEngine: Engine {
        private var database: OpaquePointer?
        private var statements: [String: OpaquePointer] = [:]

        init(_ path: String) throws {
            guard sqlite3_open(path + "/store.sqlite", &database) == SQLITE_OK else {
                throw BenchmarkError("sqlite: cannot open")
            }
            try run("PRAGMA journal_mode=WAL")
            try run("PRAGMA synchronous=FULL")
            try run("PRAGMA mmap_size=1073741824")
            try run(
                """
                CREATE TABLE IF NOT EXISTS record(zone INTEGER, name BLOB, seq INTEGER, value BLOB,
                PRIMARY KEY(zone, name)) WITHOUT ROWID
                """)
            try run("CREATE INDEX IF NOT EXISTS bySeq ON record(zone, seq)")
        }

        private func run(_ text: String) throws {
            guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else {
                throw BenchmarkError("sqlite: " + String(cString: sqlite3_errmsg(database)))
            }
        }

        private func statement(_ text: String) throws -> OpaquePointer {
            if let known = statements[text] { return known }
            var made: OpaquePointer?
            guard sqlite3_prepare_v2(database, text, -1, &made, nil) == SQLITE_OK, let made else {
                throw BenchmarkError("sqlite: " + String(cString: sqlite3_errmsg(database)))
            }
            statements[text] = made
            return made
        }

        func commit(_ records: ArraySlice<Workload.Record>, number: Int) throws {
            try step("BEGIN IMMEDIATE")
            let insert = try statement("INSERT OR REPLACE INTO record VALUES(1, ?, ?, ?)")
            for record in records {
                let result = record.name.withUnsafeBytes { name in
                    record.value.withUnsafeBytes { value in
                        _ = synclog_bind_blob(insert, 1, name.baseAddress, Int32(name.count))
                        sqlite3_bind_int64(insert, 2, Int64(number))
                        _ = synclog_bind_blob(insert, 3, value.baseAddress, Int32(value.count))
                        return sqlite3_step(insert)
                    }
                }
                sqlite3_reset(insert)
                guard result == SQLITE_DONE else { throw BenchmarkError("sqlite: insert failed") }
            }
            try step("COMMIT")
        }

        private func step(_ text: String) throws {
            let statement = try statement(text)
            let result = sqlite3_step(statement)
            sqlite3_reset(statement)
            guard result == SQLITE_DONE else { throw BenchmarkError("sqlite: \(text) failed") }
        }

        func scan(after commit: Int) throws -> (count: Int, bytes: Int) {
            let select = try statement(
                "SELECT name, value FROM record WHERE zone = 1 AND seq > ? ORDER BY seq")
            sqlite3_bind_int64(select, 1, Int64(commit))
            defer { sqlite3_reset(select) }
            var count = 0
            var bytes = 0
            while sqlite3_step(select) == SQLITE_ROW {
                count += 1
                // Reading the values is part of the work: the journal hands out copies.
                let name = [UInt8](
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(select, 0), count: Int(sqlite3_column_bytes(select, 0))))
                let value = [UInt8](
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(select, 1), count: Int(sqlite3_column_bytes(select, 1))))
                bytes += name.count + value.count
            }
            return (count, bytes)
        }

        func get(_ name: [UInt8]) throws -> Int? {
            let select = try statement("SELECT value FROM record WHERE zone = 1 AND name = ?")
            defer { sqlite3_reset(select) }
            return name.withUnsafeBytes { name in
                _ = synclog_bind_blob(select, 1, name.baseAddress, Int32(name.count))
                guard sqlite3_step(select) == SQLITE_ROW else { return nil }
                let value = [UInt8](
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(select, 0), count: Int(sqlite3_column_bytes(select, 0))))
                return value.count
            }
        }

        func compact() throws {
            try run("VACUUM")
            try run("PRAGMA wal_checkpoint(TRUNCATE)")
        }

        func close() {
            for statement in statements.values { sqlite3_finalize(statement) }
            statements = [:]
            sqlite3_close(database)
        }
    }
#endif
