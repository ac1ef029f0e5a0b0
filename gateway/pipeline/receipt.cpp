#include "gateway/pipeline/receipt.hpp"

#include <algorithm>

#include "upstream/base/base64.hpp"

namespace idem::gateway::pipeline {

namespace {

bool issues(const shared& common, const route_plan* route) noexcept {
    return common.receipts && route && route->policy->settings->receipts;
}

// The facts of the replica that computed it, as they were read last.
std::shared_ptr<const upstream::determinism::environment> facts_of(const shared& common, const upstream_plan& of,
                                                                   std::string_view replica) {
    const upstream::determinism::roster& states = common.health[of.index]->roster;
    if (!states.watched()) return nullptr;
    const auto& replicas = of.settings->replicas;
    const auto at = std::ranges::find(replicas, replica, &config::replica::id);
    return at == replicas.end() ? nullptr : states.get(static_cast<std::size_t>(at - replicas.begin())).facts;
}

}  // namespace

receipts::book* receipt_wanted(const shared& common, const route_plan& route,
                               const upstream::http::fields& headers) noexcept {
    if (!issues(common, &route)) return nullptr;
    const auto asked = headers.find("idem-receipt");
    return asked && upstream::http::iequals(*asked, "request") ? common.receipts : nullptr;
}

net::task<std::string> receipt_field(receipts::book& from, cache::entry_ptr answer) {
    const std::string text = co_await from.find(answer->key, answer->fill);
    std::string value = base64_of(text);
    if (value.size() > longest_receipt_field) value.clear();
    co_return value;
}

void issue_receipt(services& at, const asked& order, const cache::entry_ptr& answer) {
    if (!issues(at.common, order.route)) return;
    receipts::circumstances about;
    about.policy = order.route->policy->settings->name;
    about.treatment = order.route->treatment->of(*order.api, order.weakened);
    about.facts = facts_of(at.common, *order.route->upstream, answer->replica);
    at.common.receipts->issue(answer, std::move(about));
}

void record_serving(services& at, const finished& f) {
    if (!issues(at.common, f.route) || !f.answer || f.status != 200) return;
    receipts::serve_record r;
    r.answer = f.answer;
    const std::string_view id = f.request_id.substr(0, r.request_id.size() - 1);
    std::ranges::copy(id, r.request_id.begin());
    r.policy = f.route->policy->settings->name;
    r.what = f.what;
    r.aborted = f.aborted;
    r.at = unix_ms_now();
    at.common.receipts->served(std::move(r));
}

}  // namespace idem::gateway::pipeline
