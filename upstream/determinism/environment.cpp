#include "upstream/determinism/environment.hpp"

#include <algorithm>

namespace idem::upstream::determinism {

std::string_view to_string(provenance p) noexcept {
    switch (p) {
        case provenance::measured:
            return "measured";
        case provenance::reported:
            return "reported";
        case provenance::declared:
            return "declared";
        case provenance::unknown:
            break;
    }
    return "unknown";
}

void environment::add(fact f) {
    const auto at = std::ranges::lower_bound(facts_, f.name, {}, &fact::name);
    if (at == facts_.end() || at->name != f.name) {
        facts_.insert(at, std::move(f));
    } else if (f.from < at->from) {
        *at = std::move(f);
    }
}

const fact* environment::find(std::string_view name) const noexcept {
    const auto at = std::ranges::find(facts_, name, [](const fact& f) { return std::string_view(f.name); });
    return at == facts_.end() ? nullptr : &*at;
}

digest environment::id() const {
    hasher h;
    h.part('v', "idem-environment-1");
    for (const fact& f : facts_) {
        h.part('n', f.name);
        h.part('p', to_string(f.from));
        h.part('=', f.value);
    }
    return h.finish();
}

digest unwatched_environment() noexcept {
    return sha256("environment:unknown");
}

environment completed(environment read, const requirements& by, std::span<const std::string_view> expected) {
    for (const auto& [name, value] : by.lock) {
        const bool vouched = std::ranges::find(by.declared, name) != by.declared.end();
        read.add({name, vouched ? value : std::string(), vouched ? provenance::declared : provenance::unknown});
    }
    for (const std::string_view name : expected) read.add({std::string(name), {}, provenance::unknown});
    return read;
}

std::vector<violation> violations(const environment& of, const requirements& by) {
    std::vector<violation> out;
    for (const auto& [name, wanted] : by.lock) {
        const fact* found = of.find(name);
        if (!found || found->from == provenance::unknown) {
            out.push_back({name, wanted, {}});
        } else if (found->value != wanted) {
            out.push_back({name, wanted, found->value});
        }
    }
    return out;
}

std::string difference(const environment& now, const environment& before) {
    std::string out;
    auto say = [&out](const std::string& name, const fact* is, const fact* was) {
        auto shown = [](const fact* f) {
            return f && f->from != provenance::unknown ? "\"" + f->value + "\"" : std::string("unknown");
        };
        if (!out.empty()) out += ", ";
        out.append(name).append(" is ").append(shown(is)).append(", was ").append(shown(was));
    };
    for (const fact& f : now.facts()) {
        const fact* was = before.find(f.name);
        if (!was || *was != f) say(f.name, &f, was);
    }
    for (const fact& f : before.facts()) {
        if (!now.find(f.name)) say(f.name, nullptr, &f);
    }
    return out;
}

}  // namespace idem::upstream::determinism
