#include "upstream/dialect/anthropic_watch.hpp"

#include <array>
#include <vector>

#include "upstream/dialect/anthropic_events.hpp"
#include "upstream/dialect/anthropic_normal.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/object_watcher.hpp"
#include "upstream/dialect/sse.hpp"

namespace idem::upstream::dialect::anthropic {
namespace {

namespace dom = simdjson::dom;

// What a message says of itself, in either form.
class message_facts {
public:
    void take_model(dom::object message) {
        if (model_.empty()) model_ = text_of(message, "model");
    }

    // A later count replaces an earlier one. What the provider's own cache saved was input too.
    void take_usage(dom::object from) {
        dom::object counts;
        if (from.at_key("usage").get_object().get(counts) != simdjson::SUCCESS) return;
        constexpr std::array names = {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
                                      "output_tokens"};
        for (std::size_t i = 0; i < names.size(); ++i) {
            dom::element value;
            if (!present(counts, names[i], value)) continue;
            counts_[i] = count_of(counts, names[i]);
            counted_ = true;
        }
    }

    void take_stop_reason(dom::object from) {
        dom::element value;
        if (!present(from, "stop_reason", value)) return;
        std::string_view why;
        if (value.get_string().get(why) != simdjson::SUCCESS) {
            malformed = true;
            return;
        }
        if (!why.empty()) stop_reason_ = why;
    }

    [[nodiscard]] verdict conclude(reason why) {
        verdict v;
        v.refuse = why == reason::none ? judge_stop() : why;
        v.cut = why == reason::terminal_missing;
        v.length_limited = stop_reason_ == "max_tokens";
        if (counted_) v.tokens = usage{counts_[0] + counts_[1] + counts_[2], counts_[3]};
        v.model = std::move(model_);
        return v;
    }

    bool malformed = false;
    bool error = false;

private:
    [[nodiscard]] reason judge_stop() const noexcept {
        if (stop_reason_.empty() || stop_reason_ == "pause_turn") return reason::choice_unfinished;
        if (stop_reason_ == "model_context_window_exceeded") return reason::answer_truncated;
        return stop_reason_ == "refusal" ? reason::content_filtered : reason::none;
    }

    std::string model_;
    std::string stop_reason_;
    std::array<std::uint64_t, 4> counts_{};
    bool counted_ = false;
};

class message_stream final : public watcher {
public:
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
        if (stopped_ && splitter_.unfinished()) facts_.malformed = true;
        return facts_.conclude(why_not(framing_complete));
    }

    std::uint64_t boundary() const noexcept override { return splitter_.boundary(); }
    std::optional<byte_range> usage_event() const noexcept override { return std::nullopt; }

private:
    void take(const sse_event& event) {
        if (event.type == "error") facts_.error = true;
        if (facts_.malformed || facts_.error) return;
        if (event.data == "[DONE]") {
            facts_.malformed = !stopped_;
            return;
        }
        dom::object data;
        if (parse_unambiguous(event.data).get_object().get(data) != simdjson::SUCCESS) {
            facts_.malformed = true;
            return;
        }
        dom::element value;
        const std::string_view type = text_of(data, "type");
        if (type == "error" || present(data, "error", value)) {
            facts_.error = true;
            return;
        }
        const event_kind kind = kind_of_event(type);
        if (kind != kind_of_event(event.type)) {
            facts_.malformed = true;
        } else if (kind != event_kind::unknown && kind != event_kind::ping && !take_step(kind, data)) {
            facts_.malformed = true;
        }
    }

    // False if the event may not come here.
    [[nodiscard]] bool take_step(event_kind kind, dom::object data) {
        if (stopped_ || started_ == (kind == event_kind::message_start)) return false;
        switch (kind) {
            case event_kind::message_start: {
                dom::object message;
                if (data.at_key("message").get_object().get(message) != simdjson::SUCCESS) return false;
                started_ = true;
                facts_.take_model(message);
                facts_.take_usage(message);
                return true;
            }
            case event_kind::content_block_start:
            case event_kind::content_block_delta:
            case event_kind::content_block_stop:
                return take_block(kind, data);
            case event_kind::message_delta: {
                dom::object delta;
                if (data.at_key("delta").get_object().get(delta) != simdjson::SUCCESS) return false;
                facts_.take_stop_reason(delta);
                facts_.take_usage(data);
                return true;
            }
            default:
                stopped_ = true;
                return true;
        }
    }

