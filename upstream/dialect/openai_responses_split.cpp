#include <set>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_responses_convert.hpp"

namespace idem::upstream::dialect::openai {
namespace {

// Where an event belongs.
struct place {
    std::string item;   // `"item_id":…,"output_index":…`
    std::string index;  // of the part, with its name, or empty
};

void next_member(std::string& out, std::string_view key, std::string_view token) {
    if (out.back() != '{') out += ',';
    append_member(out, key, token);
}

bool is_text(std::string_view token) noexcept {
    return kind_of(token) == json_kind::string;
}

bool says_something(std::string_view token) noexcept {
    return !string_inner(token).empty();
}

class response_splitter {
public:
    explicit response_splitter(std::string_view object) : object_(trim(object)) { out_.reserve(object.size() * 4); }

    [[nodiscard]] bool run() {
        const std::string_view status = string_inner(find_member(object_, "status"));
        const std::string_view output = find_member(object_, "output");
        const std::string_view error = find_member(object_, "error");
        if (!unique_keys(object_) || string_inner(find_member(object_, "object")) != "response") return false;
        if (status != "completed" && status != "incomplete") return false;
        if (!(error.empty() || error == "null") || !says_something(find_member(object_, "id"))) return false;
        if (kind_of(output) != json_kind::array || kind_of(find_member(object_, "output_text")) == json_kind::string) {
            return false;  // output_text is made by the SDKs: a stream has no place for it
        }
        const std::string begun = begun_response();
        event("response.created", begun);
        event("response.in_progress", begun);
        json_items items(output);
        for (std::size_t i = 0; items.next(); ++i) {
            if (!write_item(items.value(), i)) return false;
        }
        std::string whole = "{";
        next_member(whole, "response", object_);
        event(status == "completed" ? "response.completed" : "response.incomplete", whole);
        return true;
    }
    [[nodiscard]] std::string finish() && { return std::move(out_); }

private:
    // `members` is an object without its closing brace.
    void event(std::string_view type, std::string_view members) {
        out_.append("event: ").append(type).append("\ndata: {\"type\":\"").append(type);
        out_.append("\",\"sequence_number\":").append(std::to_string(number_++));
        if (members.size() > 1) out_.append(",").append(members.substr(1));
        out_.append("}\n\n");
    }

    void event(std::string_view type, const place& at, std::string_view key, std::string_view token,
               std::string_view more = "") {
        std::string members = "{" + at.item + at.index;
        next_member(members, key, token);
        event(type, members.append(more));
    }

    // The response as it was before anything came.
    [[nodiscard]] std::string begun_response() const {
        std::string out = R"({"response":{)";
        json_members members(object_);
        while (members.next()) {
            const std::string_view key = members.key();
            std::string_view value = members.value();
            if (key == "status") value = R"("in_progress")";
            if (key == "output") value = "[]";
            if (key == "usage" || key == "completed_at" || key == "incomplete_details") value = "null";
            next_member(out, key, value);
        }
        return out + "}";
    }

    [[nodiscard]] bool write_item(std::string_view item, std::size_t index) {
        const std::string_view type = string_inner(find_member(item, "type"));
        const std::string_view id = find_member(item, "id");
        if (kind_of(item) != json_kind::object || !unique_keys(item) || !says_something(id)) return false;
        if (!ids_.insert(id).second) return false;
        place at;
        at.item = "\"item_id\":" + std::string(id) + ",\"output_index\":" + std::to_string(index);
        const std::string number = "{\"output_index\":" + std::to_string(index);

        std::string added = number;
        next_member(added, "item", begun_item(item, type));
        event("response.output_item.added", added);
        if (!write_inside(item, type, at)) return false;
        std::string done = number;
        next_member(done, "item", item);
        event("response.output_item.done", done);
        return true;
    }

    [[nodiscard]] static std::string begun_item(std::string_view item, std::string_view type) {
        std::string out = "{";
        json_members members(item);
        while (members.next()) {
            const std::string_view key = members.key();
            std::string_view value = members.value();
            if (key == "status" && is_text(value)) value = R"("in_progress")";
            const bool list = key == "content" || (key == "summary" && type == "reasoning");
            if (list && kind_of(value) == json_kind::array) value = "[]";
            const bool text =
                (key == "arguments" && type == "function_call") || (key == "input" && type == "custom_tool_call");
            if (text && is_text(value)) value = "\"\"";
            next_member(out, key, value);
        }
        return out + "}";
    }

