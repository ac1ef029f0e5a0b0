#include <algorithm>
#include <map>
#include <string>

#include "gateway/config/glob.hpp"
#include "gateway/config/pointers.hpp"
#include "gateway/config/validate_rules.hpp"

namespace idem::gateway::config::rules {

namespace {

class route_rules : validation {
public:
    using validation::validation;

    void run() {
        policies();
        routes();
    }

private:
    void policies() {
        for (const auto& p : c_.policies) {
            if (!plain_name(p.name))
                error("policies." + p.name, "not a name; expected up to 64 letters, digits and - _ . : /");
            const std::string at = "policies." + p.name + ".strip_pointers";
            for (const pointer_problem& found : problems_of(p.strip_pointers)) {
                found.fatal ? error(at, found.message) : warn(at, found.message);
            }
            if (p.base == "bypass" && p.changes_bodies())
                error("policies." + p.name,
                      "a policy that extends bypass forwards bodies as they are; leave out nfc, "
                      "collapse_whitespace, trim and strip_pointers, or extend relaxed");
        }
    }

    void routes() {
        std::vector<std::string> upstream_names, policy_names;
        for (const auto& u : c_.upstreams) upstream_names.push_back(u.name);
        for (const auto& p : c_.policies) policy_names.push_back(p.name);
        if (c_.routes.empty() && c_.upstreams.size() > 1 && !l_.said.contains("routes")) {
            error("routes", "none, and there are several upstreams; say which requests go where");
        }
        std::map<std::string, std::size_t> names;
        for (std::size_t i = 0; i < c_.routes.size(); ++i) {
            const auto& r = c_.routes[i];
            const auto at = indexed("routes", i);
            if (!plain_name(r.name)) {
                error(at + ".name",
                      "\"" + r.name + "\" is not a name; expected up to 64 letters, digits and - _ . : /");
            } else if (const auto [it, fresh] = names.emplace(r.name, i); !fresh) {
                error(at + ".name", "\"" + r.name + "\" is already the name of " + indexed("routes", it->second));
            }
            if (r.upstream.empty()) {
                if (c_.upstreams.size() > 1)
                    error(at + ".upstream", "missing, and there are several; known: " + list(upstream_names));
            } else {
                known(at + ".upstream", "upstream", r.upstream, upstream_names);
            }
            known(at + ".policy", "policy", r.policy, policy_names);
            for (const auto& [name, text] : r.headers) {
                if (!token_text(name)) error(at + ".match.header", "\"" + name + "\" is not a header name");
            }
            if (!r.path.empty() && r.path.front() != '/' && r.path.front() != '*') {
                error(at + ".match.path", "\"" + r.path + "\" matches no path; paths start with /");
            }
            for (std::size_t j = 0; j < i; ++j) {
                if (shadows(c_.routes[j], r)) {
                    error(at, "never reached: " + indexed("routes", j) + " (" + c_.routes[j].name +
                                  ") matches all of its requests first; put this one before it, or narrow the other");
                    break;
                }
            }
        }
    }

    static bool shadows(const route& first, const route& second) {
        if (!covers(first.path, second.path) || !covers(first.model, second.model)) return false;
        return std::all_of(first.headers.begin(), first.headers.end(), [&](const auto& h) {
            return std::any_of(second.headers.begin(), second.headers.end(), [&](const auto& o) {
                return lower(h.first) == lower(o.first) &&
                       (h.second == o.second || (!h.second.empty() && covers(h.second, o.second)));
            });
        });
    }
};

}  // namespace

void check_policies_and_routes(loaded& l, const std::string& file, const world& w) {
    route_rules(l, file, w).run();
}

}  // namespace idem::gateway::config::rules
