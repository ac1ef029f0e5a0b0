#include "gateway/cli/key.hpp"

#include <boost/json.hpp>
#include <iostream>

#include "gateway/cli/asked.hpp"

namespace idem::gateway::cli {

namespace {

std::string as_json(const answer& a) {
    boost::json::object o{{"verdict", a.verdict},     {"reason", a.why},    {"dialect", a.dialect},
                          {"model", a.model},         {"digest", a.digest}, {"canonical", a.canonical},
                          {"forwarded", a.forwarded}, {"policy", a.policy}, {"key_version", cache::key_version}};
    if (a.seed != 0) o["seed"] = a.seed;
    if (!a.conflicts.empty()) o["conflicts"] = boost::json::array(a.conflicts.begin(), a.conflicts.end());
    if (!a.items.empty()) o["items"] = boost::json::array(a.items.begin(), a.items.end());
    return boost::json::serialize(o);
}

void print_table(const answer& a) {
    std::cout << "verdict    " << a.verdict << (a.why.empty() ? "" : ": " + a.why) << "\n"
              << "dialect    " << (a.dialect.empty() ? "none" : a.dialect) << "\n"
              << "model      " << (a.model.empty() ? "-" : a.model) << "\n"
              << "policy     " << (a.policy.empty() ? "-" : a.policy) << "\n";
    if (!a.digest.empty()) std::cout << "digest     " << a.digest << "\n";
    for (const std::string& conflict : a.conflicts) std::cout << "conflict   " << conflict << "\n";
    if (a.seed != 0) std::cout << "seed       " << a.seed << "\n";
    for (const std::string& item : a.items) std::cout << "item       " << item << "\n";
    if (!a.canonical.empty()) std::cout << "canonical  " << a.canonical << "\n";
    if (!a.forwarded.empty()) std::cout << "forwarded  " << a.forwarded << "\n";
}

// Each line is a body. With a digest or a reason for each, so that two implementations can be held side by side.
bool print_lines(questioner& q, std::string_view bodies, form output) {
    bool all = true;
    while (!bodies.empty()) {
        const std::size_t end = std::min(bodies.find('\n'), bodies.size());
        const answer a = q.ask(std::string(bodies.substr(0, end)));
        bodies.remove_prefix(std::min(end + 1, bodies.size()));
        std::cout << (output == form::json ? as_json(a) : a.digest.empty() ? a.why : a.digest) << "\n";
        all = all && !a.digest.empty();
    }
    return all;
}

}  // namespace

int run_key(const key_action& k) {
    auto q = questioner::make(k.about);
    if (!q) return 1;
    const auto body = read_body(k.file);
    if (!body) return 1;
    bool good = false;
    if (k.lines) {
        good = print_lines(*q, *body, k.output);
    } else {
        const answer a = q->ask(*body);
        if (k.output == form::json)
            std::cout << as_json(a) << "\n";
        else
            print_table(a);
        good = !a.digest.empty();
    }
    std::cout << std::flush;
    return good && std::cout ? 0 : 1;
}

}  // namespace idem::gateway::cli
