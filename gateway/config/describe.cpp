#include "gateway/config/describe.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "gateway/config/override.hpp"
#include "gateway/config/schema.hpp"
#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

// Writes nested mappings from dotted paths: opens and closes levels as the path changes.
class yaml_writer {
public:
    explicit yaml_writer(std::string indent, std::string mark = "")
        : indent_(std::move(indent)), mark_(std::move(mark)) {}

    // A line for the key itself.
    void put(std::string_view path, const std::string& text, bool commented = false) {
        const auto parts = descend(path);
        line(parts.size() - 1, std::string(parts.back()) + ": " + text, commented);
    }

    void comment(std::string_view path, std::string_view text) {
        const auto parts = descend(path);
        const std::string lead = indent_ + std::string(2 * (parts.size() - 1), ' ') + "# ";
        std::string rest(text);
        while (!rest.empty()) {
            std::size_t cut = rest.size();
            if (cut > 100) {
                cut = rest.rfind(' ', 100);
                if (cut == std::string::npos) cut = rest.size();
            }
            out += mark_ + lead + rest.substr(0, cut) + "\n";
            rest.erase(0, std::min(rest.size(), cut + 1));
        }
    }

    void blank() { out += "\n"; }

    std::string out;

private:
    // Writes the parents of `path` that are not open yet.
    std::vector<std::string_view> descend(std::string_view path) {
        auto parts = split(path, '.');
        std::size_t common = 0;
        while (common + 1 < parts.size() && common < open_.size() && open_[common] == parts[common]) ++common;
        open_.resize(common);
        for (std::size_t i = common; i + 1 < parts.size(); ++i) {
            line(i, std::string(parts[i]) + ":", false);
            open_.emplace_back(parts[i]);
        }
        return parts;
    }

    void line(std::size_t level, const std::string& text, bool commented) {
        out += mark_ + indent_ + std::string(2 * level, ' ') + (commented ? "# " : "") + text + "\n";
    }

    std::string indent_, mark_;
    std::vector<std::string> open_;
};

std::string meaning(const key& k) {
    std::string out(k.help);
    if (!k.choices.empty()) out += " (" + expected(k) + ")";
    if (const auto bounds = range(k); !bounds.empty()) out += " (" + bounds.substr(2) + ")";
    return out;
}

// The example of one list element, every line commented out.
std::string commented_example(const section& s, const std::string& indent) {
    yaml_writer w(indent, "# ");
    for (const auto& k : s.keys) {
        if (k.to.set == nullptr && k.below == nullptr) continue;  // the short form of a key that follows
        w.comment(k.path, meaning(k));
        if (k.below != nullptr) {
            w.out += "# " + indent + std::string(k.path) + ":\n" + "# " + indent + "  -\n" +
                     commented_example(*k.below, indent + "    ");
        } else {
            w.put(k.path, std::string(!k.example.empty()    ? k.example
                                      : !k.fallback.empty() ? k.fallback
                                                            : std::string_view("\"\"")));
        }
    }
    return w.out;
}

// `path` of the section ends in a dot, or is empty at the top. A secret is written as the variable that overrides its
// key: a copy of the output then asks for the secret instead of serving with a mask that everybody knows.
void effective(std::string& out, const section& s, const void* from, const std::string& indent,
               const std::string& path) {
    yaml_writer w(indent);
    for (const auto& k : s.keys) {
        const std::string full = path + std::string(k.path);
        if (k.below != nullptr) {
            std::string all;
            for (std::size_t i = 0; i < k.to.count(from); ++i) {
                const void* element = k.to.element(from, i);
                std::string inner;
                if (k.type == kind::named) {
                    const auto& p = *static_cast<const policy*>(element);
                    if (p.name == p.base) continue;  // built in
                    effective(inner, *k.below, element, indent + "    ", full + "." + p.name + ".");
                    all += indent + "  " + yaml_scalar(p.name) + ":\n" + inner;
                } else {
                    effective(inner, *k.below, element, indent + "    ", full + "." + std::to_string(i) + ".");
                    inner.replace(indent.size() + 2, 1, "-");
                    all += inner;
                }
            }
            if (!all.empty()) w.out += indent + std::string(k.path) + ":\n" + all;
            continue;
        }
        if (k.to.get == nullptr) continue;
        const auto v = k.to.get(from);
        if (!v) continue;
        w.put(k.path, k.type == kind::secret ? "${" + variable_of(full) + "}  # a secret, not shown" : written(k, *v));
    }
    out += w.out;
}

