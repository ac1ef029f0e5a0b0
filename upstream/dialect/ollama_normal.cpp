#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/ollama_convert.hpp"

namespace idem::upstream::dialect::ollama {
namespace {

namespace dom = simdjson::dom;

void copy_calls(std::string& out, dom::object payload) {
    dom::array calls;
    if (payload.at_key("tool_calls").get_array().get(calls) != simdjson::SUCCESS || calls.begin() == calls.end())
        return;
    begin_member(out, "tool_calls");
    char separator = '[';
    for (const dom::element element : calls) {
        out += separator;
        separator = ',';
        out += '{';
        dom::object call;
        dom::object function;
        if (element.get_object().get(call) == simdjson::SUCCESS && object_of(call, "function", function)) {
            copy(out, function, "name", {"name"});
            copy(out, function, "arguments", {"arguments"});
        }
        out += '}';
    }
    out += ']';
}

}  // namespace

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
    copy_calls(out, payload);
    copy(out, payload, "images", {"images", "image"});
    return out + "}";
}

}  // namespace idem::upstream::dialect::ollama
