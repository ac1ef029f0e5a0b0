// What the admin API shows of replicas, and what it may order.
#include <algorithm>
#include <boost/json.hpp>

#include "gateway/app/admin_view.hpp"
#include "gateway/app/replica_side.hpp"
#include "gateway/app/runtime.hpp"
#include "gateway/config/text.hpp"
#include "gateway/observe/access_line.hpp"

namespace idem::gateway::app {

namespace json = boost::json;
namespace net = upstream::net;
namespace determinism = upstream::determinism;

namespace {

json::array facts_json(const determinism::environment& e) {
    json::array out;
    for (const determinism::fact& f : e.facts())
        out.push_back(json::object{{"name", f.name}, {"value", f.value}, {"provenance", to_string(f.from)}});
    return out;
}

json::object replica_json(const config::replica& r, const determinism::condition& c) {
    json::object o{{"id", r.id},
                   {"url", config::mask_url(r.url)},
                   {"state", to_string(c.state)},
                   {"why", to_string(c.why)},
                   {"detail", c.detail},
                   {"runs", c.runs},
                   {"flip_bound", determinism::flip_bound(c.runs)},
                   {"diverging", c.diverging},
                   {"fingerprint", c.fingerprint},
                   {"environment", c.facts ? json::value(to_hex(c.environment.bytes)) : json::value()},
                   {"facts", c.facts ? json::value(facts_json(*c.facts)) : json::value(json::array())}};
    o["since"] = nullptr;
    if (c.since != 0) {
        std::string text;
        observe::clock_text clock;
        observe::append_time(text, c.since * 1000, clock);
        o["since"] = text;
    }
    return o;
}

}  // namespace

json::object admin_view::replicas() const {
    pipeline::shared& shared = of_.shared();
    json::array upstreams;
    for (const pipeline::upstream_plan& u : shared.plan.upstreams()) {
        const determinism::roster& states = shared.health[u.index]->roster;
        json::array list;
        const std::vector<determinism::condition> all = states.all();
        for (std::size_t i = 0; i < all.size(); ++i) list.push_back(replica_json(u.settings->replicas[i], all[i]));
        json::object o{{"name", u.settings->name}, {"engine", u.settings->engine}, {"watched", u.watched}};
        const auto epoch = shared.epochs.get(u.index);
        o["epoch"] = epoch ? json::value(to_hex(epoch->id.bytes)) : json::value();
        o["environment"] = epoch ? json::value(to_hex(epoch->environment.bytes)) : json::value();
        o["replicas"] = std::move(list);
        upstreams.push_back(std::move(o));
    }
    return {{"upstreams", std::move(upstreams)}};
}

net::task<admin::order_result> admin_view::order(std::string upstream, std::string replica, std::string action) {
    const auto what = replicas::wish_from(action);
    if (!what) co_return admin::order_result{404, "no such order"};
    const pipeline::upstream_plan* found = nullptr;
    std::size_t index = 0;
    for (const pipeline::upstream_plan& u : of_.shared().plan.upstreams()) {
        if (!upstream.empty() && u.settings->name != upstream) continue;
        const auto at = std::ranges::find(u.settings->replicas, replica, &config::replica::id);
        if (at == u.settings->replicas.end()) continue;
        if (found)
            co_return admin::order_result{409,
                                          "several upstreams have a replica of this id: say which, ?upstream=NAME"};
        found = &u;
        index = static_cast<std::size_t>(at - u.settings->replicas.begin());
    }
    if (!found) co_return admin::order_result{404, "no upstream has a replica of this id"};
    replicas::keeper* keeper = of_.replicas().keeper_of(found->index);
    if (!keeper)
        co_return admin::order_result{409, "the replicas of upstream \"" + found->settings->name +
                                               "\" are not watched; set upstreams[].probe to on"};
    const bool written = co_await keeper->order(index, *what);
    if (!written) co_return admin::order_result{503, "the store could not be written"};
    co_return admin::order_result{};
}

json::object admin_view::divergences() const {
    return of_.shadow().divergences();
}

}  // namespace idem::gateway::app
