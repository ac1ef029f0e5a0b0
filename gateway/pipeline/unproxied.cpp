#include "gateway/pipeline/unproxied.hpp"

namespace idem::gateway::pipeline {

refusal unproxied(const plan& routes, const route_plan& usual, const upstream::http::request_head& head,
                  const upstream::dialect::dialect* api, reason why) {
    const auto asked = head.headers.find("idem-policy");
    const route_plan* route = asked ? routes.under(usual, *asked) : &usual;
    if (!route) return {reason::bad_control, "Idem-Policy: this route does not offer the policy asked for"};
    if (route->offline) return {reason::offline};
    if (api) return {route->treatment->enforces(*api) ? why : reason::none};
    const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
    const reason refused = route->treatment->refuses(head.method, path, head.upgrade);
    if (refused == reason::none) return {};
    std::string detail =
        "the policy \"" + std::string(route->asked) + "\" answers calls that it can hold to its rules (";
    detail.append(route->treatment->deterministic_forms()).append(") and passes on what only reads; ");
    detail.append(head.method)
        .append(" ")
        .append(path)
        .append(" is neither: give such calls a route of their own, under relaxed");
    return {refused, std::move(detail)};
}

}  // namespace idem::gateway::pipeline
