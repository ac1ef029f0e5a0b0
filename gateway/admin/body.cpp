#include "gateway/admin/body.hpp"

#include <algorithm>

#include "upstream/dialect/json_text.hpp"

namespace idem::gateway::admin {

namespace dialect = upstream::dialect;

text_members read_texts(std::string_view body, std::span<const std::string_view> wanted,
                        std::span<const std::string_view> optional) {
    text_members out;
    const auto wrong = [&](std::string what) {
        out.of.clear();
        out.error = "the body: " + std::move(what) + "; expected {";
        for (const std::string_view name : wanted)
            out.error.append(name == wanted.front() ? "\"" : ", \"").append(name).append("\": TEXT");
        out.error += "}";
        for (const std::string_view name : optional) out.error.append(", and if you like \"").append(name).append("\"");
        return out;
    };
    if (!dialect::is_json(body)) return wrong("not JSON");
    if (dialect::kind_of(dialect::trim(body)) != dialect::json_kind::object) return wrong("not an object");
    dialect::json_members members(body);
    while (members.next()) {
        const auto name = dialect::string_text("\"" + std::string(members.key()) + "\"");
        const auto in = [&](std::span<const std::string_view> names) {
            return std::ranges::find(names, *name) != names.end();
        };
        if (!name || !(in(wanted) || in(optional)))
            return wrong("no member \"" + name.value_or(std::string(members.key())) + "\" is known");
        auto text = dialect::string_text(members.value());
        if (!text || text->empty()) return wrong("\"" + *name + "\" must be a text that is not empty");
        if (!out.of.emplace(*name, std::move(*text)).second) return wrong("\"" + *name + "\" comes twice");
    }
    for (const std::string_view name : wanted)
        if (!out.of.contains(name)) return wrong("\"" + std::string(name) + "\" is missing");
    return out;
}

}  // namespace idem::gateway::admin
