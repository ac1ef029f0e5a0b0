#include "upstream/dialect/object_watcher.hpp"

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {

void object_watcher::feed(std::string_view bytes) {
    if (too_large_) return;
    too_large_ = bytes.size() > max_object - body_.size();
    if (!too_large_) body_.append(bytes);
}

simdjson::simdjson_result<simdjson::dom::element> object_watcher::parse_value() {
    if (too_large_) return simdjson::CAPACITY;
    boundary_ = body_.size();
    body_.reserve(body_.size() + simdjson::SIMDJSON_PADDING);
    auto top = parse_padded(body_);
    // Clients take the last of two members of one name, we the first: such an answer has no one meaning.
    if (top.is_object() && !unique_keys(trim(body_))) return simdjson::INCORRECT_TYPE;
    if (top.is_array()) {
        json_items items(trim(body_));
        while (items.next()) {
            if (kind_of(items.value()) == json_kind::object && !unique_keys(items.value()))
                return simdjson::INCORRECT_TYPE;
        }
    }
    return top;
}

}  // namespace idem::upstream::dialect
