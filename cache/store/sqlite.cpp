#include "cache/store/sqlite.hpp"

namespace idem::cache {

sqlite_fault classify(int code) noexcept {
    // A device without room is told as a failed write, by the extended code or not at all.
    switch (code) {
        case SQLITE_IOERR_SHMSIZE:
            return sqlite_fault::full;
        case SQLITE_CANTOPEN_SYMLINK:
            return sqlite_fault::other;
        default:
            break;
    }
    switch (code & 0xff) {
        case SQLITE_OK:
        case SQLITE_ROW:
        case SQLITE_DONE:
            return sqlite_fault::none;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return sqlite_fault::busy;
        case SQLITE_FULL:
            return sqlite_fault::full;
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return sqlite_fault::read_only;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return sqlite_fault::corrupt;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
            return sqlite_fault::io;
        default:
            return sqlite_fault::other;
    }
}

std::string_view to_string(sqlite_fault f) noexcept {
    switch (f) {
        case sqlite_fault::none:
            return "ok";
        case sqlite_fault::busy:
            return "locked by another process";
        case sqlite_fault::full:
            return "disk full";
        case sqlite_fault::read_only:
            return "read-only";
        case sqlite_fault::corrupt:
            return "corrupt";
        case sqlite_fault::io:
            return "file system error";
        case sqlite_fault::other:
            return "unexpected database error";
    }
    return "unexpected database error";
}

int sqlite_connection::open(const std::string& path, int busy_ms) {
    sqlite3* db = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(db);
    if (db == nullptr) return SQLITE_NOMEM;
    if (code != SQLITE_OK) return sqlite3_extended_errcode(db);
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, busy_ms);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return SQLITE_OK;
}

int sqlite_connection::execute(const char* sql) noexcept {
    return sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
}

int sqlite_connection::query(const char* sql, std::int64_t& value) noexcept {
    sqlite_statement s;
    if (const int code = s.prepare(*this, sql); code != SQLITE_OK) return code;
    const int code = s.step();
    if (code == SQLITE_ROW) value = s.integer(0);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int sqlite_connection::query(const char* sql, std::string& value) {
    sqlite_statement s;
    if (const int code = s.prepare(*this, sql); code != SQLITE_OK) return code;
    const int code = s.step();
    if (code == SQLITE_ROW) value = s.blob(0);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

bool sqlite_connection::in_transaction() const noexcept {
    return db_ != nullptr && sqlite3_get_autocommit(db_.get()) == 0;
}

std::string sqlite_connection::message() const {
    return db_ != nullptr ? sqlite3_errmsg(db_.get()) : "not open";
}

int sqlite_statement::prepare(const sqlite_connection& db, std::string_view sql) noexcept {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(db.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
    statement_.reset(statement);
    return code;
}

int sqlite_statement::run() noexcept {
    const int code = step();
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

std::string_view sqlite_statement::blob(int column) const noexcept {
    const void* const bytes = sqlite3_column_blob(statement_.get(), column);
    if (bytes == nullptr) return {};
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace idem::cache
