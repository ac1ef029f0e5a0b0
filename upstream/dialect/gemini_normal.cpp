#include <map>

#include "upstream/dialect/gemini_convert.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::gemini {
namespace {

namespace dom = simdjson::dom;

// Parts without signatures and call ids; neighbouring texts of one kind are one.
class words {
public:
    void take(dom::object part) {
        std::string_view text;
        bool thought = false;
        if (part.at_key("thought").get_bool().get(thought) != simdjson::SUCCESS) thought = false;
        if (part.at_key("text").get_string().get(text) == simdjson::SUCCESS) {
            if (text.empty()) return;
            if (thought != thought_) close();
            thought_ = thought;
            said_ += text;
            return;
        }
        close();
        std::string out = "{";
        for (const auto& [key, value] : part) {
            dom::object call;
            if (key == "thoughtSignature") continue;
            begin_member(out, key);
            if (key == "functionCall" && value.get_object().get(call) == simdjson::SUCCESS) {
                out += '{';
                for (const std::string_view told : {"name", "args"}) copy(out, call, told, {told});
                out += '}';
            } else {
                append_value(out, value);
            }
        }
        if (out.size() > 1) add(out + "}");
    }
    [[nodiscard]] std::string text() {
        close();
        return "[" + out_ + "]";
    }

private:
    void close() {
        if (said_.empty()) return;
        std::string out = thought_ ? R"({"thought":)" : R"({"text":)";
        append_json_string(out, said_);
        said_.clear();
        add(out + "}");
    }
    void add(const std::string& part) {
        if (!out_.empty()) out_ += ',';
        out_ += part;
    }

    std::string out_;
    std::string said_;
    bool thought_ = false;
};

std::string candidate_words(dom::object candidate) {
    std::string out = "{";
    dom::object content;
    dom::array parts;
    copy(out, candidate, "finishReason", {"finishReason"});
    if (!object_of(candidate, "content", content)) return out + "}";
    copy(out, content, "role", {"role"});
    if (content.at_key("parts").get_array().get(parts) != simdjson::SUCCESS) return out + "}";
    words said;
    for (const dom::element element : parts) {
        if (dom::object part; element.get_object().get(part) == simdjson::SUCCESS) said.take(part);
    }
    begin_member(out, "parts");
    return out + said.text() + "}";
}

}  // namespace

std::optional<std::string> normalised_answer(std::string_view object) {
    dom::object top;
    dom::object feedback;
    dom::array candidates;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS) return std::nullopt;
    std::string out = "{";
    if (object_of(top, "promptFeedback", feedback)) copy(out, feedback, "blockReason", {"blockReason"});
    std::map<std::uint64_t, std::string> by_index;
    if (top.at_key("candidates").get_array().get(candidates) == simdjson::SUCCESS) {
        for (const dom::element element : candidates) {
            dom::object candidate;
            if (element.get_object().get(candidate) != simdjson::SUCCESS) continue;
            by_index[count_of(candidate, "index")] += candidate_words(candidate);
        }
    }
    begin_member(out, "candidates");
    out += '[';
    for (const auto& [index, said] : by_index) {
        if (out.back() != '[') out += ',';
        out += said;
    }
    return out + "]}";
}

}  // namespace idem::upstream::dialect::gemini
