#include "upstream/dialect/anthropic_fold.hpp"

#include <charconv>
#include <vector>

#include "upstream/dialect/anthropic_events.hpp"
#include "upstream/dialect/fold_events.hpp"
#include "upstream/dialect/json_merge.hpp"
#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect::anthropic {
namespace {

// One content block being put together.
class block_fold {
public:
    explicit block_fold(std::string_view block) : type_(string_inner(find_member(block, "type"))) {
        json_members members(block);
        while (members.next()) members_.take(members.key(), members.value(), merge_rule::once);
        if (type_.empty() || type_ == fallback_block) members_.mark_lossy();
    }

    void take(std::string_view delta) {
        const std::string_view type = string_inner(find_member(delta, "type"));
        json_members members(delta);
        while (members.next()) {
            if (members.key() != "type") take_piece(type, members.key(), members.value());
        }
    }
    void close() noexcept { open_ = false; }
    [[nodiscard]] bool open() const noexcept { return open_; }
    [[nodiscard]] bool lossy() const noexcept { return members_.lossy(); }

    // To be called once, before lossy().
    [[nodiscard]] std::string text() {
        settle_input();
        return members_.text();
    }

private:
    void take_piece(std::string_view type, std::string_view key, std::string_view value) {
        const auto is = [&](std::string_view delta, std::string_view block, std::string_view member) {
            return type == delta && type_ == block && key == member;
        };
        const json_kind kind = kind_of(value);
        if (is("text_delta", "text", "text") || is("thinking_delta", "thinking", "thinking")) {
            if (kind != json_kind::string) members_.mark_lossy();
            members_.take(key, value, merge_rule::concat);
        } else if (is("signature_delta", "thinking", "signature")) {
            members_.take(key, value, merge_rule::text);
        } else if (is("citations_delta", "text", "citation")) {
            members_.take("citations", "[" + std::string(value) + "]", merge_rule::append);
        } else if (type == "input_json_delta" && has_input(type_) && key == "partial_json") {
            if (kind != json_kind::string) members_.mark_lossy();
            input_ += string_inner(value);
        } else if (type == "compaction_delta" && type_ == "compaction") {
            members_.take(key, value, merge_rule::last);
        } else {
            members_.mark_lossy();
        }
    }

    // Pieces that make no JSON, as of an answer that met its limit, stay text.
    void settle_input() {
        if (input_.empty()) return;
        const std::string token = "\"" + input_ + "\"";
        const auto json = string_text(token);
        const bool whole = json && is_json(*json);
        if (!whole || (members_.filled("input") && json_members(members_.inner("input")).next())) members_.mark_lossy();
        members_.put("input", whole ? std::string(trim(*json)) : token);
    }

    std::string type_;
    json_merge members_;
    std::string input_;  // as it stands between the quotes of the pieces
    bool open_ = true;
};

class message_fold {
public:
    // False if the stream is of no use.
    [[nodiscard]] bool take(const sse_event& event) {
        if (event.data == "[DONE]") return stopped_;
        if (event.type == "error" || parse_padded(event.data).error() != simdjson::SUCCESS) return false;
        const std::string_view data = trim(event.data);
        if (kind_of(data) != json_kind::object) return false;
        const std::string_view type = string_inner(find_member(data, "type"));
        const std::string_view error = find_member(data, "error");
        if (type == "error" || !(error.empty() || error == "null")) return false;
        const event_kind kind = kind_of_event(type);
        if (kind != kind_of_event(event.type)) return false;
        if (kind == event_kind::ping) return true;
        if (kind == event_kind::unknown) {
            top_.mark_lossy();
            return true;
        }
        if (stopped_ || started_ == (kind == event_kind::message_start)) return false;
        return take_step(kind, data);
    }

