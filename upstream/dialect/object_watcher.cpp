#include "upstream/dialect/object_watcher.hpp"

#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect {
namespace {

// Errors that only text has which is no JSON value, or not all of one. A parser's own limits are none of them: integers
// beyond 64 bits, depth, memory.
bool is_no_json(simdjson::error_code error) noexcept {
    switch (error) {
        case simdjson::EMPTY:
        case simdjson::TAPE_ERROR:
        case simdjson::STRING_ERROR:
        case simdjson::T_ATOM_ERROR:
        case simdjson::F_ATOM_ERROR:
        case simdjson::N_ATOM_ERROR:
        case simdjson::UTF8_ERROR:
        case simdjson::UNESCAPED_CHARS:
        case simdjson::UNCLOSED_STRING:
            return true;
        default:
            return false;
    }
}

}  // namespace

void object_watcher::feed(std::string_view bytes) {
    if (too_large_) return;
    too_large_ = bytes.size() > max_object - body_.size();
    if (!too_large_) body_.append(bytes);
}

verdict object_watcher::finish(bool framing_complete) {
    verdict v = judge_body(framing_complete);
    v.cut = cut_;
    return v;
}

simdjson::simdjson_result<simdjson::dom::element> object_watcher::parse_value() {
    if (too_large_) return simdjson::CAPACITY;
    boundary_ = body_.size();
    body_.reserve(body_.size() + simdjson::SIMDJSON_PADDING);
    auto value = parse_unambiguous(body_);
    cut_ = is_no_json(value.error());
    return value;
}

}  // namespace idem::upstream::dialect
