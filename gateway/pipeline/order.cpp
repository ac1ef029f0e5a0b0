#include "gateway/pipeline/order.hpp"

#include "gateway/pipeline/forward.hpp"

namespace idem::gateway::pipeline {

std::unique_ptr<fill_order> make_order(const services& at, const http::request_head& head, const prepared& p,
                                       std::string body, bool changed) {
    auto order = std::make_unique<fill_order>();
    static_cast<asked&>(*order) = p.as_asked();
    order->credential = p.credential;
    order->proves = p.proves;
    order->scope_tag = p.scope_tag;
    order->tags = cache::split_tags(p.controls.tags);
    order->lifetime = {std::chrono::milliseconds(p.route->policy->ttl_ms), at.common.plan.settings().cache.stale};
    order->ttl = p.controls.ttl;
    order->look_up = p.looks_up();
    order->items = p.items;
    order->only_stored = p.items && p.controls.only_if_cached;
    order->shared = !p.lone();
    upstream::client::credential& own = at.common.health[p.route->upstream->index]->credential;
    order->out = outgoing_of(head, own, at.common.via, true);
    order->target = target_of(p.target.empty() ? head.target : p.target, own);
    if (changed) forget_body(order->out.headers);
    const bool encoded = order->out.headers.find("content-encoding").has_value();
    if (p.call.wanted == upstream::dialect::form::sse && p.route->policy->settings->usage_inject && !encoded) {
        if (auto with_usage = p.api->ask_usage(body)) {
            body = std::move(*with_usage);
            order->hides_usage = !p.call.usage_asked;
        }
    }
    order->out.framing = upstream::http::body_framing::length;
    order->out.length = body.size();
    order->body = std::move(body);
    return order;
}

}  // namespace idem::gateway::pipeline
