#pragma once
// The ledger as a table of the embedded store. No threads, no Asio, no clock. The writer calls inside its transaction;
// a reader has ledger_page_reader alone. Codes are SQLite's.
#include <cstdint>
#include <string_view>

#include "cache/ledger/ledger.hpp"
#include "cache/store/sqlite.hpp"

namespace idem::cache {

/// Since schema 4. In the order of requests, so that it can be read page by page.
inline constexpr const char* ledger_schema =
    "CREATE TABLE ledger("
    "request BLOB NOT NULL,"
    "upstream TEXT NOT NULL,"
    "epoch BLOB NOT NULL,"
    "output BLOB NOT NULL,"
    "environment BLOB NOT NULL,"
    "promise INTEGER NOT NULL,"
    "mode INTEGER NOT NULL,"
    "sampled INTEGER NOT NULL,"
    "runs INTEGER NOT NULL,"
    "first INTEGER NOT NULL,"
    "last INTEGER NOT NULL,"
    "fills INTEGER NOT NULL,"
    "PRIMARY KEY(request, upstream, epoch, output, environment, promise, mode, sampled)) WITHOUT ROWID;"
    "CREATE INDEX ledger_last ON ledger(last);";

class ledger_rows {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    void finalize() noexcept;
    /// `contrast`: with what was known before.
    [[nodiscard]] int note(const ledger_record& fill, upstream::determinism::contrast& contrast);
    [[nodiscard]] int count(std::int64_t& rows);
    /// Deletes up to `most` records last seen before `before`; `gone` grows by their number.
    [[nodiscard]] int expire(unix_ms before, int most, std::int64_t& gone);
    /// Deletes the `most` records seen longest ago.
    [[nodiscard]] int trim(int most, std::int64_t& gone);
    /// Rows that note() has added, less those it has removed.
    [[nodiscard]] std::int64_t added() const noexcept { return added_; }

private:
    sqlite_statement known_, put_, drop_, count_, expire_, trim_;
    std::int64_t added_ = 0;
};

class ledger_page_reader {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    void finalize() noexcept { select_.finalize(); }
    /// `from`: empty, or the 32 bytes of the last request of the page before.
    [[nodiscard]] int read(std::string_view from, ledger_page& out);

private:
    sqlite_statement select_;
};

}  // namespace idem::cache
