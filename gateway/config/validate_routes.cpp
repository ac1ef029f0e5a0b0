#include <algorithm>
#include <map>
#include <string>

#include "gateway/config/glob.hpp"
#include "gateway/config/pointers.hpp"
#include "gateway/config/validate_rules.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/engine/profile.hpp"

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
            changes_of(p);
            if (p.conflict && !p.enforces()) {
                error("policies." + p.name + ".conflict",
                      "has no effect: only policies that extend strict or seeded fix parameters");
            }
            if (!p.of.empty()) answers_of(p);
            shadow_of(p);
            if (p.receipts && (p.base == "bypass" || p.base == "offline"))
                error("policies." + p.name + ".receipts",
                      "has no effect: a policy that extends " + p.base + " stores nothing" +
                          (p.base == "offline" ? "; put it into the policy that `of` names" : ""));
        }
    }

    void shadow_of(const policy& p) {
        const std::string at = "policies." + p.name + ".shadow";
        for (const std::string& word : p.shadow.targets) {
            if (word != "same" && word != "sibling")
                error(at + ".targets", "\"" + word + "\" is not accepted; expected same, sibling or both");
        }
        if (p.shadow.rate > 0 && (p.base == "bypass" || p.base == "offline"))
            error(at + ".rate", "has no effect: a policy that extends " + p.base + " computes nothing that is kept");
    }

    void changes_of(const policy& p) {
        if (!p.changes_bodies()) return;
        if (p.base == "bypass") {
            error("policies." + p.name,
                  "a policy that extends bypass forwards bodies as they are; leave out nfc, collapse_whitespace, trim "
                  "and strip_pointers, or extend relaxed");
        } else if (p.base == "offline") {
            error("policies." + p.name,
                  "a policy that extends offline treats requests as the one does whose answers it gives; put nfc, "
                  "collapse_whitespace, trim and strip_pointers into the policy that `of` names");
        }
    }

    void answers_of(const policy& p) {
        const std::string at = "policies." + p.name + ".of";
        if (p.base != "offline") {
            error(at, "has no effect: only policies that extend offline give another policy's answers");
            return;
        }
        const policy* answers = find(p.of);
        if (answers == nullptr) {
            known(at, "policy", p.of, names_of(c_.policies));
        } else if (answers->base == "offline" || answers->base == "bypass") {
            error(at, "\"" + p.of +
                          "\" stores nothing, so there is nothing to answer; name a policy that extends "
                          "relaxed, seeded or strict");
        }
    }

    const policy* find(const std::string& name) const {
        const auto it =
            std::find_if(c_.policies.begin(), c_.policies.end(), [&](const policy& p) { return p.name == name; });
        return it == c_.policies.end() ? nullptr : &*it;
    }

    template <class Named>
    static std::vector<std::string> names_of(const std::vector<Named>& all) {
        std::vector<std::string> names;
        for (const auto& n : all) names.push_back(n.name);
        return names;
    }

    // What the route's engine has no way to do. `p` is the policy whose treatment counts, `asked` the route's.
    void engine_can(const std::string& at, const route& r, const policy& p, const std::string& asked) {
        const auto u = std::find_if(c_.upstreams.begin(), c_.upstreams.end(),
                                    [&](const upstream_pool& pool) { return pool.name == r.upstream; });
        if (u == c_.upstreams.end()) return;
        const auto* engine = upstream::engine::find(u->engine);
        if (engine == nullptr) return;  // reported where it was said
        const std::string who = "\"" + asked + "\" is " + p.base + ", and upstream \"" + u->name + "\" ";
        const std::string milder = engine->seeds ? "use seeded or relaxed" : "use relaxed";
        if (p.base == "strict" && !engine->strict) {
            if (engine->hosted) {
                error(at, who + "is hosted (" + u->engine + "): nobody can lock or reset what runs there; " + milder);
            } else if (engine == &upstream::engine::generic) {
                error(at, who +
                              "names no engine, so how its answers repeat is not known; say upstreams[].engine "
                              "(vllm, sglang and llamacpp have strict), or " +
                              milder);
            } else {
                error(at, who + "runs " + u->engine +
                              ", which no request brings to a known state; serve the model with vllm, sglang or "
                              "llamacpp, or " +
                              milder);
            }
        } else if (p.base == "seeded" && !engine->seeds) {
            error(at, who +
                          (engine == &upstream::engine::generic
                               ? std::string("names no engine; say upstreams[].engine, or ")
                               : "runs " + u->engine + ", where a request has no random generator of its own; ") +
                          milder);
        }
    }

    // What contradicts a strict route in the settings of its upstream.
    void strict_room(const std::string& at, const route& r) {
        const auto u = std::ranges::find(c_.upstreams, r.upstream, &upstream_pool::name);
        if (u == c_.upstreams.end()) return;
        const std::string path = indexed("upstreams", static_cast<std::size_t>(u - c_.upstreams.begin()));
        if (u->probe == upstream_pool::watching::off) {
            warn(path + ".probe", "is off, and " + at +
                                      " is strict: no replica is ever looked at, so nothing is guaranteed; set it to "
                                      "auto or on");
        }
        if (u->pin_by == upstream_pool::pinning::none) {
            error(path + ".pin_by", "is none, and " + at +
                                        " is strict: a request has to come to the same replica each time; "
                                        "set it to request or prefix");
        }
        using rule = concurrency::rule;
        const auto* engine = upstream::engine::find(u->engine);
        const bool serial =
            u->concurrency.mode == rule::serial || (u->concurrency.mode == rule::automatic && engine &&
                                                    engine->concurrency == upstream::engine::concurrency_mode::serial);
        if (serial && !u->exclusive) {
            warn(path + ".exclusive",
                 "is false, and " + at +
                     " is strict on replicas that work on one call at a time: others "
                     "may call them, too, so nothing is guaranteed; set it to true if nobody else does");
        }
    }

    void treatment(const std::string& at, const route& r) {
        const policy* p = find(r.policy);
        if (p == nullptr) return;
        if (p->base == "strict") strict_room(at + ".policy", r);
        const policy* answers = p->base == "offline" ? find(p->of.empty() ? "relaxed" : p->of) : p;
        if (answers != nullptr) engine_can(at + ".policy", r, *answers, r.policy);
        if (!r.rename.empty() && (r.rename.size() > 256 || !printable(r.rename)))
            error(at + ".model", "is not the name of a model: up to 256 characters without control characters");
    }

    static bool printable(const std::string& text) {
        return std::all_of(text.begin(), text.end(),
                           [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
    }

    void routes() {
        const auto upstream_names = names_of(c_.upstreams), policy_names = names_of(c_.policies);
        // Where something else is said there it may be that alone which is wrong; an empty list is none.
        const bool none = !l_.said.contains("routes") || l_.errors.empty();
        if (c_.routes.empty() && c_.upstreams.size() > 1 && none) {
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
            treatment(at, r);
            if (!r.dialect.empty() && dialects_of(r).empty()) {
                error(at + ".match.dialect",
                      "\"" + r.dialect + "\" matches no API; known: " + list(dialects_of(route{})));
            }
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

    // The APIs that a route takes. There are few, so they are counted and not compared as patterns.
    static std::vector<std::string> dialects_of(const route& r) {
        std::vector<std::string> out;
        const auto take = [&](std::string_view name) {
            if (r.dialect.empty() || glob_match(r.dialect, name)) out.emplace_back(name);
        };
        for (const auto* d : upstream::dialect::all()) take(d->name());
        take(passthrough);
        return out;
    }

    static bool shadows(const route& first, const route& second) {
        if (!covers(first.path, second.path) || !covers(first.model, second.model)) return false;
        const auto few = dialects_of(second), many = dialects_of(first);
        const auto taken = [&](const std::string& d) { return std::find(many.begin(), many.end(), d) != many.end(); };
        if (!std::all_of(few.begin(), few.end(), taken)) return false;
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
