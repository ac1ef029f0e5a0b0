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
    also(lease_delete_, "DELETE FROM leases WHERE name=?1");
    return code;
}

void coordination_rows::finalize() noexcept {
    reader_.finalize();
    for (auto* s : {&insert_, &update_, &lease_select_, &lease_put_, &lease_next_, &lease_delete_}) s->finalize();
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
    std::string next;
    {
        const sqlite_use select(lease_select_);
        select->bind_text(1, name);
        const int code = select->step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
        if (code == SQLITE_ROW && now < select->integer(2)) {
            next = select->blob(1);
            if (select->blob(0) != view(holder)) out.status = lease_status::taken;
        }
    }
    if (out.status == lease_status::taken) {
        if (!next.empty()) return SQLITE_OK;
        const sqlite_use wish(lease_next_);
        wish->bind_text(1, name);
        wish->bind_blob(2, view(holder));
        return wish->run();
    }
    const sqlite_use put(lease_put_);
    put->bind_text(1, name);
    put->bind_blob(2, view(holder));
    put->bind_blob(3, next);
    put->bind(4, now + length);
    out = {lease_status::held, !next.empty(), reason::none};
    return put->run();
}

int coordination_rows::release(std::string_view name, const id128& holder, unix_ms now, lease_result& out) {
    std::string next;
    {
        const sqlite_use select(lease_select_);
        select->bind_text(1, name);
        const int code = select->step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
        if (code == SQLITE_DONE || now >= select->integer(2) || select->blob(0) != view(holder)) {
            out = {lease_status::taken, false, reason::none};
            return SQLITE_OK;
        }
        next = select->blob(1);
    }
    out = {lease_status::held, false, reason::none};
    if (next.empty()) {
        const sqlite_use drop(lease_delete_);
        drop->bind_text(1, name);
        return drop->run();
    }
    const sqlite_use put(lease_put_);
    put->bind_text(1, name);
    put->bind_blob(2, next);
    put->bind_blob(3, {});
    put->bind(4, now + lease_reserved.count());
    return put->run();
}

}  // namespace idem::cache
