// The object form of an Ollama answer, from its lines.
#include "upstream/dialect/json_merge.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/lines.hpp"
#include "upstream/dialect/ollama_convert.hpp"

namespace idem::upstream::dialect::ollama {
namespace {

bool is_text(json_kind kind) noexcept {
    return kind == json_kind::string || kind == json_kind::null;
}
bool is_list(json_kind kind) noexcept {
    return kind == json_kind::array || kind == json_kind::null;
}

// Pieces of one text or list; a value of another kind has no sure place.
void gather(json_merge& into, std::string_view key, std::string_view value, merge_rule rule) {
    const json_kind kind = kind_of(value);
    if (rule == merge_rule::concat ? !is_text(kind) : !is_list(kind)) into.mark_lossy();
    into.take(key, value, rule);
}

class line_fold {
public:
    explicit line_fold(api which) : which_(which) {}

    // False if the stream is of no use.
    [[nodiscard]] bool take(std::string_view line) {
        if (done_ || kind_of(line) != json_kind::object) return false;
        done_ = find_member(line, "done") == "true";
        json_members members(line);
        while (members.next()) {
            const std::string_view key = members.key();
            const std::string_view value = members.value();
            if (key == "error" && value != "null") return false;
            if (which_ == api::chat && key == "message") {
                top_.reserve(key);
                if (!take_message(value)) return false;
            } else if (which_ == api::generate && (key == "response" || key == "thinking")) {
                gather(top_, key, value, merge_rule::concat);
            } else if (key == "logprobs" || (which_ == api::generate && key == "tool_calls")) {
                gather(top_, key, value, merge_rule::append);
            } else {
                top_.take(key, value, key == "done" || key == "created_at" ? merge_rule::last : merge_rule::once);
            }
        }
        return true;
    }

    [[nodiscard]] std::optional<folded> finish() {
        if (!done_ || !top_.has(which_ == api::chat ? "message" : "response")) return std::nullopt;
        folded out;
        out.lossless = !top_.lossy() && !message_.lossy();
        if (which_ == api::chat) top_.put("message", message_.text());
        out.object = top_.text();
        return out;
    }

private:
    [[nodiscard]] bool take_message(std::string_view message) {
        if (kind_of(message) != json_kind::object) return false;
        json_members members(message);
        while (members.next()) {
            const std::string_view key = members.key();
            const std::string_view value = members.value();
            if (key == "content" || key == "thinking") {
                gather(message_, key, value, merge_rule::concat);
            } else if (key == "tool_calls" || key == "images") {
                gather(message_, key, value, merge_rule::append);
            } else {
                message_.take(key, value, key == "role" ? merge_rule::once : merge_rule::single);
            }
        }
        return true;
    }

    api which_;
    json_merge top_;
    json_merge message_;
    bool done_ = false;
};

}  // namespace

std::optional<folded> fold(std::string_view stream, api which) {
    line_splitter splitter;
    line_fold state(which);
    for (;;) {
        line_step step = splitter.next(stream);
        if (step == line_step::need_more) step = splitter.finish();
        if (step == line_step::overflow) return std::nullopt;
        if (step == line_step::need_more) return state.finish();
        if (parse_padded(splitter.line()).error() != simdjson::SUCCESS) return std::nullopt;
        if (!state.take(trim(splitter.line()))) return std::nullopt;
    }
}

}  // namespace idem::upstream::dialect::ollama
