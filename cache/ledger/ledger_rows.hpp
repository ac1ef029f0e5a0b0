#pragma once
// The ledger as a table of the embedded store. No threads, no Asio, no clock. The writer calls inside its transaction;
// a reader has ledger_page_reader alone. Codes are SQLite's.
#include <cstdint>
#include <string_view>

#include "cache/ledger/ledger.hpp"
#include "cache/store/sqlite.hpp"

namespace idem::cache {

/// Since schema 4. Rows are appended, and found by `place`: the first eight bytes of the request, as a signed number of
/// the same order. An index of such numbers has hundreds in a page, so that the fills of one transaction, whose
/// requests lie anywhere, touch few pages; with whole digests each would touch one of its own.
inline constexpr const char* ledger_schema =
    "CREATE TABLE ledger("
    "place INTEGER NOT NULL,"
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
    "fills INTEGER NOT NULL);"
    "CREATE INDEX ledger_place ON ledger(place);"
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
    sqlite_statement known_, put_, again_, drop_, count_, expire_, trim_;
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