void reference(std::string& out, const section& s, const std::string& path) {
    out += "| key | default | meaning |\n|---|---|---|\n";
    for (const auto& k : s.keys) {
        std::string text = meaning(k);
        for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
        out += "| `" + path + std::string(k.path) + "` | " +
               (k.required           ? "required"
                : k.fallback.empty() ? std::string("–")
                                     : "`" + std::string(k.fallback) + "`") +
               " | " + text + (k.example.empty() ? "" : " Example: `" + std::string(k.example) + "`.") + " |\n";
    }
    for (const auto& k : s.keys) {
        if (k.below == nullptr) continue;
        const std::string inner = path + std::string(k.path) + (k.type == kind::named ? ".NAME." : "[].");
        out += "\n## `" + inner.substr(0, inner.size() - 1) + "`\n\n" + std::string(k.below->help) + "\n\n";
        reference(out, *k.below, inner);
    }
}

namespace json = boost::json;

json::object object_schema(const section& s);

json::value value_schema(const key& k) {
    const json::object variable{{"type", "string"}, {"pattern", "\\$\\{"}};
    json::object out;
    switch (k.type) {
        case kind::boolean:
            out["anyOf"] = {{{"type", "boolean"}}, variable};
            break;
        case kind::integer: {
            json::object number{{"type", "integer"}, {"minimum", k.least}};
            if (k.most != ~0ull) number["maximum"] = k.most;
            out["anyOf"] = {number, variable};
            break;
        }
        case kind::size:
        case kind::share:
            out["type"] = {"integer", "string"};
            break;
        case kind::ratio:
            out["anyOf"] = {{{"type", "number"}, {"minimum", 0}, {"maximum", 1}}, variable};
            break;
        case kind::duration:
            out["type"] = {"integer", "string"};
            break;
        case kind::secret:
            out["anyOf"] = {{{"type", "string"}},
                            {{"type", "object"},
                             {"properties", {{"file", {{"type", "string"}}}}},
                             {"required", json::array{"file"}},
                             {"additionalProperties", false}}};
            break;
        case kind::texts:
        case kind::urls:
            out["anyOf"] = {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}};
            break;
        case kind::pairs:
            out["type"] = "object";
            out["additionalProperties"] = {{"type", "string"}};
            break;
        case kind::items:
            out["type"] = "array";
            out["items"] = object_schema(*k.below);
            break;
        case kind::named:
            out["type"] = "object";
            out["additionalProperties"] = object_schema(*k.below);
            break;
        default:
            if (k.choices.empty()) {
                out["type"] = "string";
            } else {
                json::array words;
                for (const auto w : split(k.choices, '|')) words.emplace_back(w);
                out["anyOf"] = {{{"enum", words}}, variable};
            }
    }
    out["description"] = meaning(k);
    if (k.type == kind::boolean) {
        out["default"] = k.fallback == "true";
    } else if (const auto number = parse_integer(k.fallback); number && k.type == kind::integer) {
        out["default"] = *number;
    } else if (k.fallback.starts_with('"')) {
        out["default"] = k.fallback.substr(1, k.fallback.size() - 2);
    } else if (!k.fallback.empty() && k.type != kind::urls) {
        out["default"] = k.fallback;
    }
    return out;
}

json::object object_schema(const section& s) {
    json::object out{{"type", "object"}, {"properties", json::object{}}, {"additionalProperties", false}};
    json::array required;
    for (const auto& k : s.keys) {
        json::object* here = &out;
        const auto parts = split(k.path, '.');
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            auto& slot = (*here)["properties"].as_object()[parts[i]];
            if (slot.is_null()) {
                slot = {{"type", "object"}, {"properties", json::object{}}, {"additionalProperties", false}};
            } else if (!slot.as_object().contains("properties")) {
                // A key that is a word or a mapping, such as `credentials`.
                json::value word = slot;
                slot = {{"properties", json::object{}},
                        {"additionalProperties", false},
                        {"anyOf", {word, {{"type", "object"}}}}};
            }
            here = &slot.as_object();
        }
        (*here)["properties"].as_object()[parts.back()] = value_schema(k);
        if (k.required) required.emplace_back(k.path);
    }
    if (!required.empty()) out["required"] = std::move(required);
    return out;
}

