#include "gateway/pipeline/changes.hpp"

#include <algorithm>
#include <span>

#include "upstream/dialect/cache_member.hpp"

namespace idem::gateway::pipeline {

namespace {

cache::rewriting rewriting_of(const config::policy& policy, const upstream::dialect::body_rules& rules) {
    const cache::text_rules text{policy.nfc, policy.collapse_whitespace, policy.trim};
    std::vector<std::string> taken_out = policy.strip_pointers;
    const std::string_view control = upstream::dialect::cache_member;
    if (std::ranges::find(rules.ignored, control) != rules.ignored.end()) taken_out.emplace_back(control);
    return {cache::rule_set(taken_out, text.any() ? rules.prompt_text : std::span<const std::string_view>()), text};
}

}  // namespace

body_changes::body_changes(const config::policy& policy) : asked_for_(policy.changes_bodies()) {
    for (const upstream::dialect::dialect* api : upstream::dialect::all())
        of_.push_back(rewriting_of(policy, api->rules()));
}

std::optional<std::string> body_changes::apply(cache::rewriter& by, const upstream::dialect::dialect& api,
                                               std::string_view body) const {
    const auto all = upstream::dialect::all();
    const auto at = std::ranges::find(all, &api) - all.begin();
    // First of all: a normalised line would be no nonce any more, or prose might become one.
    std::optional<std::string> out;
    if (asked_for_) out = api.without_nonces(body);
    if (const auto rest = by.rewrite(out ? std::string_view(*out) : body, of_[static_cast<std::size_t>(at)]))
        out = std::string(*rest);
    return out;
}

}  // namespace idem::gateway::pipeline
