#pragma once

#include <lmdb.h>
#include <rocksdb/c.h>
#include <sqlite3.h>

// The bytes stay where they are until the statement was stepped.
static inline int synclog_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_STATIC);
}
