#include "cache/state/local_coordination.hpp"

#include <utility>

namespace idem::cache {

namespace net = upstream::net;

record_result local_coordination::read(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    const auto at = records_.find(name);
    if (at == records_.end()) return {record_status::absent, {}, 0, reason::none};
    return {record_status::ok, at->second.value, at->second.version, reason::none};
}

record_result local_coordination::write(const std::string& name, std::string value, std::uint64_t expected) {
    if (value.size() > longest_record || name.size() > longest_record_name)
        return {record_status::failed, {}, 0, reason::entry_too_large};
    const std::scoped_lock lock(mutex_);
    const auto at = records_.find(name);
    const std::uint64_t there = at == records_.end() ? 0 : at->second.version;
    if (there != expected)
        return {record_status::conflict, there == 0 ? std::string() : at->second.value, there, reason::none};
    record& r = at == records_.end() ? records_[name] : at->second;
    r.value = std::move(value);
    r.version = next_version(expected);
    return {record_status::ok, {}, r.version, reason::none};
}

lease_result local_coordination::take(const std::string& name, const id128& holder, std::chrono::milliseconds length,
                                      net::time_point now) {
    const std::scoped_lock lock(mutex_);
    const auto [at, made] = leases_.try_emplace(name, held{holder, {}, now});
    held& l = at->second;
    const bool over = now >= l.until;
    const bool reserved = l.holder == id128{} && l.next == holder;
    if (!over && l.holder != holder && !reserved) {
        if (l.next == id128{}) l.next = holder;
        return {.status = lease_status::taken};
    }
    lease_result got{.status = lease_status::held, .before = made ? lease_past::unknown : lease_past::settled};
    if (l.holder != holder && l.holder != id128{}) got.before = lease_past::lapsed;
    if (over || l.holder != holder) l.next = {};
    got.wanted = l.next != id128{};
    l.holder = holder;
    l.until = now + length;
    return got;
}

lease_result local_coordination::give_back(const std::string& name, const id128& holder, bool settled,
                                           net::time_point now) {
    const std::scoped_lock lock(mutex_);
    const auto at = leases_.find(name);
    if (at == leases_.end() || at->second.holder != holder || now >= at->second.until)
        return {.status = lease_status::taken};
    held& l = at->second;
    l.until = settled && l.next != id128{} ? now + lease_reserved : now;
    if (settled) l.holder = {};
    return {.status = lease_status::held};
}

net::task<record_result> local_coordination::read_record(std::string name) {
    co_return read(name);
}

net::task<record_result> local_coordination::write_record(std::string name, std::string value, std::uint64_t expected) {
    co_return write(name, std::move(value), expected);
}

net::task<lease_result> local_coordination::lease(std::string name, id128 holder, std::chrono::milliseconds length) {
    co_return take(name, holder, length, net::clock::now());
}

net::task<lease_result> local_coordination::release(std::string name, id128 holder, bool settled) {
    co_return give_back(name, holder, settled, net::clock::now());
}

}  // namespace idem::cache
