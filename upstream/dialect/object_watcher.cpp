#include "upstream/dialect/object_watcher.hpp"

#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect {
namespace {

// Whether there is nothing, or something in it is still open: what a cut leaves behind. Text that is closed and yet no
// JSON (NaN, a lone surrogate, bytes behind the end) is somebody's answer, and whole.
bool ends_early(std::string_view text) noexcept {
    std::size_t open = 0;
    bool any = false;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
            continue;
        }
        any = any || static_cast<unsigned char>(c) > ' ';
        in_string = c == '"';
        if (c == '{' || c == '[') ++open;
        if ((c == '}' || c == ']') && open > 0) --open;
    }
    return !any || in_string || open > 0;
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
    cut_ = value.error() != simdjson::SUCCESS && ends_early(body_);
    return value;
}

}  // namespace idem::upstream::dialect
