// The lines of an Ollama answer, from its object form.
#include <array>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/ollama_convert.hpp"

namespace idem::upstream::dialect::ollama {
namespace {

// Members that every line repeats.
constexpr std::array<std::string_view, 4> common = {"model", "remote_model", "remote_host", "created_at"};

bool fits(std::string_view value, json_kind kind) noexcept {
    const json_kind is = kind_of(value);
    return is == json_kind::invalid || is == json_kind::null || is == kind;
}

bool says_something(std::string_view value) noexcept {
    if (kind_of(value) == json_kind::string) return !string_inner(value).empty();
    return kind_of(value) == json_kind::array && json_items(value).next();
}

class line_writer {
public:
    line_writer(std::string_view object, api which) : which_(which) {
        good_ = is_json(object);
        if (!good_) return;
        top_ = trim(object);
        payload_ = which == api::chat ? find_member(top_, "message") : top_;
        text_name_ = which == api::chat ? "content" : "response";
        for (const std::string_view key : common) add_member(head_, key, find_member(top_, key));
        good_ = splits();
    }

    [[nodiscard]] std::optional<std::string> write() {
        if (!good_) return std::nullopt;
        const std::string_view text = of_payload(text_name_);
        const std::string_view thinking = of_payload("thinking");
        const std::string_view calls = of_payload("tool_calls");
        const std::string_view logprobs = find_member(top_, "logprobs");
        const std::string_view no_text = text.empty() ? text : std::string_view(R"("")");
        if (says_something(thinking)) piece(no_text, "thinking", thinking, {});
        if (says_something(text) || says_something(logprobs)) {
            piece(text, {}, {}, says_something(logprobs) ? logprobs : std::string_view{});
        }
        if (says_something(calls)) piece(no_text, "tool_calls", calls, {});
        last();
        return std::move(out_);
    }

private:
    [[nodiscard]] std::string_view of_payload(std::string_view key) const noexcept {
        return find_member(payload_, key);
    }

    [[nodiscard]] bool splits() const {
        const std::string_view error = find_member(top_, "error");
        if (kind_of(payload_) != json_kind::object || !unique_keys(top_) || !unique_keys(payload_)) return false;
        if (!(error.empty() || error == "null") || find_member(top_, "done") != "true") return false;
        return kind_of(of_payload(text_name_)) == json_kind::string &&
               fits(of_payload("thinking"), json_kind::string) && fits(of_payload("tool_calls"), json_kind::array) &&
               fits(of_payload("images"), json_kind::array) && fits(find_member(top_, "logprobs"), json_kind::array);
    }

    // A line that is not the last one.
    void piece(std::string_view text, std::string_view key, std::string_view value, std::string_view logprobs) {
        std::string line = head_;
        std::string message = "{";
        std::string& payload = which_ == api::chat ? message : line;
        if (which_ == api::chat) add_member(payload, "role", of_payload("role"));
        add_member(payload, text_name_, text);
        add_member(payload, key, value);
        if (which_ == api::chat) add_member(line, "message", message += '}');
        add_member(line, "done", "false");
        add_member(line, "logprobs", logprobs);
        out_ += line + "}\n";
    }

    // Whether an earlier line has said this member of the payload.
    [[nodiscard]] static bool said(std::string_view key, std::string_view value) {
        return (key == "thinking" || key == "tool_calls") && says_something(value);
    }

    [[nodiscard]] std::string rest_of_message() const {
        std::string out = "{";
        json_members members(payload_);
        while (members.next()) {
            if (said(members.key(), members.value())) continue;
            add_member(out, members.key(), members.key() == text_name_ ? std::string_view(R"("")") : members.value());
        }
        return out + "}";
    }

    void last() {
        std::string line = "{";
        json_members members(top_);
        while (members.next()) {
            const std::string_view key = members.key();
            const std::string_view value = members.value();
            if (key == "logprobs" && says_something(value)) continue;
            if (which_ == api::chat && key == "message") {
                add_member(line, key, rest_of_message());
            } else if (which_ == api::generate && key == text_name_) {
                add_member(line, key, R"("")");
            } else if (which_ == api::chat || !said(key, value)) {
                add_member(line, key, value);
            }
        }
        out_ += line + "}\n";
    }

    api which_;
    std::string_view top_, payload_, text_name_;
    std::string head_ = "{";
    std::string out_;
    bool good_ = false;
};

}  // namespace

std::optional<std::string> split(std::string_view object, api which) {
    return line_writer(object, which).write();
}

}  // namespace idem::upstream::dialect::ollama
