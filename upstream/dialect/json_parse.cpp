#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect {
namespace {

// Above this a parser's memory is given back once a small document comes.
constexpr std::size_t keep_capacity = std::size_t{256} << 10;

simdjson::dom::parser& scratch(std::size_t size) {
    static thread_local simdjson::dom::parser parser;
    if (parser.capacity() > keep_capacity && size <= keep_capacity) parser = simdjson::dom::parser{};
    return parser;
}

}  // namespace

simdjson::simdjson_result<simdjson::dom::element> parse_padded(std::string_view text) {
    return scratch(text.size()).parse(text.data(), text.size(), false);
}

simdjson::simdjson_result<simdjson::dom::element> parse_copied(std::string_view text) {
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
