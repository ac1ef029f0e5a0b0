#include "gateway/app/admin_view.hpp"

#include <boost/json.hpp>

#include "gateway/app/runtime.hpp"
#include "gateway/cli/version.hpp"
#include "gateway/pipeline/second_tier.hpp"

namespace idem::gateway::app {

namespace json = boost::json;
namespace net = upstream::net;

namespace {

json::object counters_of(const observe::metrics& m) {
    json::object outcomes, reasons;
    for (int i = 0; i <= static_cast<int>(outcome::bypass); ++i) {
        const auto o = static_cast<outcome>(i);
        outcomes[std::string(to_string(o))] = m.total(o);
    }
    for (int i = 1; i < static_cast<int>(reason::count_); ++i) {
        const auto r = static_cast<reason>(i);
        if (const std::uint64_t n = m.total(r); n != 0) reasons[std::string(to_string(r))] = n;
    }
    return {{"outcomes", std::move(outcomes)}, {"reasons", std::move(reasons)}};
}

template <class Stats>
json::object tier_of(std::string_view name, const Stats& s) {
    return {{"tier", name},
            {"entries", s.entries},
            {"bytes", s.bytes},
            {"capacity", s.capacity},
            {"evictions", s.evictions}};
}

}  // namespace

std::vector<admin::check> admin_view::ready() const {
    std::vector<admin::check> checks;
    checks.push_back({"serving", !of_.draining(), of_.draining() ? "draining" : ""});
    // A store that is out of order is told and does not fail readiness: requests are answered without it.
    if (const cache::store* second = of_.shared().second) {
        const cache::store_stats s = second->stats();
        checks.push_back({std::string(second->name()), true, s.state, s.state != "ok"});
    }
    checks.push_back(epochs());
    return checks;
}

admin::check admin_view::epochs() const {
    const cache::epochs& all = of_.shared().epochs;
    const std::vector<config::upstream_pool>& upstreams = of_.settings().upstreams;
    std::size_t known = 0;
    std::string troubles;
    bool barred = false;  // this gateway would not have the same keys as the others
    for (std::size_t i = 0; i < upstreams.size(); ++i) {
        known += all.get(i).has_value();
        const reason why = all.trouble(i);
        if (why == reason::none) continue;
        troubles.append("; upstream ").append(upstreams[i].name).append(": ");
        troubles +=
            why == reason::entry_unreadable ? "the store's record is damaged or of a newer format" : to_string(why);
        barred = barred || why == reason::secret_mismatch;
    }
    std::string detail = std::to_string(known) + " of " + std::to_string(upstreams.size()) + " known" + troubles;
    // Not before the store was asked once, so that the first callers find the cache at work; with Redis away they are
    // served all the same.
    return {"epochs", all.asked() && !barred, std::move(detail), !troubles.empty()};
}

std::string admin_view::metrics(bool open_metrics) const {
    return of_.metrics().scrape(open_metrics);
}

json::object admin_view::stats() const {
    pipeline::shared& shared = of_.shared();
    json::object out;
    out["version"] = cli::version();
    out["requests"] = counters_of(of_.metrics());
    json::array tiers;
    tiers.push_back(tier_of("memory", shared.memory.stats()));
    if (shared.second) {
        const cache::store_stats s = shared.second->stats();
        json::object second = tier_of(shared.second->name(), s);
        second["healthy"] = s.healthy;
        second["state"] = s.state;
        tiers.push_back(std::move(second));
    }
    out["tiers"] = std::move(tiers);
    out["flights"] = {{"running", shared.flights.size()}, {"followers", shared.flights.followers()}};
    std::uint64_t open = 0;
    for (const auto& w : of_.workers()) open += w->connections().open;
    out["connections"] = open;
    json::array upstreams;
    for (std::size_t i = 0; i < of_.settings().upstreams.size(); ++i) {
        json::object u{{"name", of_.settings().upstreams[i].name}, {"epoch", nullptr}};
        if (const auto epoch = shared.epochs.get(i)) u["epoch"] = to_hex(epoch->id.bytes);
        upstreams.push_back(std::move(u));
    }
    out["upstreams"] = std::move(upstreams);
    out["draining"] = of_.draining();
    return out;
}

net::task<admin::found> admin_view::find(cache::cache_key key) {
    pipeline::shared& shared = of_.shared();
    const cache::unix_ms now = pipeline::unix_ms_now();
    admin::found result;
    if (auto e = shared.memory.find(key, now)) {
        result = {admin::found::status::found, std::move(e), "memory", {}};
        co_return result;
    }
    if (!shared.second) co_return result;
    pipeline::checked_lookup looked = co_await pipeline::find_stored(shared, key, now);
    cache::lookup& got = looked.got;
    if (got.status == cache::lookup_status::found) {
        result = {admin::found::status::found, std::move(got.value), std::string(shared.second->name()), {}};
    } else if (got.status == cache::lookup_status::failed) {
        result.is = admin::found::status::failed;
        result.why = to_string(got.why);
    }
    co_return result;
}

// A ban for the copies that other gateways have; before it, so that what was there is told, and after it, for what came
// meanwhile.
net::task<admin::erased> admin_view::erase(cache::cache_key key) {
    admin::erased result = co_await erase_forms(key);
    const admin::order_result banned = co_await ban(cache::ban_kind::key, to_hex(key.value.bytes), true);
    const admin::erased again = co_await erase_forms(key);
    result.fill = result.fill || again.fill;
    if (again.is != admin::erased::status::absent) {
        result.is = again.is;
        result.why = again.why;
    }
    if (banned.status != 202) {
        result.is = admin::erased::status::failed;
        result.why = banned.detail;
    }
    co_return result;
}

// An answer and what stands beside it.
net::task<admin::erased> admin_view::erase_forms(cache::cache_key key) {
    using enum upstream::dialect::form;
    admin::erased result = co_await erase_one(key);
    for (const auto form : {json, sse, ndjson, json_base64}) {
        admin::erased beside = co_await erase_one(cache::key_beside(key, form));
        const bool fill = result.fill || beside.fill;
        if (beside.is == admin::erased::status::failed || result.is == admin::erased::status::absent)
            result = std::move(beside);
        result.fill = fill;
    }
    co_return result;
}

// The flight first: what it is about to store must find that it may not (pipeline/keep.cpp looks again after storing).
net::task<admin::erased> admin_view::erase_one(cache::cache_key key) {
    pipeline::shared& shared = of_.shared();
    admin::erased result;
    result.fill = shared.flights.invalidate(key);
    if (shared.memory.erase(key)) result.is = admin::erased::status::erased;
    if (!shared.second) co_return result;
    const cache::erase_status second = co_await shared.second->erase(key);
    // Whoever filled the memory tier from the second one meanwhile took a copy of what is gone now.
    if (shared.memory.erase(key)) result.is = admin::erased::status::erased;
    if (second == cache::erase_status::erased) result.is = admin::erased::status::erased;
    if (second == cache::erase_status::failed) {
        result.is = admin::erased::status::failed;
        result.why = "the entry is gone from memory, but the " + std::string(shared.second->name()) +
                     " store could not be asked";
    }
    co_return result;
}

}  // namespace idem::gateway::app
