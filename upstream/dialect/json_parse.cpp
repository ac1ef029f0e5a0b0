#include "upstream/dialect/json_parse.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace idem::upstream::dialect {
namespace {

// Above this a parser's memory is given back once a small document comes.
constexpr std::size_t keep_capacity = std::size_t{256} << 10;

simdjson::dom::parser& scratch(std::size_t size) {
    static thread_local simdjson::dom::parser parser;
    if (parser.capacity() > keep_capacity && size <= keep_capacity) parser = simdjson::dom::parser{};
    return parser;
}

// Up to here two keys are compared with each other at a time; more of them are sorted.
constexpr std::size_t few_members = 16;

bool unique_members(simdjson::dom::object object) {
    std::array<std::string_view, few_members> keys;
    std::size_t n = 0;
    for (const auto [key, value] : object) {
        if (n == few_members) {
            std::vector<std::string_view> all;
            for (const auto [name, ignored] : object) all.push_back(name);
            std::ranges::sort(all);
            return std::ranges::adjacent_find(all) == all.end();
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (keys[i] == key) return false;
        }
        keys[n++] = key;
    }
    return true;
}

// As deep as the parser goes, which is 1,024 levels.
bool unambiguous(simdjson::dom::element value) {
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (value.get_object().get(object) == simdjson::SUCCESS) {
        return unique_members(object) &&
               std::ranges::all_of(object, [](const auto& member) { return unambiguous(member.value); });
    }
    if (value.get_array().get(array) != simdjson::SUCCESS) return true;
    return std::ranges::all_of(array, [](simdjson::dom::element item) { return unambiguous(item); });
}

}  // namespace

simdjson::simdjson_result<simdjson::dom::element> parse_padded(std::string_view text) {
    return scratch(text.size()).parse(text.data(), text.size(), false);
}

simdjson::simdjson_result<simdjson::dom::element> parse_unambiguous(std::string_view text) {
    simdjson::dom::element value;
    if (const auto error = parse_padded(text).get(value)) return error;
    if (!unambiguous(value)) return simdjson::INCORRECT_TYPE;
    return value;
}

simdjson::simdjson_result<simdjson::dom::element> parse_copied(std::string_view text) {
    if (text.empty()) text = " ";  // an empty view may have no address, which simdjson would copy from
    return scratch(text.size()).parse(text.data(), text.size(), true);
}

bool present(simdjson::dom::object object, std::string_view key, simdjson::dom::element& out) {
    return object.at_key(key).get(out) == simdjson::SUCCESS && !out.is_null();
}

std::string_view text_of(simdjson::dom::object object, std::string_view key) {
    std::string_view text;
    if (object.at_key(key).get_string().get(text) != simdjson::SUCCESS) return {};
    return text;
}

std::uint64_t count_of(simdjson::dom::object object, std::string_view key) {
    std::uint64_t n = 0;
    if (object.at_key(key).get_uint64().get(n) != simdjson::SUCCESS) return 0;
    return n;
}

}  // namespace idem::upstream::dialect
