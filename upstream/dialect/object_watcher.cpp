#include "upstream/dialect/object_watcher.hpp"

#include "upstream/dialect/json_parse.hpp"

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
    return parse_padded(body_).get_object();
}

}  // namespace idem::upstream::dialect