    [[nodiscard]] bool write_inside(std::string_view item, std::string_view type, place& at) {
        if (type == "message") return write_list(find_member(item, "content"), at, "content_index", false);
        if (type == "function_call") return write_call(item, at, "arguments", "response.function_call_arguments");
        if (type == "custom_tool_call") return write_call(item, at, "input", "response.custom_tool_call_input");
        if (type != "reasoning") return false;
        const std::string_view thoughts = find_member(item, "content");
        if (!write_list(find_member(item, "summary"), at, "summary_index", true)) return false;
        return thoughts.empty() || thoughts == "null" || write_list(thoughts, at, "content_index", true);
    }

    [[nodiscard]] bool write_call(std::string_view item, const place& at, std::string_view key, std::string_view name) {
        const std::string_view text = find_member(item, key);
        const std::string_view call = find_member(item, "call_id");
        if (!is_text(text) || !says_something(call) || !calls_.insert(call).second) return false;
        if (says_something(text)) event(std::string(name) + ".delta", at, "delta", text);
        event(std::string(name) + ".done", at, key, text);
        return true;
    }

    [[nodiscard]] bool write_list(std::string_view list, place& at, std::string_view index_name, bool thought) {
        if (kind_of(list) != json_kind::array) return false;
        json_items parts(list);
        for (std::size_t i = 0; parts.next(); ++i) {
            at.index = ",\"" + std::string(index_name) + "\":" + std::to_string(i);
            if (kind_of(parts.value()) != json_kind::object || !unique_keys(parts.value())) return false;
            if (!(thought ? write_thought(parts.value(), at) : write_part(parts.value(), at))) return false;
        }
        at.index.clear();
        return true;
    }

    [[nodiscard]] static std::string begun_part(std::string_view part) {
        std::string out = "{";
        json_members members(part);
        while (members.next()) {
            const std::string_view key = members.key();
            std::string_view value = members.value();
            if (key == "text" || key == "refusal") value = "\"\"";
            if (key == "annotations" || key == "logprobs") value = kind_of(value) == json_kind::array ? "[]" : value;
            next_member(out, key, value);
        }
        return out + "}";
    }

    // Of a message.
    [[nodiscard]] bool write_part(std::string_view part, const place& at) {
        const std::string_view type = string_inner(find_member(part, "type"));
        const bool text = type == "output_text";
        const std::string_view said = find_member(part, text ? "text" : "refusal");
        if (!is_text(said) || !(text || type == "refusal")) return false;
        const std::string name = text ? "response.output_text" : "response.refusal";
        event("response.content_part.added", at, "part", begun_part(part));
        std::string probabilities;
        if (text) {
            const std::string_view known = find_member(part, "logprobs");
            probabilities = ",";
            append_member(probabilities, "logprobs", kind_of(known) == json_kind::array ? known : "[]");
        }
        if (says_something(said)) event(name + ".delta", at, "delta", said, probabilities);
        json_items annotations(find_member(part, "annotations"));
        for (std::size_t i = 0; text && annotations.next(); ++i) {
            event("response.output_text.annotation.added", at, "annotation_index", std::to_string(i),
                  with_comma("annotation", annotations.value()));
        }
        event(name + ".done", at, text ? "text" : "refusal", said, probabilities);
        event("response.content_part.done", at, "part", part);
        return true;
    }

    [[nodiscard]] static std::string with_comma(std::string_view key, std::string_view token) {
        std::string out = ",";
        append_member(out, key, token);
        return out;
    }

    // Of a summary, or of the reasoning itself.
    [[nodiscard]] bool write_thought(std::string_view part, const place& at) {
        const std::string_view type = string_inner(find_member(part, "type"));
        const std::string_view said = find_member(part, "text");
        const bool summary = at.index.starts_with(",\"summary_index\"");
        if (!is_text(said) || type != (summary ? "summary_text" : "reasoning_text")) return false;
        const std::string frame = summary ? "response.reasoning_summary_part" : "response.content_part";
        const std::string name = summary ? "response.reasoning_summary_text" : "response.reasoning_text";
        event(frame + ".added", at, "part", begun_part(part));
        if (says_something(said)) event(name + ".delta", at, "delta", said);
        event(name + ".done", at, "text", said);
        event(frame + ".done", at, "part", part);
        return true;
    }

    std::string_view object_;
    std::string out_;
    std::uint64_t number_ = 0;
    std::set<std::string_view> ids_;    // of items, as written
    std::set<std::string_view> calls_;  // their call ids
};

}  // namespace

std::optional<std::string> split_response(std::string_view object) {
    if (!is_json(object)) return std::nullopt;
    response_splitter splitter(object);
    if (!splitter.run()) return std::nullopt;
    return std::move(splitter).finish();
}

}  // namespace idem::upstream::dialect::openai
