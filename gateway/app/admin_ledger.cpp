// What the admin API shows of the ledger and of receipts.
#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstring>

#include "gateway/app/admin_view.hpp"
#include "gateway/app/runtime.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

namespace {

struct first_bytes {  // SHA-256 spreads by itself
    std::size_t operator()(const digest& d) const noexcept {
        std::size_t h;
        std::memcpy(&h, d.bytes.data(), sizeof h);
        return h;
    }
};

}  // namespace

net::task<admin::drift_found> admin_view::drift(id128 before, id128 after) {
    cache::store* store = of_.shared().second;
    if (!store || !store->keeps_ledger())
        co_return admin::drift_found{{}, 409, "there is no ledger: the store is memory, or cache.ledger is 0"};
    cache::drift_counter count(before, after);
    // A request may come twice while others write; it counts once.
    boost::unordered_flat_set<digest, first_bytes> seen;
    std::string from;
    do {
        cache::ledger_page page = co_await store->read_ledger(from);
        if (page.why != reason::none)
            co_return admin::drift_found{{}, 503, "the ledger cannot be read: " + std::string(to_string(page.why))};
        std::erase_if(page.records, [&](const cache::ledger_record& r) {
            return (r.epoch != before && r.epoch != after) || seen.contains(r.request);
        });
        count.take_all(page.records);
        for (const cache::ledger_record& r : page.records) seen.insert(r.request);
        from = std::move(page.next);
    } while (!from.empty());
    admin::drift_found result;
    result.report = count.report();
    const auto& r = result.report;
    for (const auto& [epoch, requests] : {std::pair{before, r.both + r.only_before}, {after, r.both + r.only_after}})
        if (requests == 0)
            co_return admin::drift_found{{}, 404, "the ledger knows no answer of the epoch " + to_hex(epoch.bytes)};
    co_return result;
}

net::task<admin::found_receipt> admin_view::receipt(cache::cache_key key, id128 fill) {
    receipts::book* book = of_.shared().receipts;
    if (!book) co_return admin::found_receipt{409, "no policy of this gateway has `receipts: true`"};
    std::string text = co_await book->find(key, fill);
    if (text.empty()) co_return admin::found_receipt{404, "this gateway has no receipt of that key"};
    co_return admin::found_receipt{200, std::move(text)};
}

}  // namespace idem::gateway::app
