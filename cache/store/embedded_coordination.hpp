#pragma once
// Records and leases as rows: what each call means in terms of the tables. No threads, no Asio, no clock. The writer
// calls inside its transaction; a reader has record_reader alone. Codes are SQLite's.
#include <string>
#include <string_view>

#include "cache/store/sqlite.hpp"
#include "cache/store/store.hpp"

namespace idem::cache {

class record_reader {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    [[nodiscard]] int read(std::string_view name, record_result& out);
    void finalize() noexcept { select_.finalize(); }

private:
    sqlite_statement select_;
};

class coordination_rows {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    void finalize() noexcept;

    [[nodiscard]] int write(std::string_view name, std::string_view value, std::uint64_t expected, record_result& out);
    [[nodiscard]] int lease(std::string_view name, const id128& holder, std::int64_t length, unix_ms now,
                            lease_result& out);
    [[nodiscard]] int release(std::string_view name, const id128& holder, bool settled, unix_ms now, lease_result& out);

private:
    [[nodiscard]] int put_lease(std::string_view name, std::string_view holder, std::string_view next, unix_ms until);

    record_reader reader_;
    sqlite_statement insert_, update_, lease_select_, lease_put_, lease_next_;
};

}  // namespace idem::cache