void pretty(std::string& out, const json::value& v, const std::string& indent) {
    const std::string deeper = indent + "  ";
    if (const auto* o = v.if_object(); o != nullptr && !o->empty()) {
        out += "{\n";
        for (auto it = o->begin(); it != o->end(); ++it) {
            out += deeper + json::serialize(json::value(it->key())) + ": ";
            pretty(out, it->value(), deeper);
            out += std::next(it) == o->end() ? "\n" : ",\n";
        }
        out += indent + "}";
    } else if (const auto* a = v.if_array(); a != nullptr && !a->empty() && (*a)[0].is_object()) {
        out += "[\n";
        for (std::size_t i = 0; i < a->size(); ++i) {
            out += deeper;
            pretty(out, (*a)[i], deeper);
            out += i + 1 == a->size() ? "\n" : ",\n";
        }
        out += indent + "]";
    } else {
        out += json::serialize(v);
    }
}

}  // namespace

std::string describe_defaults() {
    yaml_writer w("");
    w.out =
        "# Idem: every key with its default. Nothing here is needed: `idem serve --upstream URL` runs without a file.\n"
        "# Values may hold ${VARIABLE} (an error if unset) or ${VARIABLE:-default}. Flags beat the environment "
        "(IDEM_CACHE_TTL\n"
        "# stands for cache.ttl), which beats this file. `idem check` names every error; conf/reference.md is this as "
        "a table.\n"
        "# It names no upstream, so alone it does not pass `idem check`: add one under `upstreams`, or give --upstream "
        "URL.\n";
    std::string_view group;
    for (const auto& k : schema().keys) {
        if (const auto first = k.path.substr(0, k.path.find('.')); first != group) {
            group = first;
            w.blank();
        }
        w.comment(k.path, meaning(k));
        if (k.type == kind::items) {
            w.out += "# " + std::string(k.path) + ":\n#   -\n" + commented_example(*k.below, "    ");
        } else if (k.type == kind::named) {
            w.out += "# " + std::string(k.path) + ":\n#   audit:\n" + commented_example(*k.below, "    ");
        } else if (!k.fallback.empty()) {
            w.put(k.path, std::string(k.fallback.find(':') != std::string_view::npos && k.fallback.front() != '"' &&
                                              k.fallback.front() != '['
                                          ? yaml_scalar(k.fallback)
                                          : std::string(k.fallback)));
        } else {
            w.put(k.path, std::string(k.example.empty() ? std::string_view("\"\"") : k.example), true);
        }
    }
    return w.out;
}

std::string describe_effective(const configuration& c) {
    std::string out;
    effective(out, schema(), &c, "", "");
    return out;
}

std::string describe_reference() {
    std::string out =
        "# Configuration reference\n\n"
        "Generated by `idem config reference` from the table in `gateway/config/schema.cpp`; do not edit.\n\n"
        "Durations are written `50ms 10s 15m 6h 30d`, sizes `64KiB 64MiB 4GiB` (or in bytes), addresses "
        "`127.0.0.1:8080`,\n"
        "`[::1]:8080`, `:8080`. `${NAME}` is replaced by the environment variable and is an error where that is "
        "unset;\n"
        "`${NAME:-default}` is not. Secrets may also be read from a file, `{file: /run/secrets/token}`. A flag beats "
        "the\n"
        "environment, the environment beats the file, the file beats the default. The environment variable of a key is "
        "`IDEM_` and\n"
        "the path in capitals with `_` for `.`: `IDEM_CACHE_TTL`, `IDEM_UPSTREAMS_0_ENGINE`; of a secret also with "
        "`_FILE`.\n"
        "Unknown keys, duplicate keys and values out of range are errors; `idem check` names all of them at once.\n\n";
    reference(out, schema(), "");
    return out;
}

std::string describe_schema() {
    json::object out = object_schema(schema());
    json::object head{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Idem configuration"}};
    for (auto& [name, v] : out) head[name] = v;
    std::string text;
    pretty(text, head, "");
    return text + "\n";
}

}  // namespace idem::gateway::config
