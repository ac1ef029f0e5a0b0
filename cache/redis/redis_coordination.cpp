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
    co_return co_await about_lease(lease_, std::move(name), holder, length);
}

net::task<lease_result> redis_store::release(std::string name, id128 holder) {
    co_return co_await about_lease(release_, std::move(name), holder, lease_reserved);
}

net::task<lease_result> redis_store::about_lease(const redis::script& what, std::string name, id128 holder,
                                                 std::chrono::milliseconds lives) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return lease_result{.status = lease_status::failed, .why = c.why};
    const std::string who = to_hex(holder.bytes), nobody(who.size(), '0');
    const std::string ttl = std::to_string(std::max<std::int64_t>(1, lives.count()));
    const std::array<std::string_view, 4> arguments{redis::lease_format, who, nobody, ttl};
    std::string key = redis::lease_name(options_.prefix, name);
    const answer a = co_await run(c, what, std::move(key), arguments);
    if (a.why != fault::none) co_return lease_result{.status = lease_status::failed, .why = redis::reason_of(a.why)};
    if (a.value.type == redis::reply_type::nil) co_return lease_result{.status = lease_status::held};
    if (a.value.text == "wanted") co_return lease_result{.status = lease_status::held, .wanted = true};
    if (a.value.text == "taken") co_return lease_result{.status = lease_status::taken};
    co_return lease_result{.status = lease_status::failed, .why = reason::entry_unreadable};
}

}  // namespace idem::cache
