#include "gateway/replicas/golden_form.hpp"

namespace idem::gateway::replicas {

namespace {

config::policy strict_policy() {
    config::policy p;
    p.name = p.base = "strict";
    p.conflict = config::policy::conflict_rule::override_value;
    return p;
}

}  // namespace

golden_form::golden_form(const upstream::engine::profile& engine)
    : strict_(engine.strict), policy_(strict_policy()), rules_(policy_, engine, {}) {}

bool golden_form::has(std::string_view path) const {
    const upstream::dialect::dialect* api = upstream::dialect::find("POST", path);
    return strict_ && api && rules_.refuses(*api) == reason::none;
}

std::string golden_form::warm(const upstream::determinism::golden_prompt& prompt) {
    if (!has(prompt.path)) return prompt.body;
    return rules_.changes()
        .apply(tools_, *upstream::dialect::find("POST", prompt.path), prompt.body)
        .text.value_or(prompt.body);
}

std::string golden_form::of(const upstream::determinism::golden_prompt& prompt) {
    std::string body = warm(prompt);
    if (!has(prompt.path)) return body;
    const upstream::dialect::dialect& api = *upstream::dialect::find("POST", prompt.path);
    if (!rules_.adds_when_sent(api)) return body;
    const digest request = sha256(body);
    return rules_.as_sent(std::move(body), api, request, random_id());
}

}  // namespace idem::gateway::replicas