    [[nodiscard]] bool take_block(event_kind kind, dom::object data) {
        std::uint64_t index = 0;
        dom::object part;
        if (data.at_key("index").get_uint64().get(index) != simdjson::SUCCESS) return false;
        if (kind == event_kind::content_block_start) {
            if (index != open_.size() || index >= max_blocks) return false;
            open_.push_back(true);
            return data.at_key("content_block").get_object().get(part) == simdjson::SUCCESS;
        }
        if (index >= open_.size() || !open_[index]) return false;
        if (kind == event_kind::content_block_delta) {
            return data.at_key("delta").get_object().get(part) == simdjson::SUCCESS;
        }
        open_[index] = false;
        return true;
    }

    [[nodiscard]] reason why_not(bool framing_complete) const {
        if (facts_.error) return reason::error_in_answer;
        if (facts_.malformed) return reason::answer_malformed;
        if (!framing_complete) return reason::framing_incomplete;
        if (!stopped_) return reason::terminal_missing;
        for (const bool open : open_) {
            if (open) return reason::choice_unfinished;
        }
        return reason::none;
    }

    sse_splitter splitter_;
    message_facts facts_;
    std::vector<bool> open_;
    bool started_ = false;
    bool stopped_ = false;
};

class message_object final : public object_watcher {
public:
    verdict judge_body(bool framing_complete) override {
        if (!framing_complete) return facts_.conclude(reason::framing_incomplete);
        dom::object top;
        if (parse().get(top) != simdjson::SUCCESS) return facts_.conclude(reason::answer_malformed);
        verdict v = facts_.conclude(why_not(top));
        if (v.refuse == reason::none) v.normalised = normalised_message(top);
        return v;
    }

private:
    [[nodiscard]] reason why_not(dom::object top) {
        dom::element value;
        const std::string_view type = text_of(top, "type");
        if (type == "error" || present(top, "error", value)) return reason::error_in_answer;
        dom::array blocks;
        if (top.at_key("content").get_array().get(blocks) != simdjson::SUCCESS) return reason::no_choices;
        if (type != "message") return reason::answer_malformed;
        for (const dom::element element : blocks) {
            dom::object block;
            if (element.get_object().get(block) != simdjson::SUCCESS) return reason::answer_malformed;
            if (text_of(block, "type").empty()) return reason::answer_malformed;
        }
        facts_.take_model(top);
        facts_.take_usage(top);
        facts_.take_stop_reason(top);
        return facts_.malformed ? reason::answer_malformed : reason::none;
    }

    message_facts facts_;
};

class count_object final : public object_watcher {
public:
    verdict judge_body(bool framing_complete) override {
        verdict v;
        v.refuse = framing_complete ? why_not() : reason::framing_incomplete;
        return v;
    }

private:
    [[nodiscard]] reason why_not() {
        dom::object top;
        dom::element value;
        std::uint64_t count = 0;
        if (parse().get(top) != simdjson::SUCCESS) return reason::answer_malformed;
        if (text_of(top, "type") == "error" || present(top, "error", value)) return reason::error_in_answer;
        if (!present(top, "input_tokens", value)) return reason::no_choices;
        return value.get_uint64().get(count) == simdjson::SUCCESS ? reason::none : reason::answer_malformed;
    }
};

}  // namespace

std::unique_ptr<watcher> watch_message(form f) {
    if (f == form::sse) return std::make_unique<message_stream>();
    return std::make_unique<message_object>();
}

std::unique_ptr<watcher> watch_count() {
    return std::make_unique<count_object>();
}

}  // namespace idem::upstream::dialect::anthropic
