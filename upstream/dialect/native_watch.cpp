#include "upstream/dialect/native_watch.hpp"

#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect::native {
namespace {

namespace dom = simdjson::dom;

class value_watcher final : public object_watcher {
public:
    value_watcher(const call& asked, judge by) : asked_(asked), by_(by) {}

    verdict judge_body(bool framing_complete) override {
        findings found;
        found.terminal = true;
        dom::element value;
        dom::object object;
        if (!framing_complete) return found.conclude(false);
        if (parse_value().get(value) != simdjson::SUCCESS) {
            found.malformed = true;
        } else if (value.get_object().get(object) == simdjson::SUCCESS && reports_error(object)) {
            found.error = true;
        } else {
            by_(value, asked_, found);
        }
        return found.conclude(true);
    }

private:
    call asked_;
    judge by_;
};

}  // namespace

reason findings::why_not(bool framing_complete) const noexcept {
    if (error) return reason::error_in_answer;
    if (malformed) return reason::answer_malformed;
    if (!framing_complete) return reason::framing_incomplete;
    if (!terminal) return reason::terminal_missing;
    if (empty) return reason::no_choices;
    return unfinished ? reason::choice_unfinished : reason::none;
}

verdict findings::conclude(bool framing_complete) {
    said.refuse = why_not(framing_complete);
    said.cut = said.refuse == reason::terminal_missing;
    return std::move(said);
}

void findings::count(std::uint64_t input, std::uint64_t output) {
    if (!said.tokens) said.tokens = usage{};
    said.tokens->input += input;
    said.tokens->output += output;
}

void event_watcher::feed(std::string_view bytes) {
    for (;;) {
        const sse_step step = splitter_.next(bytes);
        if (step == sse_step::overflow) found.malformed = true;
        if (step != sse_step::event) return;
        take_unless_over(splitter_.event());
    }
}

verdict event_watcher::finish(bool framing_complete) {
    if (splitter_.finish() == sse_step::event) take_unless_over(splitter_.event());
    settle();
    if (splitter_.unfinished() && found.terminal) found.malformed = true;
    return found.conclude(framing_complete);
}

void event_watcher::take_unless_over(const sse_event& event) {
    if (event.type == "error") found.error = true;
    if (!found.malformed && !found.error) take(event);
}

std::unique_ptr<watcher> watch_value(const call& asked, judge by) {
    return std::make_unique<value_watcher>(asked, by);
}

bool reports_error(dom::object object) {
    dom::element value;
    return present(object, "error", value) || text_of(object, "object") == "error";
}

}  // namespace idem::upstream::dialect::native
