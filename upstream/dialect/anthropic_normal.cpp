#include "upstream/dialect/anthropic_normal.hpp"

#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect::anthropic {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view told[] = {"type", "text", "thinking", "name", "input", "citations", "content"};

}  // namespace

std::optional<std::string> normalised_message(std::string_view object) {
    dom::object top;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS) return std::nullopt;
    return normalised_message(top);
}

std::optional<std::string> normalised_message(dom::object top) {
    dom::array blocks;
    if (top.at_key("content").get_array().get(blocks) != simdjson::SUCCESS) return std::nullopt;
    std::string out = "{";
    for (const std::string_view key : {"role", "stop_reason", "stop_sequence"}) copy(out, top, key, {key});
    begin_member(out, "content");
    char separator = '[';
    for (const dom::element element : blocks) {
        dom::object block;
        if (element.get_object().get(block) != simdjson::SUCCESS) return std::nullopt;
        out += separator;
        separator = ',';
        out += '{';
        for (const std::string_view key : told) copy(out, block, key, {key});
        out += '}';
    }
    if (separator == '[') out += '[';
    return out + "]}";
}

std::optional<std::string> normalised_count(std::string_view object) {
    dom::object top;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS) return std::nullopt;
    std::string out = "{";
    for (const std::string_view key : {"input_tokens", "context_management"}) copy(out, top, key, {key});
    return out + "}";
}

}  // namespace idem::upstream::dialect::anthropic
