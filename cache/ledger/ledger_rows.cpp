#include "cache/ledger/ledger_rows.hpp"

#include <algorithm>
#include <cstring>

namespace idem::cache {

namespace determinism = upstream::determinism;

namespace {

constexpr std::size_t page_rows = 4096;
constexpr std::string_view columns =
    "SELECT request,upstream,epoch,output,environment,promise,mode,sampled,runs,first,last,fills,rowid FROM ledger ";

std::int64_t place_of(std::string_view request) noexcept {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < sizeof n; ++i)
        n = n << 8 | static_cast<unsigned char>(i < request.size() ? request[i] : '\0');
    return static_cast<std::int64_t>(n ^ std::uint64_t{1} << 63U);
}

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

}  // namespace

int ledger_rows::prepare(const sqlite_connection& db) {
    int code = known_.prepare(db, std::string(columns) + "WHERE place=?1 AND request=?2 AND upstream=?3");
    const auto also = [&](sqlite_statement& s, std::string_view sql) {
        if (code == SQLITE_OK) code = s.prepare(db, sql);
    };
    also(
        put_,
        "INSERT INTO ledger(request,upstream,epoch,output,environment,promise,mode,sampled,runs,first,last,fills,place)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)");
    also(again_, "UPDATE ledger SET runs=?2, first=min(first,?3), last=max(last,?4), fills=fills+?5 WHERE rowid=?1");
    also(drop_, "DELETE FROM ledger WHERE rowid=?1");
    also(count_, "SELECT count(*) FROM ledger");
    const std::string victims = "DELETE FROM ledger WHERE rowid IN (SELECT rowid FROM ledger ";
    also(expire_, victims + "WHERE last<?1 ORDER BY last LIMIT ?2)");
    also(trim_, victims + "ORDER BY last LIMIT ?1)");
    return code;
}

void ledger_rows::finalize() noexcept {
    for (auto* s : {&known_, &put_, &again_, &drop_, &count_, &expire_, &trim_}) s->finalize();
}

// The writer's transaction is the only one that writes: what was read in it is so until its end.
int ledger_rows::note(const ledger_record& fill, determinism::contrast& contrast) {
    std::vector<ledger_record> known;
    std::vector<std::int64_t> rows;
    {
        const sqlite_use select(known_);
        select->bind(1, place_of(view(fill.request)));
        select->bind_blob(2, view(fill.request));
        select->bind_text(3, fill.upstream);
        int code = select->step();
        for (; code == SQLITE_ROW; code = select->step()) {
            known.push_back(record_of(known_));
            rows.push_back(select->integer(12));
        }
        if (code != SQLITE_DONE) return code;
    }
    contrast = contrast_with(known, fill);
    const auto same = std::ranges::find_if(known, [&](const ledger_record& r) { return r.same_kind(fill); });
    if (same != known.end()) {
        const sqlite_use again(again_);
        again->bind(1, rows[static_cast<std::size_t>(same - known.begin())]);
        again->bind(2, fill.promise.runs);
        again->bind(3, fill.first);
        again->bind(4, fill.last);
        again->bind(5, static_cast<std::int64_t>(fill.fills));
        return again->run();
    }
    if (known.size() >= ledger_records_a_request) {
        const auto oldest = std::ranges::min_element(known, {}, &ledger_record::last);
        const sqlite_use drop(drop_);
        drop->bind(1, rows[static_cast<std::size_t>(oldest - known.begin())]);
        if (const int code = drop->run(); code != SQLITE_OK) return code;
        added_ -= drop->changes();
    }
    const sqlite_use put(put_);
    put->bind_blob(1, view(fill.request));
    put->bind_text(2, fill.upstream);
    put->bind_blob(3, view(fill.epoch));
    put->bind_blob(4, view(fill.output));
    put->bind_blob(5, view(fill.environment));
    put->bind(6, static_cast<std::int64_t>(fill.promise.what));
    put->bind(7, static_cast<std::int64_t>(fill.promise.how));
    put->bind(8, fill.sampled);
    put->bind(9, fill.promise.runs);
    put->bind(10, fill.first);
    put->bind(11, fill.last);
    put->bind(12, static_cast<std::int64_t>(fill.fills));
    put->bind(13, place_of(view(fill.request)));
    ++added_;
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
    return select_.prepare(db,
                           std::string(columns) + "WHERE (place, request)>(?1, ?2) ORDER BY place, request LIMIT ?3");
}

int ledger_page_reader::read(std::string_view from, ledger_page& out) {
    out = {};
    const sqlite_use select(select_);
    select->bind(1, place_of(from));
    select->bind_blob(2, from.empty() ? std::string_view("") : from);  // without an address it would be NULL
    select->bind(3, static_cast<std::int64_t>(page_rows));
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
