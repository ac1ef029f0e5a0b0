#include "gateway/pipeline/treatment.hpp"

#include <algorithm>
#include <set>

#include "cache/request/enforce.hpp"
#include "cache/request/key.hpp"
#include "upstream/engine/effect.hpp"

namespace idem::gateway::pipeline {

using upstream::engine::request_form;
using upstream::engine::request_rule;

namespace {

std::size_t place_of(const upstream::dialect::dialect& api) noexcept {
    return static_cast<std::size_t>(std::ranges::find(upstream::dialect::all(), &api) -
                                    upstream::dialect::all().begin());
}

std::string_view word_of(request_rule::kind is) noexcept {
    switch (is) {
        case request_rule::kind::set:
            return "set";
        case request_rule::kind::neutralise:
            return "neutralise";
        case request_rule::kind::supply:
            return "supply";
        case request_rule::kind::forbid:
            return "forbid";
        case request_rule::kind::single:
            return "single";
        case request_rule::kind::turns:
            return "turns";
        case request_rule::kind::apart:
            return "apart";
    }
    return {};
}

std::string_view word_of(config::policy::conflict_rule how) noexcept {
    switch (how) {
        case config::policy::conflict_rule::reject:
            return "reject";
        case config::policy::conflict_rule::override_value:
            return "override";
        case config::policy::conflict_rule::allow:
            return "allow";
    }
    return {};
}

// The rules that hold, and how the engine starts and samples.
void add_rules(std::vector<std::string>& said, const config::policy& policy, const request_form& form) {
    const auto when = policy.base == "strict" ? request_rule::under::strict : request_rule::under::seeded;
    for (const request_rule& r : form.rules) {
        if (r.when != when && r.when != request_rule::under::both) continue;
        std::string line(word_of(r.is));
        line.append(":").append(r.at);
        if (!r.value.empty()) line.append("=").append(r.value);
        said.push_back(std::move(line));
    }
    if (when == request_rule::under::seeded) said.push_back("seed:" + std::string(form.seed));
    if (when == request_rule::under::strict) said.emplace_back(form.salt.empty() ? "reset:rules" : "reset:salt");
}

}  // namespace

treatment::treatment(const config::policy& policy, const upstream::engine::profile& engine, std::string_view model)
    : policy_(policy), engine_(engine), changes_(policy, &engine, model), least_(model), renames_(!model.empty()) {
    for (const upstream::dialect::dialect* api : upstream::dialect::all()) {
        const auto made = [&](bool weakened) {
            const std::vector<std::string> said = treatment_statements(policy, engine, api->name(), weakened);
            const std::vector<std::string_view> statements(said.begin(), said.end());
            return cache::treatment_digest(statements);
        };
        of_.push_back({made(false), made(true)});
    }
}

bool treatment::enforces(const upstream::dialect::dialect& api) const noexcept {
    return policy_.enforces() && upstream::engine::samples(api.name());
}

bool treatment::has(const request_form& form) const noexcept {
    return policy_.base == "strict" ? engine_.strict && form.strict : engine_.seeds && !form.seed.empty();
}

reason treatment::refuses(const upstream::dialect::dialect& api) const noexcept {
    if (!enforces(api)) return reason::none;
    const request_form* form = engine_.form_of(api.name());
    return form && has(*form) ? reason::none : reason::no_deterministic_form;
}

reason treatment::refuses(std::string_view method, std::string_view path, bool upgrade) const {
    if (!policy_.enforces()) return reason::none;
    const bool changes =
        upgrade || upstream::engine::effect_of(engine_, method, path) == upstream::engine::effect::changes;
    return changes ? reason::no_deterministic_form : reason::none;
}

std::string treatment::deterministic_forms() const {
    std::string out;
    for (const request_form& form : engine_.requests) {
        if (!has(form)) continue;
        for (const char c : (out.empty() ? "" : "|") + std::string(form.dialects)) {
            if (c == '|') {
                out += ", ";
            } else {
                out += c;
            }
        }
    }
    return out;
}

digest treatment::of(const upstream::dialect::dialect& api, bool weakened) const noexcept {
    const digests& d = of_[place_of(api)];
    return weakened ? d.weakened : d.plain;
}

bool treatment::adds_when_sent(const upstream::dialect::dialect& api) const noexcept {
    const request_form* form = enforces(api) ? engine_.form_of(api.name()) : nullptr;
    return form && !(policy_.base == "strict" ? form->salt : form->seed).empty();
}

std::string treatment::as_sent(std::string body, const upstream::dialect::dialect& api, const digest& request,
                               const id128& salt) const {
    if (!adds_when_sent(api)) return body;
    const request_form& form = *engine_.form_of(api.name());
    if (policy_.base == "strict")
        return cache::with_member(body, form.salt, "\"" + to_hex(salt.bytes) + "\"", false, form.loose_names);
    const std::string seed = std::to_string(cache::derived_seed(request));
    return cache::with_member(body, form.seed, seed, true, form.loose_names);
}

std::vector<std::string> treatment_statements(const config::policy& policy, const upstream::engine::profile& engine,
                                              std::string_view dialect, bool weakened) {
    // Relaxed changes nothing but usage, which reaches no answer's content: turning its injection on or off is the same
    // treatment and loses no entry. The engine counts only where its rules do.
    std::vector<std::string> said = {"policy:" + policy.base,
                                     policy.base == "strict" && !weakened ? "guarantee:strict" : "guarantee:none"};
    if (policy.enforces()) {
        said.push_back("engine:" + std::string(engine.name));
        said.push_back("conflict:" +
                       std::string(word_of(policy.conflict.value_or(config::policy::conflict_rule::reject))));
        if (weakened) said.emplace_back("weakened");
        if (const request_form* form = engine.form_of(dialect)) add_rules(said, policy, *form);
    }
    if (policy.nfc) said.emplace_back("normalise:nfc");
    if (policy.collapse_whitespace) said.emplace_back("normalise:collapse_whitespace");
    if (policy.trim) said.emplace_back("normalise:trim");
    const std::set<std::string> stripped(policy.strip_pointers.begin(), policy.strip_pointers.end());
    for (const std::string& pointer : stripped) said.push_back("strip:" + pointer);
    return said;
}

}  // namespace idem::gateway::pipeline
