#include "cache/store/embedded_listing.hpp"

#include <charconv>
#include <cstring>

namespace idem::cache {

int entry_lister::prepare(const sqlite_connection& db) {
    return select_.prepare(db, "SELECT seq, key, blob FROM entries WHERE seq>?1 ORDER BY seq LIMIT ?2");
}

int entry_lister::read(const std::string& from, std::size_t most, const entry_reading& how, entry_page& out) {
    std::int64_t after = 0;
    std::from_chars(from.data(), from.data() + from.size(), after);
    const sqlite_use select(select_);
    select->bind(1, after);
    select->bind(2, static_cast<std::int64_t>(most));
    std::size_t bytes = 0, seen = 0;
    int code = select->step();
    for (; code == SQLITE_ROW && bytes < largest_page; code = select->step()) {
        ++seen;
        after = select->integer(0);
        const std::string_view name = select->blob(1), blob = select->blob(2);
        bytes += blob.size();
        cache_key key;
        if (name.size() != key.value.bytes.size()) continue;
        std::memcpy(key.value.bytes.data(), name.data(), name.size());
        if (decoded d = decode_stored(blob, key, how); d.value) out.entries.push_back(std::move(d.value));
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
    if (code == SQLITE_ROW || seen == most) out.next = std::to_string(after);
    return SQLITE_OK;
}

}  // namespace idem::cache
