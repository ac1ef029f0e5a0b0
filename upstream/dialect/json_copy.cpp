#include "upstream/dialect/json_copy.hpp"

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

bool is_empty(dom::element value) {
    std::string_view text;
    dom::array items;
    if (value.get_string().get(text) == simdjson::SUCCESS) return text.empty();
    if (value.get_array().get(items) == simdjson::SUCCESS) return items.begin() == items.end();
    return false;
}

}  // namespace

bool object_of(dom::object from, std::string_view key, dom::object& out) {
    return from.at_key(key).get_object().get(out) == simdjson::SUCCESS;
}

void begin_member(std::string& out, std::string_view name) {
    if (out.back() != '{') out += ',';
    append_json_string(out, name);
    out += ':';
}

void append_value(std::string& out, dom::element value) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) {
        append_json_string(out, text);
    } else {
        out += simdjson::minify(value);
    }
}

void copy(std::string& out, dom::object from, std::string_view name, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        dom::element value;
        if (!present(from, key, value) || is_empty(value)) continue;
        begin_member(out, name);
        append_value(out, value);
        return;
    }
}

}  // namespace idem::upstream::dialect
