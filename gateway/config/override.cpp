#include "gateway/config/override.hpp"

#include <algorithm>
#include <set>

#include "gateway/config/schema.hpp"
#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

std::string capitals(std::string_view path) {
    std::string out;
    for (const char c : path) out += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

}  // namespace

std::string variable_of(std::string_view path) {
    return "IDEM_" + capitals(path);
}

namespace {

// The path that `name` (without IDEM_) stands for below `s`; empty if none.
std::string path_of(std::string_view name, const section& s) {
    for (const auto& k : s.keys) {
        const std::string word = capitals(k.path);
        if (k.below == nullptr) {
            if (name == word) return std::string(k.path);
            if (k.type == kind::secret && name == word + "_FILE") return std::string(k.path) + ".file";
            continue;
        }
        if (!name.starts_with(word + "_")) continue;
        const std::string_view rest = name.substr(word.size() + 1);
        if (k.type == kind::items) {
            const auto end = rest.find('_');
            if (end == std::string_view::npos || !parse_integer(rest.substr(0, end))) continue;
            const auto inner = path_of(rest.substr(end + 1), *k.below);
            if (!inner.empty()) return std::string(k.path) + "." + std::string(rest.substr(0, end)) + "." + inner;
        } else {
            // A name may hold `_` itself, so the end decides.
            for (const auto& leaf : k.below->keys) {
                const std::string end = "_" + capitals(leaf.path);
                if (!rest.ends_with(end) || rest.size() == end.size()) continue;
                std::string element(rest.substr(0, rest.size() - end.size()));
                std::transform(element.begin(), element.end(), element.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
                return std::string(k.path) + "." + element + "." + std::string(leaf.path);
            }
        }
    }
    return {};
}

// Names that other programs read or that Kubernetes makes for a Service called idem.
bool foreign(std::string_view name) {
    static const std::set<std::string_view> ours{"CONFIG", "UPSTREAM", "ENGINE", "TEST_DATA", "ADMIN", "PORT"};
    return ours.contains(name) || name.find("SERVICE_") != std::string_view::npos || name.starts_with("PORT_") ||
           name.find("_PORT") != std::string_view::npos;
}

node* element(node& list, const std::string& segment) {
    if (const auto n = parse_integer(segment)) {
        if (*n < list.items.size()) return &list.items[*n];
        return *n == list.items.size() ? &list.items.emplace_back() : nullptr;
    }
    for (auto& item : list.items) {
        for (const auto key : {"name", "id"}) {
            const node* name = item.find(key);
            if (name != nullptr && name->scalar == segment) return &item;
        }
    }
    return nullptr;
}

// "a.b[0].c" and "a.b.0.c" are one path.
std::vector<std::string> segments(std::string_view path) {
    std::vector<std::string> out;
    for (const auto part : split(path, '.')) {
        const auto bracket = part.find('[');
        out.emplace_back(part.substr(0, bracket));
        if (bracket != std::string_view::npos && part.back() == ']') {
            out.emplace_back(part.substr(bracket + 1, part.size() - bracket - 2));
        }
    }
    return out;
}

}  // namespace

std::vector<setting> settings_from_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                                               std::vector<problem>& warnings) {
    std::vector<std::string> known;
    for (const auto& k : schema().keys) {
        if (k.below == nullptr) known.push_back(variable_of(k.path));
    }
    std::vector<setting> out;
    for (const auto& [name, text] : variables) {
        if (!name.starts_with("IDEM_")) continue;
        const std::string_view rest = std::string_view(name).substr(5);
        if (auto path = path_of(rest, schema()); !path.empty()) {
            out.push_back({std::move(path), text, name});
        } else if (!foreign(rest)) {
            const auto near = nearest(name, known);
            warnings.push_back({{name, 0, 0},
                                "no key of the configuration has this name; it is ignored" +
                                    (near ? "; did you mean " + *near + "?" : std::string())});
        }
    }
    // Lists are filled in order, whatever the order of the environment.
    std::sort(out.begin(), out.end(), [](const setting& a, const setting& b) {
        return a.path.size() != b.path.size() ? a.path.size() < b.path.size() : a.path < b.path;
    });
    return out;
}

void apply(node& root, const setting& s, std::vector<problem>& problems) {
    const place at{s.label, 0, 0};
    node* here = &root;
    for (const auto& segment : segments(s.path)) {
        if (segment.empty()) {
            problems.push_back({at, "\"" + s.path + "\" is not a path; expected one such as cache.ttl"});
            return;
        }
        const bool number = parse_integer(segment).has_value();
        if (here->is != node::shape::mapping && here->is != node::shape::sequence) {
            *here = node{.is = number ? node::shape::sequence : node::shape::mapping, .at = at, .name = here->name};
        }
        node* next = nullptr;
        if (here->is == node::shape::sequence) {
            next = element(*here, segment);
            if (next == nullptr) {
                problems.push_back({at, "\"" + s.path + "\": there is no element \"" + segment + "\"; the list has " +
                                            std::to_string(here->items.size())});
                return;
            }
        } else {
            next = here->find(segment);
            if (next == nullptr) {
                next = &here->items.emplace_back();
                next->name = segment;
            }
        }
        if (next->at.source.empty()) next->at = at;
        here = next;
    }
    std::string name = std::move(here->name);
    *here = node{.is = node::shape::scalar,
                 .at = at,
                 .scalar = s.text,
                 .written = s.text,
                 .literal = true,
                 .name = std::move(name)};
}

}  // namespace idem::gateway::config
