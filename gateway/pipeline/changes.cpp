#include "gateway/pipeline/changes.hpp"

#include <algorithm>
#include <span>

#include "upstream/dialect/cache_member.hpp"

namespace idem::gateway::pipeline {

namespace {

using upstream::engine::request_rule;

cache::rewriting rewriting_of(const config::policy& policy, const upstream::dialect::body_rules& rules) {
    const cache::text_rules text{policy.nfc, policy.collapse_whitespace, policy.trim};
    std::vector<std::string> taken_out = policy.strip_pointers;
    const std::string_view control = upstream::dialect::cache_member;
    if (std::ranges::find(rules.ignored, control) != rules.ignored.end()) taken_out.emplace_back(control);
    return {cache::rule_set(taken_out, text.any() ? rules.prompt_text : std::span<const std::string_view>()), text};
}

cache::enforcement rules_of(const config::policy& policy, const upstream::engine::profile* engine,
                            const upstream::dialect::dialect& api, std::string_view model) {
    const auto* form = engine && policy.enforces() ? engine->form_of(api.name()) : nullptr;
    cache::enforcement made;
    if (form) {
        const auto when = policy.base == "strict" ? request_rule::under::strict : request_rule::under::seeded;
        made = cache::enforcement(form->rules, when, form->loose_names);
        if (when == request_rule::under::strict && !form->known.empty()) {
            made.know(form->known);
            made.know(api.rules().ignored);
        }
    }
    const bool in_path = api.with_model(api.normal_path(), model).has_value();
    if (!model.empty() && !in_path) made.rename_model(model);
    return made;
}

cache::on_conflict of_policy(const config::policy& policy) noexcept {
    switch (policy.conflict.value_or(config::policy::conflict_rule::reject)) {
        case config::policy::conflict_rule::override_value:
            return cache::on_conflict::override_value;
        case config::policy::conflict_rule::allow:
            return cache::on_conflict::allow;
        case config::policy::conflict_rule::reject:
            break;
    }
    return cache::on_conflict::reject;
}

}  // namespace

body_changes::body_changes(const config::policy& policy, const upstream::engine::profile* engine,
                           std::string_view model)
    : asked_for_(policy.changes_bodies() || policy.enforces() || !model.empty()),
      takes_nonces_(policy.changes_bodies() || policy.enforces()),
      on_conflict_(of_policy(policy)) {
    for (const upstream::dialect::dialect* api : upstream::dialect::all())
        of_.push_back({rewriting_of(policy, api->rules()), rules_of(policy, engine, *api, model)});
}

body_changes::body_changes(std::string_view model) : body_changes(config::policy{}, nullptr, model) {}

changed_body body_changes::apply(body_tools& by, const upstream::dialect::dialect& api, std::string_view body) const {
    const auto all = upstream::dialect::all();
    const of_dialect& what = of_[static_cast<std::size_t>(std::ranges::find(all, &api) - all.begin())];
    changed_body out;
    const auto now = [&] { return out.text ? std::string_view(*out.text) : body; };
    // First of all: a normalised line would be no nonce any more, or prose might become one.
    if (takes_nonces_) out.text = api.without_nonces(body);
    if (const auto rest = by.rewriter.rewrite(now(), what.rewriting)) out.text = std::string(*rest);
    if (what.rules.idle()) return out;
    auto kept = by.enforcer.enforce(now(), what.rules, on_conflict_);
    out.conflicts = std::move(kept.conflicts);
    out.refused = !out.conflicts.empty() && (on_conflict_ == cache::on_conflict::reject ||
                                             (on_conflict_ == cache::on_conflict::override_value && kept.beyond_help));
    out.weakened = (!out.conflicts.empty() && on_conflict_ == cache::on_conflict::allow) || kept.unknown;
    if (kept.text) out.text = std::string(*kept.text);
    return out;
}

}  // namespace idem::gateway::pipeline
