#include "upstream/determinism/fact_reader.hpp"

#include <simdjson.h>

#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::determinism {

namespace {

namespace dom = simdjson::dom;

constexpr std::size_t longest_value = 256;

std::string text_of(dom::element value) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
    if (value.is_null()) return {};
    return simdjson::minify(value);
}

// The values at `pointer`, of which at most one part is `*`, joined by commas.
std::string value_at(dom::element top, std::string_view pointer) {
    const auto star = pointer.find("/*");
    if (star == std::string_view::npos) {
        dom::element value;
        return top.at_pointer(pointer).get(value) == simdjson::SUCCESS ? text_of(value) : std::string();
    }
    dom::array elements;
    if (top.at_pointer(pointer.substr(0, star)).get_array().get(elements) != simdjson::SUCCESS) return {};
    std::string out;
    for (const dom::element each : elements) {
        const std::string value = value_at(each, pointer.substr(star + 2));
        if (value.empty()) continue;
        if (!out.empty()) out += ',';
        out += value;
    }
    return out;
}

}  // namespace

void read_facts(environment& into, std::string_view body, std::span<const engine::fact_source> wanted) {
    dom::element top;
    if (dialect::parse_copied(body).get(top) != simdjson::SUCCESS) return;
    for (const engine::fact_source& source : wanted) {
        std::string value = value_at(top, source.pointer);
        if (value.empty()) continue;
        if (source.hashed) {
            value = to_hex(sha256(value).bytes);
        } else if (value.size() > longest_value) {
            continue;
        }
        into.add({std::string(source.fact), std::move(value), provenance::reported});
    }
}

std::string first_model(std::string_view body) {
    dom::element top;
    if (dialect::parse_copied(body).get(top) != simdjson::SUCCESS) return {};
    return value_at(top, "/data/0/id");
}

}  // namespace idem::upstream::determinism
