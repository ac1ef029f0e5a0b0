// The ledger in Redis: one key a request, capped and expiring, written by one script. Reading all of it enumerates
// names, a step at a time; that is for an administrator, never for a request.
#include <algorithm>
#include <array>
#include <iterator>

#include "cache/redis/names.hpp"
#include "cache/redis/redis_store_impl.hpp"

namespace idem::cache {

namespace net = upstream::net;
using redis::command;
using redis::fault;

namespace {

ledger_page unread(reason why) {
    ledger_page p;
    p.why = why;
    return p;
}

}  // namespace

net::task<noted> redis_store::note(ledger_record fill) {
    fill.upstream.resize(std::min(fill.upstream.size(), longest_ledger_upstream));
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return noted{.why = c.why};
    const std::string kind = ledger_kind(fill), first = std::to_string(fill.first), last = std::to_string(fill.last);
    const std::string fills = std::to_string(fill.fills), runs = std::to_string(fill.promise.runs);
    const std::string most = std::to_string(ledger_records_a_request), ttl = std::to_string(options_.ledger.count());
    const std::array<std::string_view, 8> arguments{redis::ledger_format, kind, first, last, fills, runs, most, ttl};
    std::string name = redis::ledger_name(options_.prefix, fill.request);
    const answer a = co_await run(c, ledger_, std::move(name), arguments);
    if (a.why != fault::none) co_return noted{.why = redis::reason_of(a.why)};
    noted result{.written = true};
    if (a.value.type == redis::reply_type::nil) co_return result;
    const auto known = redis::decode_ledger(fill.request, a.value.text);
    if (!known) co_return noted{.why = reason::entry_unreadable};
    result.with_before = contrast_with(*known, fill);
    co_return result;
}

net::task<ledger_page> redis_store::read_ledger(std::string from) {
    const auto on = co_await boost::asio::this_coro::executor;
    const call c = begin(on);
    if (c.client == nullptr) co_return unread(c.why);
    const std::string pattern = redis::ledger_pattern(options_.prefix);
    command scan = command::scan(from.empty() ? std::string_view("0") : std::string_view(from), pattern, "1000");
    answer a = co_await c.client->ask(std::move(scan), c.limit);
    hear(a);
    if (a.why != fault::none) co_return unread(redis::reason_of(a.why));
    if (a.value.elements.size() != 2) co_return unread(reason::store_unavailable);
    ledger_page page;
    std::vector<std::string> names;
    for (redis::reply& name : a.value.elements[1].elements) names.push_back(std::move(name.text));
    for (std::size_t i = 0; i < names.size(); i += command::most_keys) {
        const auto begins = names.begin() + static_cast<std::ptrdiff_t>(i);
        const auto n = static_cast<std::ptrdiff_t>(std::min(command::most_keys, names.size() - i));
        std::vector<std::string> some(begins, begins + n);
        const call each = begin(on);
        if (each.client == nullptr) co_return unread(each.why);
        ledger_page part = co_await read_ledgers(each, std::move(some));
        if (part.why != reason::none) co_return part;
        std::ranges::move(part.records, std::back_inserter(page.records));
    }
    page.next = std::move(a.value.elements[0].text);
    if (page.next == "0") page.next.clear();
    co_return page;
}

net::task<ledger_page> redis_store::read_ledgers(call c, std::vector<std::string> names) {
    command get = command::mget(names);
    const answer a = co_await c.client->ask(std::move(get), c.limit);
    hear(a);
    if (a.why != fault::none) co_return unread(redis::reason_of(a.why));
    ledger_page page;
    for (std::size_t i = 0; i < std::min(names.size(), a.value.elements.size()); ++i) {
        const auto request = redis::request_of_ledger_name(options_.prefix, names[i]);
        if (!request) continue;
        const auto records = redis::decode_ledger(*request, a.value.elements[i].text);
        if (records) page.records.insert(page.records.end(), records->begin(), records->end());
    }
    co_return page;
}

}  // namespace idem::cache
