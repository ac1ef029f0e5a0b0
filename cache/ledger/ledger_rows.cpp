#include "cache/ledger/ledger_rows.hpp"

#include <algorithm>
#include <cstring>

namespace idem::cache {

namespace determinism = upstream::determinism;

namespace {

constexpr std::size_t page_rows = 4096;
constexpr std::string_view columns =
    "SELECT request,upstream,epoch,output,environment,promise,mode,sampled,runs,first,last,fills FROM ledger ";

template <class Id>
void read_id(std::string_view bytes, Id& id) noexcept {
    std::memcpy(id.bytes.data(), bytes.data(), std::min(bytes.size(), id.bytes.size()));
}

ledger_record record_of(const sqlite_statement& row) {
    ledger_record r;
    read_id(row.blob(0), r.request);
    r.upstream = row.blob(1);
    read_id(row.blob(2), r.epoch);
    read_id(row.blob(3), r.output);
    read_id(row.blob(4), r.environment);
    const auto word = [&](int column) {
        return static_cast<std::uint8_t>(std::clamp<std::int64_t>(row.integer(column), 0, 2));
    };
    r.promise.what = static_cast<determinism::level>(word(5));
    r.promise.how = static_cast<determinism::isolation>(word(6));
    r.sampled = row.integer(7) != 0;
    r.promise.runs = static_cast<std::uint32_t>(row.integer(8));
    r.first = row.integer(9);
    r.last = row.integer(10);
    r.fills = static_cast<std::uint64_t>(row.integer(11));
    return r;
}

// Parameters 1 to 8, the record's kind.
void bind_kind(sqlite_statement& s, const ledger_record& r) {
    s.bind_blob(1, view(r.request));
    s.bind_text(2, r.upstream);
    s.bind_blob(3, view(r.epoch));
    s.bind_blob(4, view(r.output));
    s.bind_blob(5, view(r.environment));
    s.bind(6, static_cast<std::int64_t>(r.promise.what));
    s.bind(7, static_cast<std::int64_t>(r.promise.how));
    s.bind(8, r.sampled);
}

}  // namespace

int ledger_rows::prepare(const sqlite_connection& db) {
    int code = known_.prepare(db, std::string(columns) + "WHERE request=?1 AND upstream=?2");
    const auto also = [&](sqlite_statement& s, std::string_view sql) {
        if (code == SQLITE_OK) code = s.prepare(db, sql);
    };
    also(put_,
         "INSERT INTO ledger(request,upstream,epoch,output,environment,promise,mode,sampled,runs,first,last,fills)"
         " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12) ON CONFLICT DO UPDATE SET runs=excluded.runs,"
         " first=min(first,excluded.first), last=max(last,excluded.last), fills=fills+excluded.fills");
    also(drop_,
         "DELETE FROM ledger WHERE request=?1 AND upstream=?2 AND epoch=?3 AND output=?4 AND environment=?5"
         " AND promise=?6 AND mode=?7 AND sampled=?8");
    also(count_, "SELECT count(*) FROM ledger");
    const std::string victims =
        "DELETE FROM ledger WHERE (request,upstream,epoch,output,environment,promise,mode,sampled) IN"
        " (SELECT request,upstream,epoch,output,environment,promise,mode,sampled FROM ledger ";
    also(expire_, victims + "WHERE last<?1 ORDER BY last LIMIT ?2)");
    also(trim_, victims + "ORDER BY last LIMIT ?1)");
    return code;
}

void ledger_rows::finalize() noexcept {
    for (auto* s : {&known_, &put_, &drop_, &count_, &expire_, &trim_}) s->finalize();
}

int ledger_rows::note(const ledger_record& fill, determinism::contrast& contrast) {
    std::vector<ledger_record> known;
    {
        const sqlite_use select(known_);
        select->bind_blob(1, view(fill.request));
        select->bind_text(2, fill.upstream);
        int code = select->step();
        for (; code == SQLITE_ROW; code = select->step()) known.push_back(record_of(known_));
        if (code != SQLITE_DONE) return code;
    }
    contrast = contrast_with(known, fill);
    const bool fresh = std::ranges::none_of(known, [&](const ledger_record& r) { return r.same_kind(fill); });
    if (fresh && known.size() >= ledger_records_a_request) {
        const auto oldest = std::ranges::min_element(known, {}, &ledger_record::last);
        const sqlite_use drop(drop_);
        bind_kind(drop_, *oldest);
        if (const int code = drop->run(); code != SQLITE_OK) return code;
        added_ -= drop->changes();
    }
    const sqlite_use put(put_);
    bind_kind(put_, fill);
    put->bind(9, fill.promise.runs);
    put->bind(10, fill.first);
    put->bind(11, fill.last);
    put->bind(12, static_cast<std::int64_t>(fill.fills));
    added_ += fresh;
    return put->run();
}

int ledger_rows::count(std::int64_t& rows) {
    const sqlite_use count(count_);
    const int code = count->step();
    if (code == SQLITE_ROW) rows = count->integer(0);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

int ledger_rows::expire(unix_ms before, int most, std::int64_t& gone) {
    const sqlite_use expire(expire_);
    expire->bind(1, before);
    expire->bind(2, most);
    const int code = expire->run();
    if (code == SQLITE_OK) gone += expire->changes();
    return code;
}

int ledger_rows::trim(int most, std::int64_t& gone) {
    const sqlite_use trim(trim_);
    trim->bind(1, most);
    const int code = trim->run();
    if (code == SQLITE_OK) gone += trim->changes();
    return code;
}

int ledger_page_reader::prepare(const sqlite_connection& db) {
    return select_.prepare(db, std::string(columns) + "WHERE request>?1 ORDER BY request LIMIT ?2");
}

int ledger_page_reader::read(std::string_view from, ledger_page& out) {
    out = {};
    const sqlite_use select(select_);
    select->bind_blob(1, from.empty() ? std::string_view("") : from);  // without an address it would be NULL
    select->bind(2, static_cast<std::int64_t>(page_rows));
    int code = select->step();
    for (; code == SQLITE_ROW; code = select->step()) out.records.push_back(record_of(select_));
    if (code != SQLITE_DONE) return code;
    if (out.records.size() < page_rows) return SQLITE_OK;
    // The last request may go on behind the page: it begins the next one, unless it is all there is.
    const digest last = out.records.back().request;
    if (out.records.front().request != last)
        while (out.records.back().request == last) out.records.pop_back();
    out.next = view(out.records.back().request);
    return SQLITE_OK;
}

}  // namespace idem::cache
