#include <charconv>
#include <map>

#include "upstream/dialect/fold_events.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_responses_convert.hpp"
#include "upstream/dialect/openai_responses_watch.hpp"

namespace idem::upstream::dialect::openai {
namespace {

namespace dom = simdjson::dom;

class response_fold {
public:
    // False if the stream is of no use.
    [[nodiscard]] bool take(const sse_event& event) {
        if (event.data == "[DONE]") return !response_.empty();
        if (event.type == "error" || !response_.empty()) return false;
        if (parse_padded(event.data).error() != simdjson::SUCCESS) return false;
        const std::string_view data = trim(event.data);
        const std::string_view type = string_inner(find_member(data, "type"));
        const std::string_view error = find_member(data, "error");
        if (type.empty() || type == "error" || !(error.empty() || error == "null")) return false;
        if (event.type != "message" && event.type != type) return false;
        if (type == "response.output_item.done") return take_item(data);
        if (ends_response(type)) response_ = find_member(data, "response");
        return !ends_response(type) || kind_of(response_) == json_kind::object;
    }

    [[nodiscard]] std::optional<std::string> finish() {
        if (response_.empty()) return std::nullopt;
        const std::string_view output = find_member(response_, "output");
        if (kind_of(output) == json_kind::array) return std::move(response_);
        if (!output.empty() && output != "null") return std::nullopt;
        std::string items = "[";
        for (const auto& [index, item] : items_) {
            if (items.size() > 1) items += ',';
            items += item;
        }
        items += ']';
        if (items_.empty()) return std::nullopt;
        std::string out = response_;
        if (output.empty()) {
            const bool alone = !json_members(response_).next();
            out.insert(out.rfind('}'), (alone ? "\"output\":" : ",\"output\":") + items);
        } else {
            out.replace(static_cast<std::size_t>(output.data() - response_.data()), output.size(), items);
        }
        return out;
    }

private:
    [[nodiscard]] bool take_item(std::string_view data) {
        const std::string_view number = find_member(data, "output_index");
        const std::string_view item = find_member(data, "item");
        std::size_t index = 0;
        const auto [rest, ec] = std::from_chars(number.data(), number.data() + number.size(), index);
        if (ec != std::errc{} || rest != number.data() + number.size()) return false;
        items_.insert_or_assign(index, std::string(item));
        return kind_of(item) == json_kind::object;
    }

    std::map<std::size_t, std::string> items_;
    std::string response_;
};

void append_parts(std::string& out, dom::object item, std::string_view list) {
    dom::array parts;
    if (item.at_key(list).get_array().get(parts) != simdjson::SUCCESS || parts.begin() == parts.end()) return;
    begin_member(out, list);
    char separator = '[';
    for (const dom::element element : parts) {
        out += separator;
        separator = ',';
        dom::object part;
        if (element.get_object().get(part) != simdjson::SUCCESS) {
            append_value(out, element);
            continue;
        }
        out += '{';
        for (const std::string_view key : {"type", "text", "refusal", "annotations"}) copy(out, part, key, {key});
        out += '}';
    }
    out += ']';
}

constexpr std::string_view told[] = {"type",   "role", "phase", "namespace", "name",   "arguments", "input",
                                     "action", "code", "query", "queries",   "result", "output"};

}  // namespace

std::optional<std::string> fold_response(std::string_view stream) {
    return fold_events(stream, response_fold{});
}

std::optional<std::string> normalised_response(dom::object object) {
    dom::array items;
    if (object.at_key("output").get_array().get(items) != simdjson::SUCCESS) return std::nullopt;
    std::string out = "{";
    copy(out, object, "status", {"status"});
    if (dom::object details; object_of(object, "incomplete_details", details)) copy(out, details, "why", {"reason"});
    begin_member(out, "output");
    char separator = '[';
    for (const dom::element element : items) {
        out += separator;
        separator = ',';
        dom::object item;
        if (element.get_object().get(item) != simdjson::SUCCESS) {
            append_value(out, element);
            continue;
        }
        out += '{';
        for (const std::string_view key : told) copy(out, item, key, {key});
        append_parts(out, item, "summary");
        append_parts(out, item, "content");
        out += '}';
    }
    if (separator == '[') out += '[';
    return out + "]}";
}

std::optional<std::string> normalised_response(std::string_view object) {
    dom::object top;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS) return std::nullopt;
    return normalised_response(top);
}

}  // namespace idem::upstream::dialect::openai
