#include <charconv>
#include <map>
#include <vector>

#include "upstream/dialect/fold_events.hpp"
#include "upstream/dialect/gemini_convert.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_merge.hpp"
#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect::gemini {
namespace {

namespace dom = simdjson::dom;

// The parts of one candidate.
class part_list {
public:
    // `parts` is what one event brought: only its first part may go on where the event before ended.
    [[nodiscard]] bool take(std::string_view parts) {
        if (kind_of(parts) != json_kind::array) return false;
        bool first = true;
        json_items items(parts);
        while (items.next()) {
            take_part(items.value(), first);
            first = false;
        }
        return true;
    }
    [[nodiscard]] bool lossy() const noexcept { return lossy_; }

    [[nodiscard]] std::string text() const {
        std::string out = "[";
        for (const part& p : parts_) {
            if (out.size() > 1) out += ',';
            out += p.before;
            out += p.said;
            out += p.behind;
        }
        return out + "]";
    }

private:
    // A part whose text may grow is cut into what stands before its text, the text and what stands behind it.
    struct part {
        std::string before, said, behind;
        std::string_view thought;  // "true", else empty
        bool grows = false;
    };

    void take_part(std::string_view raw, bool first) {
        part p;
        std::string_view said;
        bool plain = kind_of(raw) == json_kind::object;
        json_members members(raw);
        while (members.next()) {
            if (members.key() == "text" && kind_of(members.value()) == json_kind::string && said.empty()) {
                said = members.value();
            } else if (members.key() == "thought" && kind_of(members.value()) == json_kind::boolean) {
                p.thought = members.value() == "true" ? "true" : "";
            } else {
                plain = false;
            }
            // A call whose arguments come in pieces.
            if (members.key() == "functionCall" && (find_member(members.value(), "willContinue") == "true" ||
                                                    !find_member(members.value(), "partialArgs").empty())) {
                lossy_ = true;
            }
        }
        p.grows = plain && !said.empty();
        if (!p.grows) {
            p.before = raw;
        } else if (first && !parts_.empty() && parts_.back().grows && parts_.back().thought == p.thought) {
            parts_.back().said += string_inner(said);
            return;
        } else {
            const std::string_view inner = string_inner(said);
            const auto at = static_cast<std::size_t>(said.data() - raw.data()) + 1;
            p.before = raw.substr(0, at);
            p.said = inner;
            p.behind = raw.substr(at + inner.size());
        }
        parts_.push_back(std::move(p));
    }

    std::vector<part> parts_;
    bool lossy_ = false;
};

class candidate_fold {
public:
    [[nodiscard]] bool take(std::string_view candidate) {
        json_members members(candidate);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "content") {
                members_.reserve(key);
                if (!take_content(members.value())) return false;
            } else if (key == "safetyRatings" || key == "tokenCount" || key == "avgLogprobs") {
                members_.take(key, members.value(), merge_rule::last);
            } else {
                members_.take(key, members.value(), merge_rule::single);
            }
        }
        return true;
    }
    [[nodiscard]] bool lossy() const noexcept { return members_.lossy() || content_.lossy() || parts_.lossy(); }

    [[nodiscard]] std::string text() {
        if (content_.has("parts")) content_.put("parts", parts_.text());
        if (members_.has("content")) members_.put("content", content_.text());
        return members_.text();
    }

private:
    [[nodiscard]] bool take_content(std::string_view content) {
        if (content == "null") return true;
        if (kind_of(content) != json_kind::object) return false;
        json_members members(content);
        while (members.next()) {
            if (members.key() != "parts") {
                content_.take(members.key(), members.value(), merge_rule::single);
                continue;
            }
            content_.reserve("parts");
            if (!parts_.take(members.value())) return false;
        }
        return true;
    }

    json_merge members_;
    json_merge content_;
    part_list parts_;
};

class answer_fold {
public:
    // False if the stream is of no use.
    [[nodiscard]] bool take(const sse_event& event) {
        if (event.type == "error" || parse_padded(event.data).error() != simdjson::SUCCESS) return false;
        const std::string_view data = trim(event.data);
        const std::string_view error = find_member(data, "error");
        if (kind_of(data) != json_kind::object || !(error.empty() || error == "null")) return false;
        if (events_++ == 0) first_ = data;
        json_members members(data);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "candidates") {
                top_.reserve(key);
                if (!take_candidates(members.value())) return false;
            } else if (key == "usageMetadata" || key == "promptFeedback") {
                top_.take(key, members.value(), merge_rule::last);
            } else {
                top_.take(key, members.value(), merge_rule::single);
            }
        }
        return true;
    }

    [[nodiscard]] std::optional<folded> finish() {
        if (events_ == 0) return std::nullopt;
        if (events_ == 1) return folded{std::move(first_), true};
        folded out;
        std::string list = "[";
        for (auto& [index, candidate] : candidates_) {
            if (list.size() > 1) list += ',';
            list += candidate.text();
            if (candidate.lossy()) out.lossless = false;
        }
        if (top_.has("candidates")) top_.put("candidates", list + "]");
        if (top_.lossy()) out.lossless = false;
        out.object = top_.text();
        return out;
    }

private:
    [[nodiscard]] bool take_candidates(std::string_view list) {
        if (list == "null") return true;
        if (kind_of(list) != json_kind::array) return false;
        json_items items(list);
        while (items.next()) {
            const std::string_view number = find_member(items.value(), "index");
            unsigned index = 0;
            if (!number.empty() && number != "null") {
                const auto [rest, ec] = std::from_chars(number.data(), number.data() + number.size(), index);
                if (ec != std::errc{} || rest != number.data() + number.size()) return false;
            }
            if (kind_of(items.value()) != json_kind::object || !candidates_[index].take(items.value())) return false;
        }
        return true;
    }

    json_merge top_;
    std::map<unsigned, candidate_fold> candidates_;
    std::string first_;
    std::size_t events_ = 0;
};

}  // namespace

std::optional<folded> fold_answer(std::string_view stream) {
    return fold_events(stream, answer_fold{});
}

std::optional<std::string> split_answer(std::string_view object) {
    dom::object top;
    dom::element value;
    if (parse_copied(object).get_object().get(top) != simdjson::SUCCESS || present(top, "error", value))
        return std::nullopt;
    std::string out = "data: ";
    for (const char c : trim(object)) out += c == '\n' || c == '\r' ? ' ' : c;
    return out + "\n\n";
}

}  // namespace idem::upstream::dialect::gemini