    [[nodiscard]] std::optional<folded> finish() {
        if (!stopped_) return std::nullopt;
        folded out;
        std::string content = "[";
        for (block_fold& block : blocks_) {
            if (block.open()) return std::nullopt;
            if (content.size() > 1) content += ',';
            content += block.text();
            if (block.lossy()) out.lossless = false;
        }
        top_.put("content", content + "]");
        top_.put("usage", usage_.text());
        if (top_.lossy() || usage_.lossy()) out.lossless = false;
        if (!top_.filled("stop_reason") || !usage_.filled("output_tokens")) out.lossless = false;
        out.object = top_.text();
        return out;
    }

private:
    [[nodiscard]] bool take_step(event_kind kind, std::string_view data) {
        switch (kind) {
            case event_kind::message_start:
                started_ = true;
                expect_only(data, {"type", "message"});
                return take_message(find_member(data, "message"));
            case event_kind::content_block_start:
            case event_kind::content_block_delta:
            case event_kind::content_block_stop:
                return take_block(kind, data);
            case event_kind::message_delta:
                take_end(data);
                return true;
            default:
                stopped_ = true;
                expect_only(data, {"type"});
                return true;
        }
    }

    void expect_only(std::string_view object, std::initializer_list<std::string_view> keys) {
        json_members members(object);
        while (members.next()) {
            bool known = false;
            for (const std::string_view key : keys) known |= key == members.key();
            if (!known) top_.mark_lossy();
        }
    }

    [[nodiscard]] bool take_message(std::string_view message) {
        if (kind_of(message) != json_kind::object) return false;
        json_members members(message);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "content") {
                top_.reserve(key);
                const std::string_view blocks = members.value();
                if (kind_of(blocks) != json_kind::array || json_items(blocks).next()) top_.mark_lossy();
            } else if (key == "usage") {
                top_.reserve(key);
                take_usage(members.value(), merge_rule::once);
            } else {
                top_.take(key, members.value(), merge_rule::once);
            }
        }
        return true;
    }

    void take_usage(std::string_view usage, merge_rule rule) {
        if (kind_of(usage) != json_kind::object) top_.mark_lossy();
        json_members members(usage);
        while (members.next()) usage_.take(members.key(), members.value(), rule);
    }

    [[nodiscard]] bool take_block(event_kind kind, std::string_view data) {
        const std::string_view number = find_member(data, "index");
        std::size_t index = 0;
        const auto [rest, ec] = std::from_chars(number.data(), number.data() + number.size(), index);
        if (ec != std::errc{} || rest != number.data() + number.size()) return false;
        if (kind == event_kind::content_block_start) {
            const std::string_view block = find_member(data, "content_block");
            if (index != blocks_.size() || index >= max_blocks || kind_of(block) != json_kind::object) return false;
            expect_only(data, {"type", "index", "content_block"});
            blocks_.emplace_back(block);
            return true;
        }
        if (index >= blocks_.size() || !blocks_[index].open()) return false;
        if (kind == event_kind::content_block_stop) {
            expect_only(data, {"type", "index"});
            blocks_[index].close();
            return true;
        }
        const std::string_view delta = find_member(data, "delta");
        expect_only(data, {"type", "index", "delta"});
        blocks_[index].take(delta);
        return kind_of(delta) == json_kind::object;
    }

    void take_end(std::string_view data) {
        json_members members(data);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "delta") {
                json_members changes(members.value());
                while (changes.next()) take_change(changes.key(), changes.value());
            } else if (key == "usage") {
                top_.reserve(key);
                take_usage(members.value(), merge_rule::last);
            } else if (key == "context_management" || key == "input_transformations") {
                take_change(key, members.value());
            } else if (key != "type") {
                top_.mark_lossy();
            }
        }
    }

    // A null says only that there is nothing to say.
    void take_change(std::string_view key, std::string_view value) {
        if (value == "null" && !top_.has(key)) return;
        top_.take(key, value, merge_rule::last);
    }

    json_merge top_;
    json_merge usage_;
    std::vector<block_fold> blocks_;
    bool started_ = false;
    bool stopped_ = false;
};

}  // namespace

bool has_input(std::string_view block_type) noexcept {
    return block_type == "tool_use" || block_type == "server_tool_use" || block_type == "mcp_tool_use";
}

std::optional<folded> fold_message(std::string_view stream) {
    return fold_events(stream, message_fold{});
}

}  // namespace idem::upstream::dialect::anthropic
