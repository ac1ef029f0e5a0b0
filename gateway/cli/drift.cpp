#include "gateway/cli/drift.hpp"

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <iostream>

#include "gateway/cli/admin_call.hpp"

namespace idem::gateway::cli {

namespace json = boost::json;

namespace {

// The whole ledger is read.
constexpr auto patience = std::chrono::minutes(10);

std::uint64_t figure(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    boost::system::error_code ec;
    return v ? v->to_number<std::uint64_t>(ec) : 0;
}

void print_table(const json::object& o) {
    const std::uint64_t prompts = figure(o, "prompts"), changed = figure(o, "changed");
    std::array<char, 32> share{};
    if (prompts > 0)
        std::snprintf(share.data(), share.size(), " (%.2f %%)",
                      100.0 * static_cast<double>(changed) / static_cast<double>(prompts));
    std::cout << "prompts answered in both epochs  " << prompts << "\n"
              << "  with another answer            " << changed << share.data() << "\n"
              << "    drift                        " << figure(o, "drifts") << "\n"
              << "    divergence                   " << figure(o, "divergences") << "\n"
              << "    variation                    " << figure(o, "variations") << "\n"
              << "in the first alone               " << figure(o, "only_from") << "\n"
              << "in the second alone              " << figure(o, "only_to") << "\n";
}

}  // namespace

int run_drift(const drift_action& a) {
    const std::string target = "/admin/v1/ledger/drift?from=" + escaped(a.before) + "&to=" + escaped(a.after);
    const admin_answer got = call_admin(a.where, "GET", target, {}, patience);
    const auto complain = [](const std::string& why) {
        std::cerr << "idem: " << why << "\n";
        return 1;
    };
    if (!got.trouble.empty()) return complain(got.trouble);
    if (got.status != 200) return complain(got.problem());
    boost::system::error_code ec;
    const json::value body = json::parse(got.body, ec);
    if (ec || !body.is_object()) return complain("the gateway's answer is not a JSON object");
    if (a.output == form::json)
        std::cout << got.body;
    else
        print_table(body.get_object());
    std::cout << std::flush;
    return std::cout ? 0 : 1;
}

}  // namespace idem::gateway::cli
