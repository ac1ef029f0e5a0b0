#include "cache/store/embedded_coordination.hpp"

#include <algorithm>

namespace idem::cache {

int record_reader::prepare(const sqlite_connection& db) {
    return select_.prepare(db, "SELECT version, value FROM records WHERE name=?1");
}

int record_reader::read(std::string_view name, record_result& out) {
    out = {record_status::absent, {}, 0, reason::none};
    const sqlite_use select(select_);
    select->bind_text(1, name);
    const int code = select->step();
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_OK : code;
    out.status = record_status::ok;
    out.version = static_cast<std::uint64_t>(select->integer(0));
    out.value = select->blob(1);
    return SQLITE_OK;
}

int coordination_rows::prepare(const sqlite_connection& db) {
    int code = reader_.prepare(db);
    const auto also = [&](sqlite_statement& s, std::string_view sql) {
        if (code == SQLITE_OK) code = s.prepare(db, sql);
    };
    also(insert_, "INSERT OR IGNORE INTO records(name,version,value) VALUES(?1,?2,?3)");
    also(update_, "UPDATE records SET version=?2, value=?3 WHERE name=?1 AND version=?4");
    also(lease_select_, "SELECT holder, next, until FROM leases WHERE name=?1");
    also(lease_put_, "INSERT OR REPLACE INTO leases(name,holder,next,until) VALUES(?1,?2,?3,?4)");
    also(lease_next_, "UPDATE leases SET next=?2 WHERE name=?1");
    return code;
}

void coordination_rows::finalize() noexcept {
    reader_.finalize();
    for (auto* s : {&insert_, &update_, &lease_select_, &lease_put_, &lease_next_}) s->finalize();
}

int coordination_rows::write(std::string_view name, std::string_view value, std::uint64_t expected,
                             record_result& out) {
    const std::uint64_t version = next_version(expected);
    {
        const sqlite_use put(expected == 0 ? insert_ : update_);
        put->bind_text(1, name);
        put->bind(2, static_cast<std::int64_t>(version));
        put->bind_blob(3, value);
        if (expected != 0) put->bind(4, static_cast<std::int64_t>(expected));
        if (const int code = put->run(); code != SQLITE_OK) return code;
        if (put->changes() > 0) {
            out = {record_status::ok, {}, version, reason::none};
            return SQLITE_OK;
        }
    }
    const int code = reader_.read(name, out);
    out.status = record_status::conflict;
    return code;
}

int coordination_rows::lease(std::string_view name, const id128& holder, std::int64_t length, unix_ms now,
                             lease_result& out) {
    static constexpr id128 nobody{};
    std::string next;
    out = {.status = lease_status::held, .before = lease_past::unknown};
    {
        const sqlite_use select(lease_select_);
        select->bind_text(1, name);
        const int code = select->step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
        if (code == SQLITE_ROW) {
            const std::string who(select->blob(0));
            const bool over = now >= select->integer(2), own = who == view(holder), free = who == view(nobody);
            next = select->blob(1);
            if (!over && !own && !(free && next == view(holder))) out.status = lease_status::taken;
            if (out.status == lease_status::held && (over || !own)) next.clear();
            out.before = own || free ? lease_past::settled : lease_past::lapsed;
        }
    }
    if (out.status == lease_status::taken) {
        out.before = lease_past::settled;
        if (!next.empty()) return SQLITE_OK;
        const sqlite_use wish(lease_next_);
        wish->bind_text(1, name);
        wish->bind_blob(2, view(holder));
        return wish->run();
    }
    out.wanted = !next.empty();
    return put_lease(name, view(holder), next, now + length);
}

int coordination_rows::release(std::string_view name, const id128& holder, bool settled, unix_ms now,
                               lease_result& out) {
    static constexpr id128 nobody{};
    std::string next;
    {
        const sqlite_use select(lease_select_);
        select->bind_text(1, name);
        const int code = select->step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
        if (code == SQLITE_DONE || now >= select->integer(2) || select->blob(0) != view(holder)) {
            out = {.status = lease_status::taken};
            return SQLITE_OK;
        }
        next = select->blob(1);
    }
    out = {.status = lease_status::held};
    if (!settled) return put_lease(name, view(holder), {}, now);
    if (next.empty()) return put_lease(name, view(nobody), {}, now);
    return put_lease(name, view(nobody), next, now + lease_reserved.count());
}

int coordination_rows::put_lease(std::string_view name, std::string_view holder, std::string_view next, unix_ms until) {
    const sqlite_use put(lease_put_);
    put->bind_text(1, name);
    put->bind_blob(2, holder);
    put->bind_blob(3, next);
    put->bind(4, until);
    return put->run();
}

}  // namespace idem::cache
