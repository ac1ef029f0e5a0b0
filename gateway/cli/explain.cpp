#include "gateway/cli/explain.hpp"

#include <boost/json.hpp>
#include <iostream>

#include "cache/request/difference.hpp"
#include "gateway/cli/asked.hpp"

namespace idem::gateway::cli {

namespace {

constexpr std::size_t shown = 60;  // bytes of a value in the table

std::string_view name_of(cache::difference::kind what) noexcept {
    switch (what) {
        case cache::difference::kind::changed:
            return "changed";
        case cache::difference::kind::only_in_a:
            return "only in A";
        case cache::difference::kind::only_in_b:
            return "only in B";
        case cache::difference::kind::order:
            return "order of keys";
    }
    return {};
}

std::string shortened(std::string_view value) {
    if (value.size() <= shown) return std::string(value);
    std::size_t end = shown;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
    return std::string(value.substr(0, end)) + "… (" + std::to_string(value.size()) + " bytes)";
}

boost::json::object as_json(const answer& a) {
    return {{"verdict", a.verdict}, {"reason", a.why},    {"dialect", a.dialect},    {"model", a.model},
            {"policy", a.policy},   {"digest", a.digest}, {"canonical", a.canonical}};
}

std::string verdict_of(const answer& a) {
    return a.verdict + (a.why.empty() ? "" : ": " + a.why) + (a.digest.empty() ? "" : "  " + a.digest);
}

void print_json(const answer& a, const answer& b, bool same, const cache::differences& found) {
    boost::json::array list;
    for (const cache::difference& d : found.list)
        list.push_back(boost::json::object{{"pointer", d.pointer}, {"what", name_of(d.what)}, {"a", d.a}, {"b", d.b}});
    const boost::json::object out{
        {"same", same}, {"a", as_json(a)}, {"b", as_json(b)}, {"differences", std::move(list)}, {"more", found.more}};
    std::cout << boost::json::serialize(out) << "\n";
}

void print_table(const answer& a, const answer& b, bool same, const cache::differences& found) {
    std::cout << "A          " << verdict_of(a) << "\n"
              << "B          " << verdict_of(b) << "\n"
              << "same       " << (same ? "yes: one answer serves both" : "no") << "\n";
    if (a.policy != b.policy) std::cout << "policy     " << a.policy << " / " << b.policy << "\n";
    for (const cache::difference& d : found.list) {
        std::cout << name_of(d.what) << "  " << (d.pointer.empty() ? "(the whole body)" : d.pointer) << "\n";
        if (d.what == cache::difference::kind::order) continue;
        if (!d.a.empty()) std::cout << "  A: " << shortened(d.a) << "\n";
        if (!d.b.empty()) std::cout << "  B: " << shortened(d.b) << "\n";
    }
    if (found.more) std::cout << "and more\n";
}

}  // namespace

int run_explain(const explain_action& e) {
    auto q = questioner::make(e.about);
    if (!q) return 1;
    const auto first = read_body(e.a);
    if (!first) return 1;
    const auto second = read_body(e.b);
    if (!second) return 1;
    const answer a = q->ask(*first);
    const answer b = q->ask(*second);
    const bool same = !a.digest.empty() && a.digest == b.digest;
    cache::differences found;
    if (!a.canonical.empty() && !b.canonical.empty()) found = cache::compare_canonical(a.canonical, b.canonical);
    if (e.output == form::json)
        print_json(a, b, same, found);
    else
        print_table(a, b, same, found);
    std::cout << std::flush;
    return same && std::cout ? 0 : 1;
}

}  // namespace idem::gateway::cli
