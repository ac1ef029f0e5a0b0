// Engines' rules on any body that the canonicaliser accepts: the result is accepted again, is bounded, keeps every rule
// (so nothing conflicts the second time, and nothing changes), and what no rule speaks of is what it was. The first
// byte chooses engine, API, policy and what is done about conflicts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/enforce.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/engine/profile.hpp"

namespace {

using namespace idem;
using cache::on_conflict;
using upstream::engine::request_form;
using upstream::engine::request_rule;

void check(bool holds) {
    if (!holds) std::abort();
}

std::vector<const request_form*> forms() {
    std::vector<const request_form*> out;
    for (const auto* p : upstream::engine::all()) {
        for (const request_form& f : p->requests) out.push_back(&f);
    }
    return out;
}

// The top-level members that no rule can mean, in their order, as written.
std::string untouched(std::string_view body, const request_form& form) {
    std::string out;
    upstream::dialect::json_members members(body);
    while (members.next()) {
        const bool named = members.key().find('\\') != std::string_view::npos || form.loose_names ||
                           std::ranges::any_of(form.rules, [&](const request_rule& r) {
                               const std::string_view first = r.at.substr(1, r.at.find('/', 1) - 1);
                               return members.key() == first;
                           });
        if (!named) out.append(members.key()).append("=").append(members.value()).append("\n");
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static cache::canonicalizer c;
    static cache::enforcer enforcer;
    static const std::vector<const request_form*> all = forms();
    if (size == 0) return 0;
    const request_form& form = *all[data[0] % all.size()];
    const auto when = (data[0] & 0x40U) != 0 ? request_rule::under::strict : request_rule::under::seeded;
    const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
    constexpr upstream::dialect::body_rules everything{};
    if (c.canonicalize(body, everything).why != reason::none) return 0;

    const cache::enforcement by(form.rules, when, form.loose_names);
    const auto allowed = enforcer.enforce(body, by, on_conflict::allow);
    const std::string weak(allowed.text.value_or(body));
    check(c.canonicalize(weak, everything).why == reason::none);
    check(untouched(weak, form).starts_with(untouched(body, form)));

    const auto first = enforcer.enforce(body, by, on_conflict::override_value);
    check(first.conflicts.size() == allowed.conflicts.size() && first.beyond_help == allowed.beyond_help);
    const std::string out(first.text.value_or(body));
    check(out.size() <= body.size() + 4096);
    check(c.canonicalize(out, everything).why == reason::none);
    check(untouched(out, form).starts_with(untouched(body, form)));
    const auto second = enforcer.enforce(out, by, on_conflict::reject);
    check(!second.text);
    check(second.conflicts.empty() || first.beyond_help);
    return 0;
}
