#include "upstream/dialect/openai_watch.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/object_watcher.hpp"
#include "upstream/dialect/openai_normal.hpp"
#include "upstream/dialect/sse.hpp"
#include "upstream/dialect/vectors.hpp"

namespace idem::upstream::dialect::openai {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t max_choices = 65536;

enum class ending : std::uint8_t { unknown, good, limit, filter, broken };

struct known_ending {
    std::string_view word;
    ending means;
};

// OpenAI's words and those of servers that speak its API. Anything else may be a cut: Mistral's `model_length` is a
// limit that no request set, TensorRT-LLM has `timeout` and `cancelled`.
constexpr known_ending endings[] = {
    {"stop", ending::good},
    {"tool_calls", ending::good},
    {"function_call", ending::good},
    {"eos", ending::good},            // Together
    {"eos_token", ending::good},      // TGI
    {"stop_sequence", ending::good},  // TGI
    {"end_turn", ending::good},       // servers of Anthropic's models
    {"length", ending::limit},
    {"max_tokens", ending::limit},
    {"content_filter", ending::filter},
    {"abort", ending::broken},                         // vLLM, SGLang
    {"error", ending::broken},                         // vLLM, Mistral, OpenRouter
    {"insufficient_system_resource", ending::broken},  // DeepSeek
};

ending ending_of(std::string_view word) noexcept {
    const auto* const known = std::ranges::find(endings, word, &known_ending::word);
    return known == std::end(endings) ? ending::unknown : known->means;
}

// What both forms of both APIs have in common: facts gathered from whole JSON objects.
class facts {
public:
    // Errors, usage and model of one object; false if there is nothing more to look at.
    bool take_top(dom::object top) {
        dom::element value;
        if (present(top, "error", value) || text_of(top, "object") == "error") {
            error = true;
            return false;
        }
        if (model.empty()) model = text_of(top, "model");
        take_fingerprint(text_of(top, "system_fingerprint"));
        dom::object counts;
        if (present(top, "usage", value) && value.get_object().get(counts) == simdjson::SUCCESS) {
            tokens = usage{count_of(counts, "prompt_tokens"), count_of(counts, "completion_tokens")};
        }
        return true;
    }

    void take_fingerprint(std::string_view text) {
        if (text.empty() || text == fingerprint) return;
        fingerprint_changed = fingerprint_changed || !fingerprint.empty();
        fingerprint = text;
    }

    [[nodiscard]] verdict conclude(reason why, std::optional<std::string> normalised = {}) {
        verdict v;
        v.refuse = why;
        v.length_limited = length_limited;
        v.tokens = tokens;
        v.model = std::move(model);
        v.fingerprint = std::move(fingerprint);
        v.fingerprint_changed = fingerprint_changed;
        v.normalised = std::move(normalised);
        return v;
    }

    bool malformed = false;
    bool error = false;
    bool length_limited = false;
    bool filtered = false;
    std::optional<usage> tokens;
    std::string model;
    std::string fingerprint;
    bool fingerprint_changed = false;
};

// Which choices were seen and which are finished.
class choice_facts : public facts {
public:
    explicit choice_facts(unsigned expected) : expected_(expected) {}

    void take_choice(dom::element element, std::size_t position, std::string_view payload) {
        dom::object choice;
        if (element.get_object().get(choice) != simdjson::SUCCESS) {
            malformed = true;
            return;
        }
        std::uint64_t index = position;
        dom::element value;
        if (present(choice, "index", value) && value.get_uint64().get(index) != simdjson::SUCCESS) index = max_choices;
        if (index >= max_choices) {
            malformed = true;
            return;
        }
        if (index >= finished_.size()) finished_.resize(index + 1, seen::no);
        if (finished_[index] == seen::no) finished_[index] = seen::open;
        if (present(choice, "error", value)) error = true;  // OpenRouter
        take_payload(choice, payload);
        take_finish_reason(choice, finished_[index]);
    }

