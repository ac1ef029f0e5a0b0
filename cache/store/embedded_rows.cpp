#include "cache/store/embedded_rows.hpp"

#include <cstring>

namespace idem::cache {
namespace {

template <class Id>
bool read_id(std::string_view bytes, Id& id) noexcept {
    if (bytes.size() != id.bytes.size()) return false;
    std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
    return true;
}

lookup interpret(std::int64_t format, std::string_view fill, std::string_view blob, const cache_key& key, unix_ms now,
                 const entry_reading& how) {
    lookup result;
    if (format > entry_format) {
        result.status = lookup_status::foreign;
        result.why = reason::entry_unreadable;
        return result;
    }
    decoded d = decode_stored(blob, key, how);
    result.why = d.why;
    if (d.why == reason::entry_unreadable) {
        result.status = lookup_status::foreign;
    } else if (d.value == nullptr) {
        result.status = lookup_status::dead;
        (void)read_id(fill, result.dead_fill);
    } else if (d.value->fresh_until <= now) {
        result.status = lookup_status::dead;
        result.dead_fill = d.value->fill;
        result.value = std::move(d.value);
    } else {
        result.status = lookup_status::found;
        result.value = std::move(d.value);
    }
    return result;
}

int row_error(int code) noexcept {
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

}  // namespace

int entry_finder::prepare(const sqlite_connection& db) {
    return select_.prepare(db, "SELECT seq, format, fill, keep_until, blob FROM entries WHERE key=?1");
}

int entry_finder::find(const cache_key& key, unix_ms now, const entry_reading& how, found_row& out) {
    out = {};
    const sqlite_use select(select_);
    select->bind_blob(1, view(key.value));
    const int code = select->step();
    if (code != SQLITE_ROW) return row_error(code);
    out.seq = select->integer(0);
    if (select->integer(3) <= now && select->integer(1) <= entry_format) {
        out.expired = true;
        return SQLITE_OK;
    }
    out.result = interpret(select->integer(1), select->blob(2), select->blob(4), key, now, how);
    return SQLITE_OK;
}

int entry_rows::prepare(const sqlite_connection& db) {
    int code = finder_.prepare(db);
    const auto also = [&](sqlite_statement& s, std::string_view sql) {
        if (code == SQLITE_OK) code = s.prepare(db, sql);
    };
    also(insert_,
         "INSERT INTO entries(seq,key,fill,format,created,fresh_until,keep_until,model,upstream,route,scope_tag,blob)"
         " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12) ON CONFLICT(key) DO NOTHING");
    also(erase_key_, "DELETE FROM entries WHERE key=?1 RETURNING seq");
    also(erase_seq_, "DELETE FROM entries WHERE seq=?1");
    also(move_, "UPDATE entries SET seq=?2 WHERE seq=?1");
    also(oldest_, "SELECT seq FROM entries ORDER BY seq LIMIT ?1");
    also(from_, "SELECT seq, keep_until, format FROM entries WHERE seq>?1 ORDER BY seq LIMIT ?2");
    also(newest_, "SELECT max(seq) FROM entries");
    also(since_, "SELECT key FROM entries WHERE seq>?1");
    also(keys_, "SELECT key, seq FROM entries WHERE key>?1 ORDER BY key LIMIT ?2");
    also(expire_, "DELETE FROM entries WHERE key=?1 AND keep_until<=?2 AND format<=?3 RETURNING seq");
    also(page_count_, "PRAGMA page_count");
    also(freelist_count_, "PRAGMA freelist_count");
    also(bind_insert_,
         "INSERT INTO bindings(name,value,until) VALUES(?1,?2,?3)"
         " ON CONFLICT(name) DO UPDATE SET value=excluded.value, until=excluded.until WHERE bindings.until<=?4");
    also(bind_select_, "SELECT value FROM bindings WHERE name=?1");
    also(unbind_, "DELETE FROM bindings WHERE name IN (SELECT name FROM bindings WHERE until<=?1 LIMIT ?2)");
    return code;
}

void entry_rows::finalize() noexcept {
    finder_.finalize();
    for (auto* s : {&insert_, &erase_key_, &erase_seq_, &move_, &oldest_, &from_, &newest_, &since_, &keys_, &expire_,
                    &page_count_, &freelist_count_, &bind_insert_, &bind_select_, &unbind_})
        s->finalize();
}

int entry_rows::put(const entry& value, std::string_view blob, const id128& replaces, unix_ms now,
                    const entry_reading& how, std::int64_t seq, put_result& out) {
    out = {put_status::stored, nullptr, reason::none};
    // Nearly always there is nothing under the key: try that first, and look only if it was wrong.
    bool inserted = false;
    if (const int code = insert(value, blob, seq, inserted); code != SQLITE_OK || inserted) return code;

    found_row there;
    if (const int code = finder_.find(value.key, now, how, there); code != SQLITE_OK) return code;
    const lookup& old = there.result;
    if (old.status == lookup_status::foreign) {
        out = {put_status::refused, nullptr, old.why};
        return SQLITE_OK;
    }
    if (old.status == lookup_status::found && (replaces == id128{} || old.value->fill != replaces)) {
        out = {put_status::lost, old.value, reason::none};
        return SQLITE_OK;
    }
    // Dead by the caller's word for this very fill, or by its own lifetime or checksum: the transaction is the compare.
    {
        const sqlite_use erase(erase_seq_);
        erase->bind(1, there.seq);
        if (const int code = erase->run(); code != SQLITE_OK) return code;
    }
    const int code = insert(value, blob, seq, inserted);
    return code == SQLITE_OK && !inserted ? SQLITE_CORRUPT : code;
}

int entry_rows::insert(const entry& value, std::string_view blob, std::int64_t seq, bool& inserted) {
    const sqlite_use insert(insert_);
    insert->bind(1, seq);
    insert->bind_blob(2, view(value.key.value));
    insert->bind_blob(3, view(value.fill));
    insert->bind(4, entry_format);
    insert->bind(5, value.created);
    insert->bind(6, value.fresh_until);
    insert->bind(7, value.keep_until);
    // For people who look into the file; what is encrypted is not told beside it.
    constexpr std::string_view nothing;
    const bool shown = !is_sealed(blob);
    insert->bind_text(8, shown ? std::string_view(value.model) : nothing);
    insert->bind_text(9, shown ? std::string_view(value.upstream) : nothing);
    insert->bind_text(10, shown ? std::string_view(value.route) : nothing);
    insert->bind_text(11, shown ? std::string_view(value.scope_tag) : nothing);
    insert->bind_blob(12, blob);
    const int code = insert->run();
    inserted = code == SQLITE_OK && insert->changes() == 1;
    return code;
}

int entry_rows::erase(const cache_key& key, erase_status& out) {
    const sqlite_use erase(erase_key_);
    erase->bind_blob(1, view(key.value));
    const int code = erase->step();
    out = code == SQLITE_ROW ? erase_status::erased : erase_status::absent;
    return row_error(code);
}

int entry_rows::expire(const cache_key& key, unix_ms now, std::uint64_t& gone) {
    const sqlite_use expire(expire_);
    expire->bind_blob(1, view(key.value));
    expire->bind(2, now);
    expire->bind(3, entry_format);
    const int code = expire->step();
    if (code == SQLITE_ROW) ++gone;
    return row_error(code);
}

int entry_rows::sweep(std::int64_t& after, unix_ms now, int most, std::uint64_t& gone) {
    std::vector<std::int64_t> past;
    int seen = 0;
    {
        const sqlite_use from(from_);
        from->bind(1, after);
        from->bind(2, most);
        int code = from->step();
        for (; code == SQLITE_ROW; code = from->step()) {
            ++seen;
            after = from->integer(0);
            if (from->integer(1) <= now && from->integer(2) <= entry_format) past.push_back(after);
        }
        if (code != SQLITE_DONE) return code;
    }
    if (seen < most) after = 0;
    for (const std::int64_t seq : past) {
        const sqlite_use erase(erase_seq_);
        erase->bind(1, seq);
        if (const int code = erase->run(); code != SQLITE_OK) return code;
        ++gone;
    }
    return SQLITE_OK;
}

int entry_rows::evict(int most, const std::function<bool(std::int64_t)>& used,
                      const std::function<std::int64_t()>& next_seq, evicted& out) {
    std::vector<std::int64_t> oldest;
    {
        const sqlite_use select(oldest_);
        select->bind(1, most);
        int code = select->step();
        for (; code == SQLITE_ROW; code = select->step()) oldest.push_back(select->integer(0));
        if (code != SQLITE_DONE) return code;
    }
    for (const std::int64_t seq : oldest) {
        const bool keep = used(seq);
        const sqlite_use change(keep ? move_ : erase_seq_);
        change->bind(1, seq);
        if (keep) change->bind(2, next_seq());
        if (const int code = change->run(); code != SQLITE_OK) return code;
        ++(keep ? out.moved : out.rows);
    }
    return SQLITE_OK;
}

int entry_rows::newest(std::int64_t& seq) {
    const sqlite_use newest(newest_);
    const int code = newest->step();
    if (code == SQLITE_ROW) seq = newest->integer(0);
    return row_error(code);
}

int entry_rows::pages(std::int64_t& used, std::int64_t& total) {
    const sqlite_use count(page_count_), free(freelist_count_);
    int code = count->step();
    if (code == SQLITE_ROW) code = free->step();
    if (code != SQLITE_ROW) return row_error(code);
    total = count->integer(0);
    used = total - free->integer(0);
    return SQLITE_OK;
}

int entry_rows::since(std::int64_t seq, const std::function<void(const cache_key&)>& each) {
    const sqlite_use since(since_);
    since->bind(1, seq);
    int code = since->step();
    for (; code == SQLITE_ROW; code = since->step()) {
        cache_key key;
        if (read_id(since->blob(0), key.value)) each(key);
    }
    return row_error(code);
}

int entry_rows::keys_after(cache_key key, int most, const std::function<void(const cache_key&, std::int64_t)>& each) {
    const sqlite_use keys(keys_);
    keys->bind_blob(1, view(key.value));
    keys->bind(2, most);
    int code = keys->step();
    for (; code == SQLITE_ROW; code = keys->step()) {
        cache_key found;
        if (!read_id(keys->blob(0), found.value)) return SQLITE_CORRUPT;
        each(found, keys->integer(1));
    }
    return row_error(code);
}

int entry_rows::bind(const binding& wanted, unix_ms now, bind_result& out) {
    {
        const sqlite_use insert(bind_insert_);
        insert->bind_blob(1, view(wanted.name));
        insert->bind_blob(2, view(wanted.value));
        insert->bind(3, wanted.until);
        insert->bind(4, now);
        if (const int code = insert->run(); code != SQLITE_OK) return code;
    }
    const sqlite_use select(bind_select_);
    select->bind_blob(1, view(wanted.name));
    const int code = select->step();
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_CORRUPT : code;
    if (!read_id(select->blob(0), out.value)) return SQLITE_CORRUPT;
    out.ok = true;
    return SQLITE_OK;
}

int entry_rows::unbind(unix_ms now, int most) {
    const sqlite_use unbind(unbind_);
    unbind->bind(1, now);
    unbind->bind(2, most);
    return unbind->run();
}

}  // namespace idem::cache
