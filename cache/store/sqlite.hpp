#pragma once
// SQLite connections and statements that close themselves. Error codes are SQLite's own ints (SQLITE_OK is 0),
// returned, not thrown. One connection and its statements belong to one thread at a time; the statements must go first.
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace idem::cache {

/// What a failed call means for the store as a whole.
enum class sqlite_fault : std::uint8_t {
    none,
    busy,       // another process holds the lock for longer than the busy timeout
    full,       // no room on the device, or a file size limit
    read_only,  // directory or file cannot be written
    corrupt,    // the file is damaged or is no database
    io,         // any other failure of the file system
    other,
};
[[nodiscard]] sqlite_fault classify(int code) noexcept;
[[nodiscard]] std::string_view to_string(sqlite_fault f) noexcept;

class sqlite_connection {
public:
    sqlite_connection() = default;
    /// An existing file, for reading and writing. `busy_ms` bounds every wait for a lock.
    [[nodiscard]] int open(const std::string& path, int busy_ms);
    void close() noexcept { db_.reset(); }
    [[nodiscard]] bool is_open() const noexcept { return db_ != nullptr; }
    [[nodiscard]] int execute(const char* sql) noexcept;
    /// The first column of the first row of `sql`, e.g. of a pragma.
    [[nodiscard]] int query(const char* sql, std::int64_t& value) noexcept;
    [[nodiscard]] int query(const char* sql, std::string& value);
    [[nodiscard]] bool in_transaction() const noexcept;
    /// Rows changed since the connection was opened.
    [[nodiscard]] std::int64_t total_changes() const noexcept { return sqlite3_total_changes64(db_.get()); }
    [[nodiscard]] std::string message() const;
    [[nodiscard]] sqlite3* get() const noexcept { return db_.get(); }

private:
    struct closer {
        void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
    };
    std::unique_ptr<sqlite3, closer> db_;
};

/// A prepared statement. Bound bytes must outlive the next reset(). After use it is reset at once, lest it hold a
/// snapshot open: see sqlite_use.
class sqlite_statement {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db, std::string_view sql) noexcept;
    void finalize() noexcept { statement_.reset(); }
    void bind(int at, std::int64_t value) noexcept { sqlite3_bind_int64(statement_.get(), at, value); }
    void bind_blob(int at, std::string_view bytes) noexcept {
        sqlite3_bind_blob64(statement_.get(), at, bytes.data(), bytes.size(), SQLITE_STATIC);
    }
    void bind_text(int at, std::string_view text) noexcept {
        const char* data = text.empty() ? "" : text.data();  // no address at all would be NULL
        sqlite3_bind_text64(statement_.get(), at, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    /// SQLITE_ROW, SQLITE_DONE or an error.
    [[nodiscard]] int step() noexcept { return sqlite3_step(statement_.get()); }
    /// step() for a statement that yields no row: SQLITE_OK or an error.
    [[nodiscard]] int run() noexcept;
    [[nodiscard]] std::int64_t integer(int column) const noexcept {
        return sqlite3_column_int64(statement_.get(), column);
    }
    /// Valid until the next step() or reset().
    [[nodiscard]] std::string_view blob(int column) const noexcept;
    /// Rows changed by the last statement that ran on this connection.
    [[nodiscard]] std::int64_t changes() const noexcept {
        return sqlite3_changes64(sqlite3_db_handle(statement_.get()));
    }
    void reset() noexcept {
        sqlite3_reset(statement_.get());
        sqlite3_clear_bindings(statement_.get());
    }

private:
    struct finalizer {
        void operator()(sqlite3_stmt* s) const noexcept { sqlite3_finalize(s); }
    };
    std::unique_ptr<sqlite3_stmt, finalizer> statement_;
};

/// Resets a statement at the end of the scope that used it.
class sqlite_use {
public:
    explicit sqlite_use(sqlite_statement& s) noexcept : statement_(s) {}
    ~sqlite_use() { statement_.reset(); }
    sqlite_use(const sqlite_use&) = delete;
    sqlite_use& operator=(const sqlite_use&) = delete;
    sqlite_statement* operator->() const noexcept { return &statement_; }

private:
    sqlite_statement& statement_;
};

}  // namespace idem::cache
