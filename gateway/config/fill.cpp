#include "gateway/config/fill.hpp"

#include <algorithm>

#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

std::string join(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : path + "." + std::string(name);
}

bool below(std::string_view path, std::string_view prefix) {
    return path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '.';
}

bool in_range(std::uint64_t n, const key& k) {
    return n >= k.least && n <= k.most;
}

// Whether a text that came out of a variable may be shown where a path was expected: somebody may have put the secret
// itself into the variable, and secrets do not look like this.
bool path_shaped(std::string_view text) {
    if (!text.starts_with("/") && !text.starts_with("./") && !text.starts_with("../")) return false;
    return text.size() <= 256 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("/._-").find(c) != std::string_view::npos;
           });
}

// A path for a message: what it expanded to, or where that may be a secret how it was written.
std::string shown_path(const node& n) {
    if (!n.expanded || path_shaped(n.scalar)) return "\"" + n.scalar + "\"";
    return "\"" + n.written + "\" (not shown expanded, since that does not look like a path)";
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

}  // namespace

void filler::fill(const node& mapping, const section& s, void* into, const std::string& path) {
    std::set<std::string_view> seen;
    walk(mapping, s, into, path, "", seen);
    for (const auto& k : s.keys) {
        if (k.required && !seen.contains(k.path)) {
            errors_.push_back({mapping.at, join(path, k.path) + ": missing; expected " + expected(k) +
                                               (k.example.empty() ? "" : " such as " + std::string(k.example))});
        }
    }
}

void filler::walk(const node& mapping, const section& s, void* into, const std::string& path, const std::string& prefix,
                  std::set<std::string_view>& seen) {
    for (const auto& n : mapping.items) {
        const std::string full = join(prefix, n.name);
        const std::string shown = join(path, full);
        said_[shown] = n.at;
        const auto k = std::find_if(s.keys.begin(), s.keys.end(), [&](const key& c) { return c.path == full; });
        const bool group = std::any_of(s.keys.begin(), s.keys.end(), [&](const key& c) { return below(c.path, full); });
        if (group && n.is == node::shape::mapping) {
            walk(n, s, into, path, full, seen);
        } else if (k != s.keys.end()) {
            seen.insert(k->path);
            one(n, *k, into, shown);
        } else if (group) {
            if (n.is != node::shape::null) {
                errors_.push_back({n.at, shown + ": expected a mapping with " + [&] {
                                       std::string names;
                                       for (const auto& c : s.keys) {
                                           if (!below(c.path, full)) continue;
                                           names += (names.empty() ? "" : ", ") +
                                                    std::string(c.path.substr(full.size() + 1));
                                       }
                                       return names;
                                   }()});
            }
        } else {
            unknown(n, s, path, prefix);
        }
    }
}

