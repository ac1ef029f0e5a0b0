#include "upstream/dialect/object_watcher.hpp"

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {

void object_watcher::feed(std::string_view bytes) {
    if (too_large_) return;
    too_large_ = bytes.size() > max_object - body_.size();
    if (!too_large_) body_.append(bytes);
}

simdjson::simdjson_result<simdjson::dom::object> object_watcher::parse() {
    if (too_large_) return simdjson::CAPACITY;
    boundary_ = body_.size();
    body_.reserve(body_.size() + simdjson::SIMDJSON_PADDING);
    auto top = parse_padded(body_).get_object();
    // Clients take the last of two members of one name, we the first: such an answer has no one meaning.
    if (top.error() == simdjson::SUCCESS && !unique_keys(trim(body_))) return simdjson::INCORRECT_TYPE;
    return top;
}

}  // namespace idem::upstream::dialect
