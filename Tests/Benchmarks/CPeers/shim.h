#pragma once

#include <lmdb.h>
#include <rocksdb/c.h>
#include <sqlite3.h>

// The bytes stay where they are until the statement was stepped.
static inline int synclog_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_STATIC);
}

// Opens the two column families of records and changes, with the same options.
static inline rocksdb_t *synclog_rocksdb_open(
    const rocksdb_options_t *options, const char *path, rocksdb_column_family_handle_t **handles, char **error) {
    const char *names[] = {"default", "changes"};
    const rocksdb_options_t *both[] = {options, options};
    return rocksdb_open_column_families(options, path, 2, names, both, handles, error);
}
