#pragma once
// Entries and epochs as rows: what each call means in terms of the table. No threads, no Asio, no clock. The writer
// calls inside its transaction; a reader has find() alone. Codes are SQLite's.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/sealed.hpp"
#include "cache/store/sqlite.hpp"
#include "cache/store/store.hpp"

namespace idem::cache {

/// A key as found in its row, and the row's place in the order of eviction.
struct found_row {
    lookup result;
    std::int64_t seq = 0;  // 0: no row
    bool expired = false;  // past keep_until: may be deleted
};

class entry_finder {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    [[nodiscard]] int find(const cache_key& key, unix_ms now, const entry_reading& how, found_row& out);
    void finalize() noexcept { select_.finalize(); }

private:
    sqlite_statement select_;
};

/// One call's outcome of evict().
struct evicted {
    std::uint64_t rows = 0;
    std::uint64_t moved = 0;  // used since they were written: put back among the newest
};

class entry_rows {
public:
    [[nodiscard]] int prepare(const sqlite_connection& db);
    void finalize() noexcept;

    /// First writer wins; see store::put. `blob` is encode(value). `seq` must be unused.
    [[nodiscard]] int put(const entry& value, std::string_view blob, const id128& replaces, unix_ms now,
                          const entry_reading& how, std::int64_t seq, put_result& out);
    [[nodiscard]] int erase(const cache_key& key, erase_status& out);
    /// Deletes the row of this key if it is past keep_until. `gone` counts it.
    [[nodiscard]] int expire(const cache_key& key, unix_ms now, std::uint64_t& gone);
    /// Looks at up to `most` rows from `after` on and deletes those past keep_until; moves `after`, to 0 at the end.
    [[nodiscard]] int sweep(std::int64_t& after, unix_ms now, int most, std::uint64_t& gone);
    /// Lets the oldest `most` rows go; a row that `used` says yes to gets the next place from `next_seq` instead.
    [[nodiscard]] int evict(int most, const std::function<bool(std::int64_t)>& used,
                            const std::function<std::int64_t()>& next_seq, evicted& out);
    [[nodiscard]] int newest(std::int64_t& seq);
    /// Pages in use and in the file.
    [[nodiscard]] int pages(std::int64_t& used, std::int64_t& total);
    /// Keys written after `seq`, by any process.
    [[nodiscard]] int since(std::int64_t seq, const std::function<void(const cache_key&)>& each);
    /// Up to `most` keys after `key`, in order, with their place.
    [[nodiscard]] int keys_after(cache_key key, int most,
                                 const std::function<void(const cache_key&, std::int64_t)>& each);
    [[nodiscard]] int bind(const binding& wanted, unix_ms now, bind_result& out);
    /// Deletes up to `most` bindings past their `until`.
    [[nodiscard]] int unbind(unix_ms now, int most);

private:
    [[nodiscard]] int insert(const entry& value, std::string_view blob, std::int64_t seq, bool& inserted);

    entry_finder finder_;
    sqlite_statement insert_, erase_key_, erase_seq_, move_, oldest_, from_, newest_, since_, keys_, expire_;
    sqlite_statement page_count_, freelist_count_;
    sqlite_statement bind_insert_, bind_select_, unbind_;
};

}  // namespace idem::cache
