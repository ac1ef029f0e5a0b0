// All entries in Redis, a step at a time: for an administrator, never for a request.
#include <algorithm>

#include "cache/redis/names.hpp"
#include "cache/redis/redis_store_impl.hpp"

namespace idem::cache {

namespace net = upstream::net;
using redis::command;
using redis::fault;

namespace {

entry_page unread(reason why) {
    entry_page p;
    p.why = why;
    return p;
}

}  // namespace

// One by one: a value may be as large as an entry may be, and a reply holds no more than one.
net::task<entry_page> redis_store::list(std::string from, std::size_t most) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return unread(c.why);
    const std::string pattern = redis::entry_pattern(options_.prefix), about = std::to_string(most);
    command scan = command::scan(from.empty() ? std::string_view("0") : std::string_view(from), pattern, about);
    answer a = co_await c.client->ask(std::move(scan), c.limit);
    hear(a);
    if (a.why != fault::none) co_return unread(redis::reason_of(a.why));
    if (a.value.elements.size() != 2) co_return unread(reason::store_unavailable);
    entry_page page;
    for (redis::reply& name : a.value.elements[1].elements) {
        const auto key = redis::key_of_entry_name(options_.prefix, name.text);
        if (!key) continue;
        const call each = begin(on);
        if (each.client == nullptr) co_return unread(each.why);
        command get = command::get(name.text);
        const answer got = co_await each.client->ask(std::move(get), each.limit);
        hear(got);
        if (got.why == fault::wrongtype || got.value.type != redis::reply_type::string) continue;
        if (got.why != fault::none) co_return unread(redis::reason_of(got.why));
        if (decoded d = decode_stored(got.value.text, *key, {options_.entry, options_.keys}); d.value)
            page.entries.push_back(std::move(d.value));
    }
    page.next = std::move(a.value.elements[0].text);
    if (page.next == "0") page.next.clear();
    co_return page;
}

}  // namespace idem::cache
