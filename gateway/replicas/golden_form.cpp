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

std::string golden_form::of(const upstream::determinism::golden_prompt& prompt) {
    const upstream::dialect::dialect* api = upstream::dialect::find("POST", prompt.path);
    if (!strict_ || !api || rules_.refuses(*api) != reason::none) return prompt.body;
    std::string body = rules_.changes().apply(tools_, *api, prompt.body).text.value_or(prompt.body);
    if (!rules_.adds_when_sent(*api)) return body;
    const digest request = sha256(body);
    return rules_.as_sent(std::move(body), *api, request, random_id());
}

}  // namespace idem::gateway::replicas
