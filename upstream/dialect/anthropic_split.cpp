#include "upstream/dialect/anthropic_split.hpp"

#include <vector>

#include "upstream/dialect/anthropic_fold.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::anthropic {
namespace {

// Known at the end of a stream only: null at its start.
bool comes_late(std::string_view key) noexcept {
    return key == "stop_reason" || key == "stop_sequence" || key == "stop_details" || key == "container";
}

void next_member(std::string& out, std::string_view key, std::string_view token) {
    if (out.back() != '{') out += ',';
    append_member(out, key, token);
}

class message_splitter {
public:
    explicit message_splitter(std::string_view object) : object_(trim(object)) { out_.reserve(object.size() * 2); }

    [[nodiscard]] bool run() {
        content_ = find_member(object_, "content");
        usage_ = find_member(object_, "usage");
        if (!well_formed()) return false;
        write_start();
        json_items blocks(content_);
        for (std::size_t i = 0; blocks.next(); ++i) {
            if (!write_block(blocks.value(), std::to_string(i))) return false;
        }
        write_end();
        return true;
    }
    [[nodiscard]] std::string finish() && { return std::move(out_); }

private:
    [[nodiscard]] bool well_formed() const {
        if (!unique_keys(object_) || !unique_keys(usage_)) return false;
        if (string_inner(find_member(object_, "type")) != "message" || !find_member(object_, "error").empty())
            return false;
        if (kind_of(content_) != json_kind::array || kind_of(usage_) != json_kind::object) return false;
        if (kind_of(find_member(usage_, "output_tokens")) != json_kind::number) return false;
        return !string_inner(find_member(object_, "stop_reason")).empty();
    }

    void event(std::string_view type, std::string_view rest) {
        out_.append("event: ").append(type).append("\ndata: {\"type\":\"").append(type).append("\"");
        out_.append(rest).append("}\n\n");
    }

    void write_start() {
        std::string message = "{";
        json_members members(object_);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "content") {
                next_member(message, key, "[]");
            } else if (key == "usage") {
                next_member(message, key, usage_so_far());
            } else {
                next_member(message, key, comes_late(key) ? std::string_view("null") : members.value());
            }
        }
        event("message_start", ",\"message\":" + message + "}");
    }

    [[nodiscard]] std::string usage_so_far() const {
        std::string usage = "{";
        json_members members(usage_);
        while (members.next()) {
            const bool output = members.key() == "output_tokens";
            next_member(usage, members.key(), output ? std::string_view("0") : members.value());
        }
        return usage + "}";
    }

    // The block without what its deltas bring, then these.
    [[nodiscard]] bool write_block(std::string_view block, const std::string& index) {
        const std::string_view type = string_inner(find_member(block, "type"));
        if (kind_of(block) != json_kind::object || !unique_keys(block)) return false;
        if (type.empty() || type == fallback_block) return false;
        std::string opening = "{";
        std::vector<std::string> deltas;
        json_members members(block);
        while (members.next()) {
            const std::string_view value = members.value();
            const std::size_t before = deltas.size();
            if (!take_apart(type, members.key(), value, deltas)) return false;
            next_member(opening, members.key(), deltas.size() == before ? value : emptied(value));
        }
        event("content_block_start", ",\"index\":" + index + ",\"content_block\":" + opening + "}");
        for (const std::string& delta : deltas) {
            event("content_block_delta", ",\"index\":" + index + ",\"delta\":{" + delta + "}");
        }
        event("content_block_stop", ",\"index\":" + index);
        return true;
    }

    [[nodiscard]] static std::string_view emptied(std::string_view value) noexcept {
        const json_kind kind = kind_of(value);
        return kind == json_kind::string ? "\"\"" : kind == json_kind::array ? "[]" : "{}";
    }

    // Appends the deltas of one member, none if it stays where it is. False if it is not what its place demands.
    [[nodiscard]] static bool take_apart(std::string_view type, std::string_view key, std::string_view value,
                                         std::vector<std::string>& deltas) {
        const auto is = [&](std::string_view block, std::string_view member) { return type == block && key == member; };
        const json_kind kind = kind_of(value);
        if (is("text", "text") || is("thinking", "thinking")) {
            if (value != "\"\"") deltas.push_back(delta_of(key, key, value));
            return kind == json_kind::string;
        }
        if (is("thinking", "signature")) {
            if (kind == json_kind::string && value != "\"\"") deltas.push_back(delta_of("signature", key, value));
            return kind == json_kind::string || kind == json_kind::null;
        }
        if (is("text", "citations")) {
            json_items citations(value);
            while (citations.next()) deltas.push_back(delta_of("citations", "citation", citations.value()));
            return kind == json_kind::array || kind == json_kind::null;
        }
        if (key == "input" && has_input(type)) {
            // The first piece is empty, as of the provider's own servers; the text after it is the input as it stands.
            deltas.push_back(delta_of("input_json", "partial_json", "\"\""));
            std::string text;
            append_json_string(text, value);
            if (json_members(value).next()) deltas.push_back(delta_of("input_json", "partial_json", text));
            return kind == json_kind::object;
        }
        return true;
    }

    [[nodiscard]] static std::string delta_of(std::string_view kind, std::string_view key, std::string_view value) {
        std::string delta = "\"type\":\"" + std::string(kind) + "_delta\",";
        append_member(delta, key, value);
        return delta;
    }

    // SDKs take the sequence from here whether or not it is there.
    void write_end() {
        std::string delta = "{";
        json_members members(object_);
        while (members.next()) {
            if (comes_late(members.key())) next_member(delta, members.key(), members.value());
        }
        if (find_member(object_, "stop_sequence").empty()) next_member(delta, "stop_sequence", "null");
        std::string usage = ",";
        append_member(usage, "usage", usage_);
        event("message_delta", ",\"delta\":" + delta + "}" + usage);
        event("message_stop", "");
    }

    std::string_view object_;
    std::string_view content_;
    std::string_view usage_;
    std::string out_;
};

}  // namespace

std::optional<std::string> split_message(std::string_view object) {
    if (!is_json(object)) return std::nullopt;
    message_splitter splitter(object);
    if (!splitter.run()) return std::nullopt;
    return std::move(splitter).finish();
}

}  // namespace idem::upstream::dialect::anthropic
