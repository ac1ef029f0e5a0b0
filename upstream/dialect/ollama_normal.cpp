#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/ollama_convert.hpp"
#include "upstream/dialect/openai_normal.hpp"

namespace idem::upstream::dialect::ollama {
namespace dom = simdjson::dom;

std::optional<std::string> normalised(std::string_view object, api which) {
    dom::object top;
    dom::object payload;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS) return std::nullopt;
    if (which == api::generate) {
        std::string_view text;
        if (top.at_key("response").get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
        payload = top;
    } else if (!object_of(top, "message", payload)) {
        return std::nullopt;
    }
    std::string out = "{";
    copy(out, top, "done_reason", {"done_reason"});
    copy(out, payload, "role", {"role"});
    copy(out, payload, "content", {"content", "response"});
    copy(out, payload, "thinking", {"thinking"});
    openai::copy_calls(out, payload);
    copy(out, payload, "images", {"images", "image"});
    return out + "}";
}

}  // namespace idem::upstream::dialect::ollama
