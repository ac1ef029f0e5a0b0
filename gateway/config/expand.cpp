#include "gateway/config/expand.hpp"

namespace idem::gateway::config {

namespace {

bool valid_name(std::string_view name) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    for (const char c : name) {
        const bool word = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        if (!word) return false;
    }
    return true;
}

void expand_scalar(node& n, const environment_lookup& environment, std::vector<problem>& problems) {
    const std::string text = std::move(n.scalar);
    n.scalar.clear();
    std::size_t at = 0;
    while (true) {
        const auto dollar = text.find("${", at);
        if (dollar == std::string::npos) break;
        if (dollar > at && text[dollar - 1] == '$') {  // "$${": the dollar is meant
            n.scalar.append(text, at, dollar - 1 - at).append("${");
            at = dollar + 2;
            continue;
        }
        n.scalar.append(text, at, dollar - at);
        const auto end = text.find('}', dollar);
        if (end == std::string::npos) {
            problems.push_back({n.at, "`${` without `}`; write `$${` for a literal one"});
            return;
        }
        const std::string inside = text.substr(dollar + 2, end - dollar - 2);
        const auto split = inside.find(":-");
        const std::string name = inside.substr(0, split);
        if (!valid_name(name)) {
            problems.push_back({n.at, "`${" + inside + "}` does not name an environment variable"});
            return;
        }
        const auto value = environment(name);
        if (split != std::string::npos && (!value || value->empty())) {
            n.scalar += inside.substr(split + 2);
        } else if (value) {
            n.scalar += *value;
        } else {
            problems.push_back({n.at, "environment variable " + name + " is not set; set it, or write ${" + name +
                                          ":-} for an empty value"});
        }
        n.expanded = n.at.expanded = true;
        at = end + 1;
    }
    n.scalar.append(text, at);
}

}  // namespace

void expand_environment(node& root, const environment_lookup& environment, std::vector<problem>& problems) {
    if (root.is == node::shape::scalar && !root.literal) expand_scalar(root, environment, problems);
    for (auto& i : root.items) {
        expand_environment(i, environment, problems);
        // A list is as secret as its items; a mapping's members have places of their own.
        if (root.is == node::shape::sequence) root.at.expanded = root.at.expanded || i.expanded;
    }
}

}  // namespace idem::gateway::config
