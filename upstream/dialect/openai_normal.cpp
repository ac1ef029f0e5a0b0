#include "upstream/dialect/openai_normal.hpp"

#include <algorithm>
#include <vector>

#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/vectors.hpp"

namespace idem::upstream::dialect::openai {
namespace dom = simdjson::dom;

void copy_calls(std::string& out, dom::object message) {
    dom::array calls;
    if (message.at_key("tool_calls").get_array().get(calls) != simdjson::SUCCESS || calls.begin() == calls.end())
        return;
    begin_member(out, "tool_calls");
    char separator = '[';
    for (const dom::element element : calls) {
        out += separator;
        separator = ',';
        out += '{';
        dom::object call;
        dom::object nested;
        if (element.get_object().get(call) == simdjson::SUCCESS &&
            (object_of(call, "function", nested) || object_of(call, "custom", nested))) {
            copy(out, nested, "name", {"name"});
            copy(out, nested, "arguments", {"arguments", "input"});
        }
        out += '}';
    }
    out += ']';
}

namespace {

void copy_nested(std::string& out, dom::object message, std::string_view key,
                 std::initializer_list<std::string_view> members) {
    dom::object nested;
    if (!object_of(message, key, nested)) return;
    begin_member(out, key);
    out += '{';
    for (const std::string_view member : members) copy(out, nested, member, {member});
    out += '}';
}

void copy_message(std::string& out, dom::object choice) {
    dom::object message;
    if (!object_of(choice, "message", message)) return;
    copy(out, message, "role", {"role"});
    copy(out, message, "content", {"content"});
    copy(out, message, "reasoning", {"reasoning_content", "reasoning"});
    copy(out, message, "refusal", {"refusal"});
    copy_calls(out, message);
    copy_nested(out, message, "function_call", {"name", "arguments"});
    copy_nested(out, message, "audio", {"transcript", "data"});
}

// The items of `list`, ordered by their index.
template <class Write>
std::optional<std::string> each_by_index(dom::object top, std::string_view list, Write write) {
    dom::array items;
    if (top.at_key(list).get_array().get(items) != simdjson::SUCCESS) return std::nullopt;
    struct part {
        std::uint64_t index;
        std::size_t from, size;
    };
    std::vector<part> parts;
    std::string text;
    for (const dom::element element : items) {
        dom::object item;
        if (element.get_object().get(item) != simdjson::SUCCESS) return std::nullopt;
        std::uint64_t index = parts.size();
        if (item.at_key("index").get_uint64().get(index) != simdjson::SUCCESS) index = parts.size();
        const std::size_t from = text.size();
        text.append(R"({"index":)").append(std::to_string(index));
        write(text, item);
        text += '}';
        parts.push_back({index, from, text.size() - from});
    }
    const auto whole = [&text](const part& p) { return std::string_view(text).substr(p.from, p.size); };
    std::ranges::sort(parts, [&](const part& a, const part& b) {
        return a.index != b.index ? a.index < b.index : whole(a) < whole(b);
    });
    std::string out;
    out.reserve(text.size() + parts.size() + list.size() + 8);
    out.append(R"({")").append(list).append("\":[");
    for (const part& p : parts) {
        if (out.back() != '[') out += ',';
        out.append(whole(p));
    }
    return out.append("]}");
}

// parse, then `from`, of an object that is text.
template <class From>
std::optional<std::string> of_text(std::string_view object, From from) {
    dom::object top;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS) return std::nullopt;
    return from(top);
}

}  // namespace

std::optional<std::string> normalised_chat(dom::object object) {
    return each_by_index(object, "choices", [](std::string& out, dom::object choice) {
        copy(out, choice, "finish_reason", {"finish_reason"});
        copy(out, choice, "stop_reason", {"stop_reason", "matched_stop"});
        copy_message(out, choice);
        copy(out, choice, "token_ids", {"token_ids"});
    });
}

std::optional<std::string> normalised_completions(dom::object object) {
    return each_by_index(object, "choices", [](std::string& out, dom::object choice) {
        copy(out, choice, "finish_reason", {"finish_reason"});
        copy(out, choice, "stop_reason", {"stop_reason", "matched_stop"});
        copy(out, choice, "text", {"text"});
        copy(out, choice, "token_ids", {"token_ids"});
    });
}

std::optional<std::string> normalised_chat(std::string_view object) {
    return of_text(object, [](dom::object top) { return normalised_chat(top); });
}

std::optional<std::string> normalised_completions(std::string_view object) {
    return of_text(object, [](dom::object top) { return normalised_completions(top); });
}

std::optional<std::string> normalised_embeddings(dom::object object) {
    return each_by_index(object, "data", [](std::string& out, dom::object item) {
        dom::element value;
        if (!present(item, "embedding", value)) return;
        begin_member(out, "embedding");
        append_vectors(out, value);
    });
}

std::optional<std::string> normalised_embeddings(std::string_view object) {
    return of_text(object, [](dom::object top) { return normalised_embeddings(top); });
}

}  // namespace idem::upstream::dialect::openai