    /// Whether some choice, or all of the answer, is still to come.
    [[nodiscard]] bool open() const {
        return finished_.empty() || std::ranges::any_of(finished_, [](seen s) { return s != seen::finished; });
    }

    [[nodiscard]] reason why_not(bool framing_complete, bool terminal) const {
        if (error) return reason::error_in_answer;
        if (malformed) return reason::answer_malformed;
        if (!framing_complete) return reason::framing_incomplete;
        if (!terminal) return reason::terminal_missing;
        if (finished_.empty()) return reason::no_choices;
        if (finished_.size() < expected_) return reason::choice_unfinished;
        for (const seen s : finished_) {
            if (s != seen::finished) return reason::choice_unfinished;
        }
        if (unknown_ending_) return reason::answer_truncated;
        return filtered ? reason::content_filtered : reason::none;
    }

private:
    enum class seen : std::uint8_t { no, open, finished };

    // An object's choice must hold its payload; a stream's may hold a delta. A refusal counts as filtered.
    void take_payload(dom::object choice, std::string_view payload) {
        dom::object body;
        if (payload == "text") {
            std::string_view text;
            if (choice.at_key(payload).get_string().get(text) != simdjson::SUCCESS) malformed = true;
        } else if (choice.at_key(payload.empty() ? "delta" : payload).get_object().get(body) == simdjson::SUCCESS) {
            if (!text_of(body, "refusal").empty()) filtered = true;
        } else if (!payload.empty()) {
            malformed = true;
        }
    }

    void take_finish_reason(dom::object choice, seen& state) {
        dom::element value;
        if (!present(choice, "finish_reason", value)) return;
        std::string_view why;
        if (value.get_string().get(why) != simdjson::SUCCESS) {
            malformed = true;
            return;
        }
        if (why.empty()) return;  // some servers write "" for "not yet"
        switch (ending_of(why)) {
            case ending::broken:
                error = true;
                return;
            case ending::unknown:
                unknown_ending_ = true;
                break;
            case ending::limit:
                length_limited = true;
                break;
            case ending::filter:
                filtered = true;
                break;
            case ending::good:
                break;
        }
        state = seen::finished;
    }

    unsigned expected_;
    std::vector<seen> finished_;
    bool unknown_ending_ = false;
};

class choice_stream final : public watcher {
public:
    explicit choice_stream(unsigned expected) : facts_(expected) {}

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
        if (done_ && splitter_.unfinished()) facts_.malformed = true;
        verdict v = facts_.conclude(facts_.why_not(framing_complete, done_));
        // Servers that write no [DONE] exist, and have said all when every choice is finished.
        v.cut = v.refuse == reason::terminal_missing && facts_.open();
        return v;
    }

    std::uint64_t boundary() const noexcept override { return splitter_.boundary(); }
    std::optional<byte_range> usage_event() const noexcept override { return usage_event_; }

private:
    void take(const sse_event& event) {
        if (event.data == "[DONE]") {
            done_ = true;
            return;
        }
        if (event.type == "error") facts_.error = true;
        if (facts_.malformed || facts_.error) return;
        dom::object chunk;
        if (done_ || parse_unambiguous(event.data).get_object().get(chunk) != simdjson::SUCCESS) {
            facts_.malformed = true;
            return;
        }
        if (!facts_.take_top(chunk)) return;
        dom::array choices;
        if (chunk.at_key("choices").get_array().get(choices) != simdjson::SUCCESS) return;
        std::size_t position = 0;
        for (const dom::element choice : choices) facts_.take_choice(choice, position++, {});
        dom::object counts;
        if (position == 0 && !usage_event_ && chunk.at_key("usage").get_object().get(counts) == simdjson::SUCCESS) {
            usage_event_ = carries_more(chunk) ? usage_member(event) : event.where;
        }
    }

    // What other chunks do not say as well: llama.cpp's timings are on the last one, whichever that is.
    static bool carries_more(dom::object chunk) {
        static constexpr std::string_view common[] = {
            "id",           "object",   "created", "model", "system_fingerprint",
            "service_tier", "provider", "choices", "usage", "obfuscation",
        };
        return std::ranges::any_of(chunk, [](const auto& member) {
            return !member.value.is_null() && std::ranges::find(common, member.key) == std::end(common);
        });
    }

