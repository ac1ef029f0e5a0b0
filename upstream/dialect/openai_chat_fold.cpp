// A chat completion's choice, from its deltas.
#include <charconv>

#include "upstream/dialect/openai_fold.hpp"

namespace idem::upstream::dialect::openai {
namespace {

merge_rule call_rule(std::string_view key, json_kind) noexcept {
    if (key == "arguments" || key == "input") return merge_rule::concat;
    return key == "name" ? merge_rule::text : merge_rule::single;
}

merge_rule audio_rule(std::string_view key, json_kind) noexcept {
    if (key == "data" || key == "transcript") return merge_rule::concat;
    if (key == "expires_at") return merge_rule::last;
    return key == "id" ? merge_rule::text : merge_rule::single;
}

class tool_call_fold {
public:
    void take(std::string_view call) {
        json_members members(call);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "index") continue;
            if (key == "function") {
                function_.take(top_, members.value());
            } else if (key == "custom") {
                custom_.take(top_, members.value());
            } else {
                top_.take(key, members.value(), key == "id" || key == "type" ? merge_rule::text : merge_rule::single);
            }
        }
    }
    [[nodiscard]] bool lossy() const { return top_.lossy() || function_.lossy() || custom_.lossy(); }
    [[nodiscard]] std::string text() {
        function_.settle(top_);
        custom_.settle(top_);
        return top_.text();
    }

private:
    json_merge top_;
    nested_fold function_{"function", call_rule};
    nested_fold custom_{"custom", call_rule};
};

class tool_calls_fold {
public:
    void take(std::string_view calls) {
        json_items items(calls);
        while (items.next()) {
            const std::string_view index = find_member(items.value(), "index");
            std::size_t at = calls_.size();
            if (!index.empty()) {
                std::from_chars(index.data(), index.data() + index.size(), at);
            } else if (find_member(items.value(), "id").empty()) {
                lossy_ = true;  // neither a place nor a new call
            }
            if (at > calls_.size()) {
                lossy_ = true;
                at = calls_.size();
            }
            if (at == calls_.size()) calls_.emplace_back();
            calls_[at].take(items.value());
        }
    }
    [[nodiscard]] bool empty() const { return calls_.empty(); }
    [[nodiscard]] bool lossy() const {
        for (const tool_call_fold& call : calls_) {
            if (call.lossy()) return true;
        }
        return lossy_;
    }
    [[nodiscard]] std::string text() {
        std::string out = "[";
        for (tool_call_fold& call : calls_) {
            if (out.size() > 1) out += ',';
            out += call.text();
        }
        return out + "]";
    }

private:
    std::vector<tool_call_fold> calls_;
    bool lossy_ = false;
};

class chat_choice final : public choice_fold {
public:
    void take(std::string_view choice) override {
        const bool last = !string_inner(find_member(choice, "finish_reason")).empty();
        json_members members(choice);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "delta") {
                choice_.reserve("message");
                take_delta(members.value(), last);
            } else if (key == "logprobs") {
                logprobs_.take(choice_, members.value());
            } else if (key == "finish_reason") {
                choice_.take(key, members.value(), merge_rule::text);
            } else if (key == "token_ids") {
                choice_.take(key, members.value(), merge_rule::append);
            } else {
                choice_.take(key, members.value(), merge_rule::once);
            }
        }
    }

    bool finished() const override { return choice_.filled("finish_reason"); }
    bool lossy() const override {
        return choice_.lossy() || logprobs_.lossy() || message_.lossy() || function_call_.lossy() || audio_.lossy() ||
               tool_calls_.lossy();
    }

    std::string text() override {
        function_call_.settle(message_);
        audio_.settle(message_);
        logprobs_.settle(choice_);
        if (has_tool_calls_) message_.put("tool_calls", tool_calls_.text());
        if (!message_.has("role")) message_.put("role", "\"assistant\"");
        settle_content();
        choice_.put("message", message_.text());
        return choice_.text();
    }

private:
    void take_delta(std::string_view delta, bool last) {
        const bool opening = !find_member(delta, "role").empty();
        json_members members(delta);
        while (members.next()) {
            const std::string_view key = members.key();
            const std::string_view value = members.value();
            const json_kind kind = kind_of(value);
            if (key == "role") {
                message_.take(key, value, merge_rule::text);
            } else if (key == "content") {
                if (kind == json_kind::string && value == "\"\"" && !opening && !last) explicit_empty_ = true;
                take_text(key, value);
            } else if (key == "refusal" || key == "reasoning_content" || key == "reasoning") {
                take_text(key, value);
            } else if (key == "tool_calls") {
                message_.reserve(key);
                if (kind == json_kind::array) has_tool_calls_ = true;
                if (kind != json_kind::array && kind != json_kind::null) message_.mark_lossy();
                tool_calls_.take(value);
            } else if (key == "function_call") {
                function_call_.take(message_, value);
            } else if (key == "audio") {
                audio_.take(message_, value);
            } else if (key == "annotations") {
                if (kind != json_kind::array && kind != json_kind::null) message_.mark_lossy();
                message_.take(key, value, merge_rule::append);
            } else {
                message_.take(key, value, kind == json_kind::string ? merge_rule::concat : merge_rule::single);
            }
        }
    }

    void take_text(std::string_view key, std::string_view value) {
        const json_kind kind = kind_of(value);
        if (kind != json_kind::string && kind != json_kind::null) message_.mark_lossy();
        message_.take(key, value, merge_rule::concat);
    }

    // Servers open every stream with content "", also where the object then says null.
    void settle_content() {
        const bool others = !tool_calls_.empty() || message_.filled("function_call") || message_.filled("refusal") ||
                            message_.filled("audio");
        if (!message_.has("content")) {
            message_.put("content", others ? "null" : "\"\"");
        } else if (others && !explicit_empty_ && !message_.filled("content")) {
            message_.put("content", "null");
        }
    }

    json_merge choice_;
    json_merge message_;
    nested_fold logprobs_{"logprobs", logprobs_rule};
    nested_fold function_call_{"function_call", call_rule};
    nested_fold audio_{"audio", audio_rule};
    tool_calls_fold tool_calls_;
    bool has_tool_calls_ = false;
    bool explicit_empty_ = false;
};

}  // namespace

std::optional<folded> fold_chat(std::string_view stream) {
    return fold(stream, "chat.completion",
                []() -> std::unique_ptr<choice_fold> { return std::make_unique<chat_choice>(); });
}

}  // namespace idem::upstream::dialect::openai
