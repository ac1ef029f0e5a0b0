// A completion's choice: from its chunks, and into them.
#include "upstream/dialect/openai_fold.hpp"
#include "upstream/dialect/openai_split.hpp"

namespace idem::upstream::dialect::openai {
namespace {

class completion_choice final : public choice_fold {
public:
    void take(std::string_view choice) override {
        json_members members(choice);
        while (members.next()) {
            const std::string_view key = members.key();
            const std::string_view value = members.value();
            if (key == "text") {
                if (kind_of(value) != json_kind::string) choice_.mark_lossy();
                choice_.take(key, value, merge_rule::concat);
            } else if (key == "logprobs") {
                logprobs_.take(choice_, value);
            } else if (key == "finish_reason") {
                choice_.take(key, value, merge_rule::text);
            } else if (key == "token_ids") {
                choice_.take(key, value, merge_rule::append);
            } else {
                choice_.take(key, value, merge_rule::once);
            }
        }
    }
    bool finished() const override { return choice_.filled("finish_reason"); }
    bool lossy() const override { return choice_.lossy() || logprobs_.lossy() || !choice_.has("text"); }
    std::string text() override {
        logprobs_.settle(choice_);
        return choice_.text();
    }

private:
    json_merge choice_;
    nested_fold logprobs_{"logprobs", logprobs_rule};
};

// Text and log probabilities in one chunk, the end with everything else in another.
bool split_choice(chunk_writer& out, std::string_view choice, const std::string& index) {
    const std::string_view text = find_member(choice, "text");
    const std::string_view logprobs = find_member(choice, "logprobs");
    const json_kind scored = kind_of(logprobs);
    if (find_member(choice, "index") != index || kind_of(text) != json_kind::string) return false;
    if (string_inner(find_member(choice, "finish_reason")).empty()) return false;
    if (scored != json_kind::invalid && scored != json_kind::null && scored != json_kind::object) return false;
    std::string first = R"({"index":)" + index + ",";
    append_member(first, "text", text);
    std::string last = R"({"index":)" + index + R"(,"text":"")";
    json_members members(choice);
    while (members.next()) {
        const std::string_view key = members.key();
        if (key == "index" || key == "text") continue;
        last += ',';
        append_member(last, key, key == "logprobs" ? std::string_view("null") : members.value());
    }
    if (!logprobs.empty()) {
        first += ',';
        append_member(first, "logprobs", logprobs);
    }
    out.write(first + R"(,"finish_reason":null})");
    out.write(last + "}");
    return true;
}

}  // namespace

std::optional<folded> fold_completions(std::string_view stream) {
    return fold(stream, "text_completion",
                []() -> std::unique_ptr<choice_fold> { return std::make_unique<completion_choice>(); });
}

std::optional<std::string> split_completions(std::string_view object, bool include_usage) {
    chunk_writer out(object, "text_completion", "text_completion", include_usage);
    if (!out.good()) return std::nullopt;
    json_items choices(out.choices());
    std::size_t index = 0;
    while (choices.next()) {
        if (!split_choice(out, choices.value(), std::to_string(index++))) return std::nullopt;
    }
    if (index == 0) return std::nullopt;
    return out.finish();
}

}  // namespace idem::upstream::dialect::openai
