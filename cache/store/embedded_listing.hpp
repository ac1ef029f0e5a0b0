#pragma once
// Pages of entries in the order in which they were written, for who looks at all of them: an administrator, never a
// request. A reader's side; codes are SQLite's.
#include "cache/entry/sealed.hpp"
#include "cache/store/sqlite.hpp"
#include "cache/store/store.hpp"

namespace idem::cache {

class entry_lister {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    void finalize() noexcept { select_.finalize(); }
    /// From behind `from` (a page's `next`, or empty) on. What is of a newer format, broken or sealed
    /// with a key that is not there is left out.
    [[nodiscard]] int read(const std::string& from, std::size_t most, const entry_reading& how, entry_page& out);

private:
    sqlite_statement select_;
};

}  // namespace idem::cache
