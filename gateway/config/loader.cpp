#include "gateway/config/loader.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "gateway/config/fill.hpp"
#include "gateway/config/schema.hpp"
#include "gateway/config/text.hpp"
#include "gateway/config/validate.hpp"

namespace idem::gateway::config {

namespace {

void set_member(node& mapping, node member) {
    if (node* there = mapping.find(member.name)) {
        *there = std::move(member);
    } else {
        mapping.items.push_back(std::move(member));
    }
}

void take_shortcut(node& root, const shortcut& s, std::vector<problem>& errors) {
    const place at{s.label, 0, 0};
    set_member(root, {.is = node::shape::sequence, .at = at, .name = "upstreams"});
    set_member(root, {.is = node::shape::sequence, .at = at, .name = "routes"});
    apply(root, {"upstreams.0.name", "default", s.label}, errors);
    apply(root, {"upstreams.0.replicas.0.url", s.url, s.label}, errors);
    if (!s.engine.empty()) apply(root, {"upstreams.0.engine", s.engine, "--engine"}, errors);
}

// The policies of the file on top of the built-in ones. `extends` may name a later policy.
class policy_resolver {
public:
    policy_resolver(const node* named, filler& f, loaded& out) : named_(named), filler_(f), out_(out) {
        for (const std::string_view name : built_in) {
            policy& p = out_.value.policies.emplace_back();
            p.name = p.base = name;
        }
    }

    void run() {
        if (named_ == nullptr || named_->is == node::shape::null) return;
        if (named_->is != node::shape::mapping) {
            out_.errors.push_back({named_->at, "policies: expected a mapping of names to policies"});
            return;
        }
        for (const auto& n : named_->items) {
            if (is_built_in(n.name)) {
                out_.errors.push_back({n.at, "policies." + n.name +
                                                 ": this name is built in; choose another and say `extends: " + n.name +
                                                 "`"});
            } else {
                static_cast<void>(resolve(n.name, n.at, {}));
            }
        }
    }

private:
    static constexpr std::string_view built_in[] = {"relaxed", "seeded", "strict", "offline", "bypass"};
    static bool is_built_in(std::string_view name) {
        return std::find(std::begin(built_in), std::end(built_in), name) != std::end(built_in);
    }

    // By value: the vector may grow.
    std::optional<policy> resolve(const std::string& name, const place& asked, std::vector<std::string> open) {
        for (const auto& p : out_.value.policies) {
            if (p.name == name) return p;
        }
        const node* n = named_->find(name);
        if (n == nullptr) {
            out_.errors.push_back({asked, "policies." + open.back() + ".extends: there is no policy \"" + name +
                                              "\"; known: " + known()});
            return std::nullopt;
        }
        if (std::find(open.begin(), open.end(), name) != open.end()) {
            out_.errors.push_back(
                {asked, "policies." + open.back() + ".extends: \"" + name + "\" extends itself in a circle"});
            return std::nullopt;
        }
        open.push_back(name);
        policy p;
        p.name = p.base = "relaxed";
        if (const node* extends = n->find("extends"); extends != nullptr && extends->is == node::shape::scalar) {
            const auto base = resolve(extends->scalar, extends->at, open);
            if (base) p = *base;
        }
        const std::string base = p.base;
        p.above.insert(p.above.begin(), p.name);
        if (n->is == node::shape::mapping) {
            filler_.fill(*n, policy_section(), &p, "policies." + name);
        } else if (n->is != node::shape::null) {
            out_.errors.push_back({n->at, "policies." + name + ": expected a mapping"});
        }
        p.name = name;
        p.base = base;
        out_.said["policies." + name] = n->at;
        out_.value.policies.push_back(p);
        return p;
    }

    std::string known() const {
        std::string out;
        for (const std::string_view name : built_in) out += (out.empty() ? "" : ", ") + std::string(name);
        for (const auto& n : named_->items) {
            if (!is_built_in(n.name)) out += ", " + n.name;
        }
        return out;
    }

    const node* named_;
    filler& filler_;
    loaded& out_;
};

void complete(loaded& out) {
    auto& c = out.value;
    if (!out.said.contains("cache.embedded.path")) c.cache.embedded_path = c.data;
    if (c.receipts.key_file.empty()) c.receipts.key_file = c.data + "/receipts/key.pem";
    if (c.receipts.heads_file.empty()) c.receipts.heads_file = c.data + "/receipts/heads.jsonl";
    for (auto& u : c.upstreams) {
        for (std::size_t i = 0; i < u.replicas.size(); ++i) {
            if (u.replicas[i].id.empty()) u.replicas[i].id = "r" + std::to_string(i + 1);
        }
    }
    if (c.routes.empty() && c.upstreams.size() == 1) c.routes.emplace_back();
    for (std::size_t i = 0; i < c.routes.size(); ++i) {
        auto& r = c.routes[i];
        if (r.name.empty()) r.name = "route-" + std::to_string(i + 1);
        if (r.upstream.empty() && c.upstreams.size() == 1) r.upstream = c.upstreams.front().name;
    }
}

}  // namespace

loaded load(const input& in, const world& w) {
    loaded out;
    node root = parse_yaml(in.text, in.name, out.errors);
    const bool broken = !out.errors.empty() && root.items.empty();
    expand_environment(root, w.environment, out.errors);
    if (in.upstream) take_shortcut(root, *in.upstream, out.errors);
    for (const auto& s : in.settings) apply(root, s, out.errors);

    filler f(w, out.errors, out.said);
    f.fill(root, schema(), &out.value, "");
    policy_resolver(root.find("policies"), f, out).run();
    complete(out);
    // After a syntax error at the top everything else would be noise.
    if (!broken) validate(out, in.name, w);

    const auto order = [&](const problem& a, const problem& b) {
        // The file first, then what it names, then flags and variables.
        const bool ours_a = a.at.source == in.name, ours_b = b.at.source == in.name;
        if (ours_a != ours_b) return ours_a;
        if ((a.at.line == 0) != (b.at.line == 0)) return a.at.line != 0;
        return std::tie(a.at.source, a.at.line, a.at.column, a.message) <
               std::tie(b.at.source, b.at.line, b.at.column, b.message);
    };
    std::sort(out.errors.begin(), out.errors.end(), order);
    std::sort(out.warnings.begin(), out.warnings.end(), order);
    return out;
}

}  // namespace idem::gateway::config
