#include "upstream/dialect/gemini_watch.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/object_watcher.hpp"
#include "upstream/dialect/sse.hpp"

namespace idem::upstream::dialect::gemini {
namespace {

namespace dom = simdjson::dom;

// More candidates than this in one answer are malformed.
constexpr std::size_t max_candidates = 1024;

enum class ending : std::uint8_t { none, good, limit, filtered, unfinished, bad };

ending ending_of(std::string_view why) noexcept {
    constexpr std::array<std::string_view, 9> filters = {"SAFETY",
                                                         "RECITATION",
                                                         "LANGUAGE",
                                                         "BLOCKLIST",
                                                         "PROHIBITED_CONTENT",
                                                         "SPII",
                                                         "IMAGE_SAFETY",
                                                         "IMAGE_PROHIBITED_CONTENT",
                                                         "IMAGE_RECITATION"};
    if (why.empty()) return ending::none;
    if (why == "STOP") return ending::good;
    if (why == "MAX_TOKENS") return ending::limit;
    if (why == "FINISH_REASON_UNSPECIFIED" || why == "CONTINUATION") return ending::unfinished;
    return std::ranges::find(filters, why) != filters.end() ? ending::filtered : ending::bad;
}

// What an answer says, whole or in parts.
class facts {
public:
    explicit facts(unsigned candidates) : expected_(candidates) {}

    void take(dom::object part) {
        dom::element value;
        dom::object object;
        dom::array list;
        if (present(part, "error", value)) {
            error = true;
            return;
        }
        if (const std::string_view version = text_of(part, "modelVersion"); !version.empty()) model_ = version;
        if (object_of(part, "promptFeedback", object) && !text_of(object, "blockReason").empty()) blocked_ = true;
        if (object_of(part, "usageMetadata", object)) {
            tokens_ = usage{count_of(object, "promptTokenCount") + count_of(object, "toolUsePromptTokenCount"),
                            count_of(object, "candidatesTokenCount") + count_of(object, "thoughtsTokenCount")};
        }
        if (!present(part, "candidates", value)) return;
        if (value.get_array().get(list) != simdjson::SUCCESS) {
            malformed = true;
            return;
        }
        for (const dom::element each : list) {
            if (each.get_object().get(object) != simdjson::SUCCESS || !take_candidate(object)) malformed = true;
        }
    }

    // Whether it could end here.
    [[nodiscard]] bool ended() const noexcept {
        return blocked_ || std::ranges::any_of(ends_, [](ending e) { return e != ending::none; });
    }

    [[nodiscard]] verdict conclude(reason why) {
        verdict v;
        v.refuse = why == reason::none ? judge() : why;
        v.cut = why == reason::terminal_missing;
        v.length_limited = std::ranges::find(ends_, ending::limit) != ends_.end();
        v.tokens = tokens_;
        v.model = std::move(model_);
        return v;
    }

    bool error = false;
    bool malformed = false;

private:
    [[nodiscard]] bool take_candidate(dom::object candidate) {
        dom::element value;
        dom::object content;
        std::uint64_t index = 0;
        if (present(candidate, "index", value) && value.get_uint64().get(index) != simdjson::SUCCESS) return false;
        if (index >= max_candidates) return false;
        if (present(candidate, "content", value) && value.get_object().get(content) != simdjson::SUCCESS) return false;
        if (ends_.size() <= index) ends_.resize(index + 1, ending::none);
        if (present(candidate, "finishReason", value)) {
            std::string_view why;
            if (value.get_string().get(why) != simdjson::SUCCESS) return false;
            ends_[index] = ending_of(why);
        }
        return true;
    }

    [[nodiscard]] reason judge() const noexcept {
        const auto some = [this](ending e) { return std::ranges::find(ends_, e) != ends_.end(); };
        if (ends_.empty()) return blocked_ ? reason::content_filtered : reason::no_choices;
        if (some(ending::bad)) return reason::error_in_answer;
        if (some(ending::filtered) || blocked_) return reason::content_filtered;
        const bool whole = ends_.size() == expected_ && !some(ending::none) && !some(ending::unfinished);
        return whole ? reason::none : reason::choice_unfinished;
    }

    unsigned expected_;
    std::vector<ending> ends_;
    std::optional<usage> tokens_;
    std::string model_;
    bool blocked_ = false;
};

class answer_stream final : public watcher {
public:
    explicit answer_stream(unsigned candidates) : facts_(candidates) {}

    void feed(std::string_view bytes) override {
        for (;;) {
            const sse_step step = splitter_.next(bytes);
            if (step == sse_step::overflow) facts_.malformed = true;
            if (step != sse_step::event) return;
            take(splitter_.event());
        }
    }

    verdict finish(bool framing_complete) override {
        if (splitter_.finish() == sse_step::event) take(splitter_.event());
        return facts_.conclude(why_not(framing_complete));
    }

    std::uint64_t boundary() const noexcept override { return splitter_.boundary(); }
    std::optional<byte_range> usage_event() const noexcept override { return std::nullopt; }

private:
    void take(const sse_event& event) {
        if (event.type == "error") facts_.error = true;
        if (facts_.malformed || facts_.error) return;
        dom::object part;
        if (parse_unambiguous(event.data).get_object().get(part) != simdjson::SUCCESS) {
            facts_.malformed = true;
        } else {
            facts_.take(part);
        }
    }

    [[nodiscard]] reason why_not(bool framing_complete) const {
        if (facts_.error) return reason::error_in_answer;
        if (facts_.malformed) return reason::answer_malformed;
        if (!framing_complete) return reason::framing_incomplete;
        if (!facts_.ended()) return reason::terminal_missing;
        return splitter_.unfinished() ? reason::answer_malformed : reason::none;
    }

    sse_splitter splitter_;
    facts facts_;
};

class answer_object final : public object_watcher {
public:
    explicit answer_object(unsigned candidates) : facts_(candidates) {}

    verdict judge_body(bool framing_complete) override {
        dom::object whole;
        if (!framing_complete) return facts_.conclude(reason::framing_incomplete);
        if (parse().get(whole) != simdjson::SUCCESS) return facts_.conclude(reason::answer_malformed);
        facts_.take(whole);
        if (facts_.error) return facts_.conclude(reason::error_in_answer);
        return facts_.conclude(facts_.malformed ? reason::answer_malformed : reason::none);
    }

private:
    facts facts_;
};

}  // namespace

std::unique_ptr<watcher> watch_answer(form f, unsigned candidates) {
    if (f == form::sse) return std::make_unique<answer_stream>(candidates);
    return std::make_unique<answer_object>(candidates);
}

}  // namespace idem::upstream::dialect::gemini
