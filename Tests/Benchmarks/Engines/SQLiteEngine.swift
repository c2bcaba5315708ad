#if PeerBenchmarks
    internal import CPeers
    internal import SynclogJournal

    /// SQLite with a write-ahead log synced at every commit, prepared statements, the file mapped, and one process that has
    /// it alone, as the journal has.
    ///
    /// By name, the table is WITHOUT ROWID: rows lie in the tree of their primary key. By sequence they lie in the order in
    /// which they were written, as replacing one gives it a new number.
    ///
    /// Sendable: the connection is used under `lock` where threads commit at once, else by one thread.
    final class SQLiteEngine: Engine, @unchecked Sendable {
        private var database: OpaquePointer?
        private var statements: [String: OpaquePointer] = [:]
        private var last = 0
        private let lock = Monitor(())

        init(_ path: String, _ layout: Layout) throws {
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            guard sqlite3_open_v2(path + "/store.sqlite", &database, flags, nil) == SQLITE_OK else {
                throw BenchmarkError("sqlite: cannot open a database in \(path)")
            }
            for pragma in [
                "locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL", "cache_size=-65536",
                "mmap_size=4294967296", "wal_autocheckpoint=4096",
            ] { try run("PRAGMA " + pragma) }
            let rows = layout == .byName ? "WITHOUT ROWID" : ""
            try run(
                """
                CREATE TABLE IF NOT EXISTS record(zone INTEGER, name BLOB, seq INTEGER, value BLOB,
                PRIMARY KEY(zone, name)) \(rows)
                """)
            try run("CREATE INDEX IF NOT EXISTS bySeq ON record(zone, seq)")
            let select = try statement("SELECT max(seq) FROM record WHERE zone = 1")
            if sqlite3_step(select) == SQLITE_ROW { last = Int(sqlite3_column_int64(select, 0)) }
            sqlite3_reset(select)
        }

        private func run(_ text: String) throws {
            guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw failure(text) }
        }

        private func failure(_ what: String) -> BenchmarkError {
            BenchmarkError("sqlite: \(what): " + String(cString: sqlite3_errmsg(database)))
        }

        private func statement(_ text: String) throws -> OpaquePointer {
            if let known = statements[text] { return known }
            var made: OpaquePointer?
            guard sqlite3_prepare_v2(database, text, -1, &made, nil) == SQLITE_OK, let made else {
                throw failure(text)
            }
            statements[text] = made
            return made
        }

        func commit(_ records: ArraySlice<Workload.Record>) throws -> Int {
            try lock.withLock { _ in
                last += 1
                try step("BEGIN IMMEDIATE")
                let insert = try statement("INSERT OR REPLACE INTO record VALUES(1, ?, ?, ?)")
                for record in records {
                    let result = record.name.withUnsafeBytes { name in
                        record.value.withUnsafeBytes { value in
                            _ = synclog_bind_blob(insert, 1, name.baseAddress, Int32(name.count))
                            sqlite3_bind_int64(insert, 2, Int64(last))
                            _ = synclog_bind_blob(insert, 3, value.baseAddress, Int32(value.count))
                            return sqlite3_step(insert)
                        }
                    }
                    sqlite3_reset(insert)
                    guard result == SQLITE_DONE else { throw failure("insert") }
                }
                try step("COMMIT")
                return last
            }
        }

        private func step(_ text: String) throws {
            let statement = try statement(text)
            let result = sqlite3_step(statement)
            sqlite3_reset(statement)
            guard result == SQLITE_DONE else { throw failure(text) }
        }

        private static func blob(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
            let start = sqlite3_column_blob(statement, column)
            return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        }

        func walk(after commit: Int) throws -> Walk {
            let select = try statement(
                "SELECT name, value FROM record WHERE zone = 1 AND seq > ? ORDER BY seq")
            sqlite3_bind_int64(select, 1, Int64(commit))
            defer { sqlite3_reset(select) }
            var walk = Walk()
            while true {
                switch sqlite3_step(select) {
                case SQLITE_ROW: walk.add(Self.blob(select, 0), Self.blob(select, 1))
                case SQLITE_DONE: return walk
                default: throw failure("walk")
                }
            }
        }

        func get(_ name: [UInt8]) throws -> Int? {
            let select = try statement("SELECT value FROM record WHERE zone = 1 AND name = ?")
            defer { sqlite3_reset(select) }
            return name.withUnsafeBytes { name in
                _ = synclog_bind_blob(select, 1, name.baseAddress, Int32(name.count))
                guard sqlite3_step(select) == SQLITE_ROW else { return nil }
                let value = Self.blob(select, 0)
                return value.last == nil ? nil : value.count
            }
        }

        func compact() throws {
            try run("VACUUM")
            try run("PRAGMA wal_checkpoint(TRUNCATE)")
        }

        func settle() {}

        func close() {
            for statement in statements.values { sqlite3_finalize(statement) }
            statements = [:]
            sqlite3_close(database)
            database = nil
        }
    }
#endif