    static std::optional<byte_range> usage_member(const sse_event& event) {
        const std::string_view member = member_with_comma(event.data, "usage");
        if (!event.data_at || member.empty()) return event.where;
        return byte_range{*event.data_at + static_cast<std::uint64_t>(member.data() - event.data.data()),
                          member.size()};
    }

    sse_splitter splitter_;
    choice_facts facts_;
    std::optional<byte_range> usage_event_;
    bool done_ = false;
};

class choice_object final : public object_watcher {
public:
    choice_object(unsigned expected, std::string_view payload) : facts_(expected), payload_(payload) {}

    verdict judge_body(bool framing_complete) override {
        if (!framing_complete) return facts_.conclude(reason::framing_incomplete);
        dom::object top;
        if (parse().get(top) != simdjson::SUCCESS) {
            facts_.malformed = true;
        } else if (facts_.take_top(top)) {
            dom::array choices;
            std::size_t position = 0;
            if (top.at_key("choices").get_array().get(choices) == simdjson::SUCCESS) {
                for (const dom::element choice : choices) facts_.take_choice(choice, position++, payload_);
            }
        }
        const reason why = facts_.why_not(true, true);
        if (why != reason::none) return facts_.conclude(why);
        return facts_.conclude(why, payload_ == "text" ? normalised_completions(top) : normalised_chat(top));
    }

private:
    choice_facts facts_;
    std::string_view payload_;
};

class embeddings_object final : public object_watcher {
public:
    explicit embeddings_object(unsigned expected) : expected_(expected) {}

    verdict judge_body(bool framing_complete) override {
        if (!framing_complete) return facts_.conclude(reason::framing_incomplete);
        dom::object top;
        if (parse().get(top) != simdjson::SUCCESS) return facts_.conclude(reason::answer_malformed);
        const reason why = why_not(top);
        if (why != reason::none) return facts_.conclude(why);
        return facts_.conclude(why, normalised_embeddings(top));
    }

private:
    [[nodiscard]] reason why_not(dom::object top) {
        if (!facts_.take_top(top)) return reason::error_in_answer;
        dom::array data;
        if (top.at_key("data").get_array().get(data) != simdjson::SUCCESS) return reason::no_choices;
        std::size_t items = 0;
        std::vector<bool> placed;
        for (const dom::element item : data) {
            if (!holds_embedding(item, placed)) return reason::answer_malformed;
            ++items;
        }
        if (placed.size() > items) return reason::answer_malformed;
        if (items == 0) return reason::no_choices;
        return items == expected_ ? reason::none : reason::choice_unfinished;
    }

    // `placed` tells which indexes came: none twice.
    static bool holds_embedding(dom::element item, std::vector<bool>& placed) {
        dom::object object;
        dom::element embedding;
        dom::element value;
        if (item.get_object().get(object) != simdjson::SUCCESS) return false;
        if (!present(object, "embedding", embedding) || !holds_vector(embedding)) return false;
        if (!present(object, "index", value)) return true;
        std::uint64_t index = 0;
        if (value.get_uint64().get(index) != simdjson::SUCCESS || index >= max_choices) return false;
        if (index >= placed.size()) placed.resize(index + 1, false);
        const bool twice = placed[index];
        placed[index] = true;
        return !twice;
    }

    facts facts_;
    unsigned expected_;
};

}  // namespace

std::unique_ptr<watcher> watch_choices(form f, const call& c, std::string_view payload) {
    if (f == form::sse) return std::make_unique<choice_stream>(c.choices);
    return std::make_unique<choice_object>(c.choices, payload);
}

std::unique_ptr<watcher> watch_embeddings(const call& c) {
    return std::make_unique<embeddings_object>(c.choices);
}

}  // namespace idem::upstream::dialect::openai
