#include "cache/redis/redis_store.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cache/entry/layout.hpp"
#include "cache/redis/names.hpp"
#include "cache/redis/redis_store_impl.hpp"
#include "upstream/net/tls.hpp"

namespace idem::cache {
namespace {

namespace net = upstream::net;
using namespace std::chrono_literals;
using redis::command;
using redis::fault;

// What an encoded entry may have beside its body.
constexpr std::size_t head_room = layout::head_cap + (std::size_t{64} << 10);
constexpr std::int64_t longest_ttl_ms = std::int64_t{10} * 365 * 24 * 3600 * 1000;

[[nodiscard]] redis::client_settings settings_of(const redis_options& o) {
    redis::client_settings s;
    const bool local = o.at.by == redis::address::transport::unix_socket;
    s.at.host = local ? o.at.path : o.at.host;
    s.at.port = local ? std::uint16_t{0} : o.at.port;
    s.at.tls = o.at.by == redis::address::transport::tls;
    s.at.tls_options = o.tls;
    s.session.user = o.at.user;
    s.session.password = o.at.password;
    s.session.database = o.at.database;
    s.session.limits.bytes = std::max(o.entry + head_room, longest_record) + (std::size_t{64} << 10);
    s.session.progress = o.deadline;
    s.session.whole = o.total;
    s.session.connect = o.total;
    s.session.queued_bytes = std::max(std::size_t{32} << 20, 4 * (o.entry + head_room));
    s.connections = std::max(1u, o.connections);
    return s;
}

}  // namespace

redis_store::redis_store(redis_options o)
    : options_(std::move(o)), health_(options_.at.text(), options_.log), clients_(settings_of(options_), health_) {}

redis_store::call redis_store::begin(const net::executor& on) {
    if (!health_.serving()) {
        return {.why = reason::store_open_breaker};
    }
    redis::client* const client = clients_.of(on);
    if (client == nullptr) {
        return {.why = reason::store_unavailable};
    }
    return {.client = client, .limit = net::clock::now() + options_.total};
}

void redis_store::hear(const answer& a) {
    const bool replied = a.why == fault::none || a.value.type == redis::reply_type::error;
    if (replied && !redis::is_outage(a.why)) {
        health_.answered();
    }
    // Faults of a connection are noted once, by the connection.
    if (a.why != fault::none && (replied || a.why == fault::overloaded || a.why == fault::not_connected)) {
        health_.note(a.why, net::clock::now());
    }
}

net::task<redis_store::answer> redis_store::create(call c, std::string name, std::shared_ptr<const std::string> value,
                                                   std::int64_t ttl_ms, std::optional<std::string> dead_head) {
    if (!dead_head && !before_7_.load(std::memory_order_relaxed)) {
        command set = command::set_nx_get(name, *value, ttl_ms);
        answer a = co_await c.client->ask(std::move(set), c.limit);
        hear(a);
        if (a.why != fault::syntax_error) co_return a;
        before_7_.store(true, std::memory_order_relaxed);
    }
    const std::string ttl = std::to_string(ttl_ms);
    const std::array<std::string_view, 4> arguments{*value, ttl, dead_head ? "1" : "0",
                                                    dead_head ? std::string_view(*dead_head) : std::string_view{}};
    co_return co_await run(c, put_, std::move(name), arguments);
}

// Redis forgets scripts when it restarts or fails over; EVAL teaches it again. `arguments` are the caller's, who waits.
net::task<redis_store::answer> redis_store::run(call c, const redis::script& what, std::string name,
                                                std::span<const std::string_view> arguments) {
    command by_digest = command::evalsha(what.sha1, name, arguments);
    answer a = co_await c.client->ask(std::move(by_digest), c.limit);
    hear(a);
    if (a.why != fault::noscript) co_return a;
    command whole = command::eval(what.text, name, arguments);
    answer taught = co_await c.client->ask(std::move(whole), c.limit);
    hear(taught);
    co_return taught;
}

// An entry of another key under this name: renamed by hand, or replies no longer match commands. The second must not go
// on.
void redis_store::distrust_stranger(const call& c, const cache_key& key, const answer& a) {
    if (const auto head = decode_head(a.value.text); head && head->key != key) {
        c.client->distrust(a.connection);
    }
}

lookup redis_store::judge(const cache_key& key, const answer& a, unix_ms now) const {
    lookup l;
    if (a.why != fault::none) {
        l.status = a.why == fault::wrongtype ? lookup_status::foreign : lookup_status::failed;
        l.why = redis::reason_of(a.why);
        return l;
    }
    if (a.value.type == redis::reply_type::nil) {
        return l;
    }
    decoded d = decode_stored(a.value.text, key, {options_.entry, options_.keys});
    if (d.value && now < d.value->fresh_until) {
        l.status = lookup_status::found;
        l.value = std::move(d.value);
        return l;
    }
    if (!d.value && d.why == reason::entry_unreadable) {
        l.status = lookup_status::foreign;
        l.why = d.why;
        return l;
    }
    l.status = lookup_status::dead;
    l.why = d.value ? reason::none : d.why;
    l.value = std::move(d.value);
    if (const auto head = decode_head(a.value.text)) {
        l.dead_fill = head->fill;
    }
    return l;
}

net::task<lookup> redis_store::find(cache_key key, unix_ms now) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) {
        ++counts_.failed_reads;
        co_return lookup{.status = lookup_status::failed, .value = {}, .why = c.why};
    }
    const std::string name = redis::entry_name(options_.prefix, key);
    command get = command::get(name);
    const answer a = co_await c.client->ask(std::move(get), c.limit);
    hear(a);
    distrust_stranger(c, key, a);
    lookup l = judge(key, a, now);
    counts_.failed_reads += l.status == lookup_status::failed ? 1 : 0;
    counts_.timeouts += l.why == reason::store_timeout ? 1 : 0;
    co_return l;
}