void filler::unknown(const node& n, const section& s, const std::string& path, const std::string& prefix) {
    std::vector<std::string> names;
    for (const auto& k : s.keys) {
        if (!prefix.empty() && !below(k.path, prefix)) continue;
        const auto rest = prefix.empty() ? k.path : k.path.substr(prefix.size() + 1);
        std::string name(rest.substr(0, rest.find('.')));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    std::string message = join(path, join(prefix, n.name)) + ": unknown key; ";
    if (const auto near = nearest(n.name, names)) {
        message += "did you mean " + join(path, join(prefix, *near)) + "?";
    } else {
        message += "known here:";
        for (const auto& name : names) message += (name == names.front() ? " " : ", ") + name;
    }
    errors_.push_back({n.at, std::move(message)});
}

void filler::one(const node& n, const key& k, void* into, const std::string& path) {
    if (k.type == kind::named) return;
    if (k.type == kind::items) {
        if (n.is == node::shape::null) return;
        if (n.is != node::shape::sequence) return refuse(n, k, path);
        for (std::size_t i = 0; i < n.items.size(); ++i) {
            const std::string place_of = path + "[" + std::to_string(i) + "]";
            said_[place_of] = n.items[i].at;
            void* element = k.to.append(into);  // even if refused below: numbers in messages count all elements
            if (n.items[i].is == node::shape::mapping) {
                fill(n.items[i], *k.below, element, place_of);
            } else {
                errors_.push_back({n.items[i].at,
                                   place_of + ": expected a mapping that describes one " + std::string(k.below->name)});
            }
        }
        return;
    }
    const auto v = parse(n, k, path);
    if (v && k.to.set != nullptr) k.to.set(into, *v);
}

void filler::refuse(const node& n, const key& k, const std::string& path) {
    std::string message = path + ": ";
    const bool hidden = k.type == kind::secret || k.type == kind::url || k.type == kind::urls;
    if (n.is == node::shape::null) {
        message += "no value";
    } else if (n.is == node::shape::scalar && !hidden) {
        message += "\"" + n.written + "\" is not accepted";
    } else {
        const bool list = n.is == node::shape::sequence && (k.type == kind::texts || k.type == kind::urls);
        message += list ? "a list that is empty, or with an item that is not text, is not accepted"
                   : n.is == node::shape::mapping  ? "a mapping is not accepted"
                   : n.is == node::shape::sequence ? "a list is not accepted"
                                                   : "this value is not accepted";
    }
    message += "; expected " + expected(k);
    if (!k.choices.empty() && n.is == node::shape::scalar) {
        std::vector<std::string> words;
        for (const auto w : split(k.choices, '|')) words.emplace_back(w);
        if (const auto near = nearest(n.scalar, words)) message += "; did you mean " + *near + "?";
    }
    errors_.push_back({n.at, std::move(message)});
}

std::optional<value> filler::parse(const node& n, const key& k, const std::string& path) {
    std::optional<value> v;
    if (k.type == kind::texts || k.type == kind::urls) {
        v = parse_list(n, k);
    } else if (k.type == kind::pairs && n.is == node::shape::mapping) {
        v.emplace();
        for (const auto& m : n.items) {
            if (m.is != node::shape::scalar) {
                refuse(n, k, path);
                return std::nullopt;
            }
            v->pairs.emplace_back(m.name, m.scalar);
        }
    } else if (k.type == kind::secret && n.is == node::shape::mapping) {
        const node* file = n.find("file");
        if (file != nullptr && n.items.size() == 1 && file->is == node::shape::scalar) {
            const auto text = world_.read_file(file->scalar);
            if (!text || trimmed(*text).empty()) {
                errors_.push_back({file->at, path + ".file: " + shown_path(*file) + " cannot be read or is empty"});
                return std::nullopt;
            }
            v.emplace().text = trimmed(*text);
        }
    } else if (n.is == node::shape::scalar) {
        v = parse_scalar(n, k);
    }
    if (!v) refuse(n, k, path);
    return v;
}

std::optional<value> filler::parse_list(const node& n, const key& k) const {
    value v;
    if (n.is == node::shape::null) return v;
    if (n.is == node::shape::scalar) {
        // Only flags and variables split at commas; in a file a single text is a list of one.
        for (const auto part : split(n.scalar, n.literal ? ',' : '\0')) {
            if (!part.empty()) v.list.emplace_back(part);
        }
        return v;
    }
    if (n.is != node::shape::sequence) return std::nullopt;
    for (const auto& i : n.items) {
        if (i.is != node::shape::scalar || i.scalar.empty()) return std::nullopt;
        v.list.push_back(i.scalar);
    }
    return v.list.empty() && !k.fallback.empty() ? std::nullopt : std::optional(std::move(v));
}

std::optional<value> filler::parse_scalar(const node& n, const key& k) const {
    value v;
    v.text = n.scalar;
    if (!k.choices.empty()) {
        const auto words = split(k.choices, '|');
        const auto it = std::find(words.begin(), words.end(), n.scalar);
        if (it == words.end()) return std::nullopt;
        v.number = static_cast<std::uint64_t>(it - words.begin());
        return v;
    }
    std::optional<std::uint64_t> number;
    switch (k.type) {
        case kind::boolean:
            if (const auto b = parse_boolean(n.scalar)) number = *b ? 1 : 0;
            break;
        case kind::integer:
            number = parse_integer(n.scalar);
            break;
        case kind::size:
            number = parse_size(n.scalar);
            break;
        case kind::share:
            number = parse_size(n.scalar);
            if (!number) number = parse_share(n.scalar, world_.memory_limit);
            break;
        case kind::percent:
            number = parse_share(n.scalar, 100);
            break;
        case kind::ratio:
            number = parse_ratio(n.scalar);
            break;
        case kind::duration:
            if (const auto d = parse_duration(n.scalar)) number = static_cast<std::uint64_t>(d->count());
            break;
        case kind::address: {
            const auto a = parse_address(n.scalar);
            if (!a) return std::nullopt;
            v.at = *a;
            return v;
        }
        case kind::text:
        case kind::secret:
        case kind::url:
            return v;
        default:
            return std::nullopt;
    }
    if (!number || !in_range(*number, k)) return std::nullopt;
    v.number = *number;
    return v;
}

}  // namespace idem::gateway::config
