#include "gateway/pipeline/again.hpp"

#include "gateway/shadow/desk.hpp"

namespace idem::gateway::pipeline {

namespace {

std::int64_t steady_ms(net::time_point now) noexcept {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
}

}  // namespace

bool run_again(services& at, const route_plan& route, reason keep_out) noexcept {
    const config::shadow_rules& rules = route.policy->settings->shadow;
    if (rules.rate == 0 || route.offline || keep_out != reason::none || !at.dice.hit(rules.rate)) return false;
    return at.common.shadow &&
           at.common.shadow->affords(route.upstream->index, rules.per_minute, steady_ms(net::clock::now()));
}

void leave_hit(services& at, preparer& by, const http::request_head& head, const prepared& p, std::string_view body,
               const cache::entry_ptr& stored) {
    auto changed = by.forwarded(p, head, body);
    const bool differs = changed.has_value();
    auto order = make_order(at, head, p, differs ? std::move(*changed) : std::string(body), differs);
    at.common.shadow->offer({std::move(order), stored, nullptr, net::clock::now()});
}

void leave_fill(services& at, std::unique_ptr<fill_order> order, const cache::conclusion& end) {
    if (!at.common.shadow || !end.answer || at.ending) return;
    const net::time_point now = net::clock::now();
    if (order->refresh != reason::none) {
        // Computed anew although there is an answer: that is compared as it is, whatever the rate.
        if (end.why != reason::refreshed && end.why != reason::lost_race_differs) return;
        cache::entry_ptr stored = at.common.memory.find(order->key, unix_ms_now());
        if (stored && stored->fill != end.answer->fill)
            at.common.shadow->offer({std::move(order), std::move(stored), end.answer, now});
        return;
    }
    if (end.stored && run_again(at, *order->route, order->keep_out))
        at.common.shadow->offer({std::move(order), end.answer, nullptr, now});
}

}  // namespace idem::gateway::pipeline