net::task<put_result> redis_store::put(entry_ptr value, id128 replaces, unix_ms now) {
    put_result r = co_await store_first(std::move(value), replaces, now);
    switch (r.status) {
        case put_status::stored:
            ++counts_.stored;
            break;
        case put_status::lost:
            ++counts_.lost;
            break;
        case put_status::refused:
            ++counts_.refused;
            break;
        case put_status::failed:
            ++counts_.failed_writes;
            break;
    }
    counts_.timeouts += r.why == reason::store_timeout ? 1 : 0;
    co_return r;
}

net::task<put_result> redis_store::store_first(entry_ptr value, id128 replaces, unix_ms now) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) {
        co_return put_result{.status = put_status::failed, .winner = {}, .why = c.why};
    }
    if (!health_.writable(net::clock::now())) {
        co_return put_result{.status = put_status::failed, .winner = {}, .why = reason::store_unavailable};
    }
    const std::int64_t ttl = std::min(value->keep_until - now, longest_ttl_ms);
    if (ttl <= 0) {
        co_return put_result{.status = put_status::refused, .winner = {}};  // its store lifetime is over already
    }
    if (value->body.size() > options_.entry) {
        co_return put_result{.status = put_status::refused, .winner = {}, .why = reason::entry_too_large};
    }
    const auto blob =
        std::make_shared<const std::string>(encode_stored(*value, options_.compress, options_.keys.get()));
    if (blob->empty() || blob->size() > options_.entry + head_room) {
        co_return put_result{.status = put_status::refused, .winner = {}, .why = reason::entry_too_large};
    }
    const std::string name = redis::entry_name(options_.prefix, value->key);
    answer a = co_await create(c, name, blob, ttl, std::nullopt);
    distrust_stranger(c, value->key, a);
    lookup there = judge(value->key, a, now);
    const bool banned = there.status == lookup_status::found && replaces != id128{} && there.value->fill == replaces;
    if (there.status == lookup_status::dead || banned) {
        // Only the very value that was seen is replaced: whoever else did so in between has won.
        std::string head = a.value.text.substr(0, layout::stable_size);
        a = co_await create(c, name, blob, ttl, std::move(head));
        there = judge(value->key, a, now);
    }
    switch (there.status) {
        case lookup_status::absent:
            health_.stored(net::clock::now());
            co_return put_result{.status = put_status::stored, .winner = {}};
        case lookup_status::found:
            co_return put_result{.status = put_status::lost, .winner = std::move(there.value)};
        case lookup_status::foreign:
        case lookup_status::dead:
            co_return put_result{.status = put_status::refused, .winner = {}, .why = there.why};
        case lookup_status::failed:
            break;
    }
    co_return put_result{.status = put_status::failed, .winner = {}, .why = there.why};
}

net::task<erase_status> redis_store::erase(cache_key key) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) {
        co_return erase_status::failed;
    }
    const std::string name = redis::entry_name(options_.prefix, key);
    command unlink = command::unlink(name);
    const answer a = co_await c.client->ask(std::move(unlink), c.limit);
    hear(a);
    if (a.why != fault::none) {
        co_return erase_status::failed;
    }
    co_return a.value.integer > 0 ? erase_status::erased : erase_status::absent;
}

net::task<bind_result> redis_store::bind(binding wanted, unix_ms now) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) {
        co_return bind_result{.ok = false, .value = {}, .why = c.why};
    }
    const auto text = std::make_shared<const std::string>(redis::encode_binding(wanted));
    std::string name = redis::binding_name(options_.prefix, wanted.name);
    const std::int64_t ttl = std::max<std::int64_t>(1, std::min(wanted.until - now, longest_ttl_ms));
    const answer a = co_await create(c, std::move(name), text, ttl, std::nullopt);
    if (a.why != fault::none) {
        co_return bind_result{.ok = false, .value = {}, .why = redis::reason_of(a.why)};
    }
    if (a.value.type == redis::reply_type::nil) {
        co_return bind_result{.ok = true, .value = wanted.value};
    }
    const auto there = redis::decode_binding(wanted.name, a.value.text);
    if (!there) {
        co_return bind_result{.ok = false, .value = {}, .why = reason::entry_unreadable};
    }
    co_return bind_result{.ok = true, .value = *there};
}

store_stats redis_store::stats() const {
    store_stats s;
    s.state = health_.state();
    s.healthy = health_.serving();
    s.stored = counts_.stored;
    s.lost = counts_.lost;
    s.refused = counts_.refused;
    s.failed_reads = counts_.failed_reads;
    s.failed_writes = counts_.failed_writes;
    s.timeouts = counts_.timeouts;
    for (std::size_t i = 1; i < static_cast<std::size_t>(fault::count_); ++i) {
        const auto f = static_cast<fault>(i);
        if (const std::uint64_t n = health_.count(f)) {
            s.faults.emplace_back(redis::to_string(f), n);
        }
    }
    return s;
}

std::unique_ptr<store> make_redis(redis_options options, std::string& error) {
    error.clear();
    if (options.prefix.empty() || options.prefix.find_first_of("{} \r\n") != std::string::npos) {
        error = "cache.redis.prefix must not be empty and must not hold braces, blanks or line ends";
        return nullptr;
    }
    if (options.at.by == redis::address::transport::tls && !net::client_context(options.tls, error)) {
        error.insert(0, "cache.redis.tls: ");
        return nullptr;
    }
    return std::make_unique<redis_store>(std::move(options));
}

}  // namespace idem::cache
