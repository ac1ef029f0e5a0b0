#include "upstream/dialect/openai_responses_watch.hpp"

#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/object_watcher.hpp"
#include "upstream/dialect/openai_responses_convert.hpp"
#include "upstream/dialect/sse.hpp"

namespace idem::upstream::dialect::openai {
namespace {

namespace dom = simdjson::dom;

bool refuses(dom::object item) {
    dom::array parts;
    if (item.at_key("content").get_array().get(parts) != simdjson::SUCCESS) return false;
    for (const dom::element element : parts) {
        dom::object part;
        if (element.get_object().get(part) == simdjson::SUCCESS && !text_of(part, "refusal").empty()) return true;
    }
    return false;
}

reason judge_items(dom::array items) {
    bool filtered = false;
    for (const dom::element element : items) {
        dom::object item;
        if (element.get_object().get(item) != simdjson::SUCCESS) return reason::answer_malformed;
        if (text_of(item, "type").empty()) return reason::answer_malformed;
        if (text_of(item, "status") == "in_progress") return reason::choice_unfinished;
        filtered = filtered || refuses(item);
    }
    if (items.begin() == items.end()) return reason::no_choices;
    return filtered ? reason::content_filtered : reason::none;
}

// What a response object says of itself; `items` are those of the stream where it has no output of its own.
verdict judge(dom::object response, std::string_view status, bool items_of_stream) {
    verdict v;
    dom::object counts;
    dom::element value;
    if (object_of(response, "usage", counts)) {
        v.tokens = usage{count_of(counts, "input_tokens"), count_of(counts, "output_tokens")};
    }
    v.model = text_of(response, "model");
    if (present(response, "error", value) || status == "failed" || status == "cancelled") {
        v.refuse = reason::error_in_answer;
        return v;
    }
    dom::array items;
    if (present(response, "output", value)) {
        v.refuse = value.get_array().get(items) == simdjson::SUCCESS ? judge_items(items) : reason::answer_malformed;
    } else {
        v.refuse = items_of_stream ? reason::none : reason::no_choices;
    }
    if (status == "incomplete") {
        dom::object details;
        const std::string_view why =
            object_of(response, "incomplete_details", details) ? text_of(details, "reason") : std::string_view();
        v.length_limited = why == "max_output_tokens";
        if (why == "content_filter") {
            v.refuse = reason::content_filtered;
        } else if (!v.length_limited && v.refuse == reason::none) {
            v.refuse = reason::choice_unfinished;
        }
    } else if (status != "completed" && v.refuse == reason::none) {
        v.refuse = reason::choice_unfinished;
    }
    return v;
}

class response_stream final : public watcher {
public:
    void feed(std::string_view bytes) override {
        for (;;) {
            const sse_step step = splitter_.next(bytes);
            if (step == sse_step::overflow) malformed_ = true;
            if (step != sse_step::event) return;
            take(splitter_.event());
        }
    }

    verdict finish(bool framing_complete) override {
        if (splitter_.finish() == sse_step::event) take(splitter_.event());
        if (ended_ && splitter_.unfinished()) malformed_ = true;
        if (const reason why = why_not(framing_complete); why != reason::none) said_.refuse = why;
        said_.cut = said_.refuse == reason::terminal_missing;
        return std::move(said_);
    }

    std::uint64_t boundary() const noexcept override { return splitter_.boundary(); }
    std::optional<byte_range> usage_event() const noexcept override { return std::nullopt; }

private:
    void take(const sse_event& event) {
        if (event.type == "error") error_ = true;
        if (malformed_ || error_) return;
        if (event.data == "[DONE]") {
            malformed_ = !ended_;
            return;
        }
        dom::object data;
        dom::element value;
        if (parse_unambiguous(event.data).get_object().get(data) != simdjson::SUCCESS) {
            malformed_ = true;
            return;
        }
        const std::string_view type = text_of(data, "type");
        error_ = type == "error" || present(data, "error", value);
        if (error_) return;
        malformed_ = type.empty() || ended_ || (event.type != "message" && event.type != type);
        if (type == "response.output_item.done") items_ = true;
        if (malformed_ || !ends_response(type)) return;
        dom::object response;
        ended_ = true;
        if (!object_of(data, "response", response)) {
            malformed_ = true;
            return;
        }
        const std::string_view status = text_of(response, "status");
        said_ = judge(response, status.empty() ? type.substr(type.find('.') + 1) : status, items_);
    }

    [[nodiscard]] reason why_not(bool framing_complete) const noexcept {
        if (error_) return reason::error_in_answer;
        if (malformed_) return reason::answer_malformed;
        if (!framing_complete) return reason::framing_incomplete;
        return ended_ ? reason::none : reason::terminal_missing;
    }

    sse_splitter splitter_;
    verdict said_;
    bool malformed_ = false;
    bool error_ = false;
    bool ended_ = false;
    bool items_ = false;
};

class response_object final : public object_watcher {
public:
    verdict judge_body(bool framing_complete) override {
        verdict v;
        dom::object top;
        dom::element value;
        if (!framing_complete) {
            v.refuse = reason::framing_incomplete;
        } else if (parse().get(top) != simdjson::SUCCESS) {
            v.refuse = reason::answer_malformed;
        } else if (!present(top, "error", value) && text_of(top, "object") != "response") {
            v.refuse = reason::answer_malformed;
        } else {
            v = judge(top, text_of(top, "status"), false);
            if (v.refuse == reason::none) v.normalised = normalised_response(top);
        }
        return v;
    }
};

}  // namespace

std::unique_ptr<watcher> watch_response(form f) {
    if (f == form::sse) return std::make_unique<response_stream>();
    return std::make_unique<response_object>();
}

bool ends_response(std::string_view type) noexcept {
    return type == "response.completed" || type == "response.incomplete" || type == "response.failed";
}

}  // namespace idem::upstream::dialect::openai
