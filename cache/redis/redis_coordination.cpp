// Records and leases in Redis: one key and one script each.
#include <algorithm>
#include <array>

#include "cache/redis/names.hpp"
#include "cache/redis/redis_store_impl.hpp"

namespace idem::cache {

namespace net = upstream::net;
using redis::command;
using redis::fault;

namespace {

record_result record_there(record_status status, std::string_view text) {
    const auto there = redis::decode_record(text);
    if (!there) return {.status = record_status::failed, .value = {}, .why = reason::entry_unreadable};
    return {.status = status, .value = std::string(there->value), .version = there->version};
}

lease_result lease_answer(std::string_view said) {
    if (said == "wanted") return {.status = lease_status::held, .wanted = true};
    if (said == "unclaimed") return {.status = lease_status::held, .before = lease_past::unknown};
    if (said == "lapsed") return {.status = lease_status::held, .before = lease_past::lapsed};
    if (said == "taken") return {.status = lease_status::taken};
    return {.status = lease_status::failed, .why = reason::entry_unreadable};
}

}  // namespace

net::task<record_result> redis_store::read_record(std::string name) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return record_result{.status = record_status::failed, .value = {}, .why = c.why};
    command get = command::get(redis::record_name(options_.prefix, name));
    const answer a = co_await c.client->ask(std::move(get), c.limit);
    hear(a);
    if (a.why != fault::none) {
        co_return record_result{.status = record_status::failed, .value = {}, .why = redis::reason_of(a.why)};
    }
    if (a.value.type == redis::reply_type::nil) co_return record_result{.status = record_status::absent, .value = {}};
    co_return record_there(record_status::ok, a.value.text);
}

net::task<record_result> redis_store::write_record(std::string name, std::string value, std::uint64_t expected) {
    if (value.size() > longest_record || name.size() > longest_record_name) {
        co_return record_result{.status = record_status::failed, .value = {}, .why = reason::entry_too_large};
    }
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return record_result{.status = record_status::failed, .value = {}, .why = c.why};
    const std::uint64_t version = next_version(expected);
    const auto text = std::make_shared<const std::string>(redis::record_head(version) + value);
    std::string key = redis::record_name(options_.prefix, name);
    answer a;
    if (expected == 0) {
        a = co_await create(c, std::move(key), text, 0, std::nullopt);
    } else {
        const std::string head = redis::record_head(expected);
        const std::array<std::string_view, 2> arguments{head, *text};
        a = co_await run(c, record_, std::move(key), arguments);
    }
    if (a.why != fault::none) {
        co_return record_result{.status = record_status::failed, .value = {}, .why = redis::reason_of(a.why)};
    }
    if (a.value.type == redis::reply_type::nil) {
        co_return record_result{.status = record_status::ok, .value = {}, .version = version};
    }
    if (a.value.text.empty()) co_return record_result{.status = record_status::conflict, .value = {}};
    co_return record_there(record_status::conflict, a.value.text);
}

net::task<lease_result> redis_store::lease(std::string name, id128 holder, std::chrono::milliseconds length) {
    co_return co_await about_lease(lease_, std::move(name), holder, length, true);
}

net::task<lease_result> redis_store::release(std::string name, id128 holder, bool settled) {
    co_return co_await about_lease(release_, std::move(name), holder, lease_reserved, settled);
}

net::task<lease_result> redis_store::about_lease(const redis::script& what, std::string name, id128 holder,
                                                 std::chrono::milliseconds lives, bool settled) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return lease_result{.status = lease_status::failed, .why = c.why};
    const std::string who = to_hex(holder.bytes), nobody(who.size(), '0');
    const std::string ttl = std::to_string(std::max<std::int64_t>(1, lives.count()));
    const std::string memory = std::to_string(lease_remembered.count());
    const std::array<std::string_view, 6> arguments{redis::lease_format, who, nobody, ttl, memory, settled ? "1" : "0"};
    std::string key = redis::lease_name(options_.prefix, name);
    const answer a = co_await run(c, what, std::move(key), arguments);
    if (a.why != fault::none) co_return lease_result{.status = lease_status::failed, .why = redis::reason_of(a.why)};
    if (a.value.type == redis::reply_type::nil) co_return lease_result{.status = lease_status::held};
    co_return lease_answer(a.value.text);
}

}  // namespace idem::cache
