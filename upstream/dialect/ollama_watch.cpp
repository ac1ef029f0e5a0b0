#include "upstream/dialect/ollama_watch.hpp"

#include <utility>

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/lines.hpp"
#include "upstream/dialect/native_watch.hpp"

namespace idem::upstream::dialect::ollama {
namespace {

namespace dom = simdjson::dom;
using native::findings;

bool holds_payload(dom::object line, api which) {
    dom::object message;
    std::string_view text;
    if (which == api::chat) return line.at_key("message").get_object().get(message) == simdjson::SUCCESS;
    return line.at_key("response").get_string().get(text) == simdjson::SUCCESS;
}

// One line of a stream, or the object. After `done` nothing may come.
void take(findings& found, dom::object line, api which) {
    if (native::reports_error(line)) {
        found.error = true;
        return;
    }
    dom::element value;
    bool done = false;
    if (found.terminal || !holds_payload(line, which) ||
        (present(line, "done", value) && value.get_bool().get(done) != simdjson::SUCCESS)) {
        found.malformed = true;
        return;
    }
    if (found.said.model.empty()) found.said.model = text_of(line, "model");
    if (!done) return;
    found.terminal = true;
    const std::string_view why = text_of(line, "done_reason");
    found.said.length_limited = why == "length";
    found.empty = why == "load" || why == "unload";
    found.count(count_of(line, "prompt_eval_count"), count_of(line, "eval_count"));
}

class line_watcher final : public watcher {
public:
    explicit line_watcher(api which) : which_(which) {}

    void feed(std::string_view bytes) override {
        for (;;) {
            const line_step step = splitter_.next(bytes);
            if (step == line_step::overflow) found_.malformed = true;
            if (step != line_step::line) return;
            take_line();
        }
    }
    verdict finish(bool framing_complete) override {
        // What a broken connection leaves behind is no line.
        if (framing_complete && splitter_.finish() == line_step::line) take_line();
        return found_.conclude(framing_complete);
    }
    std::uint64_t boundary() const noexcept override { return splitter_.boundary(); }
    std::optional<byte_range> usage_event() const noexcept override { return std::nullopt; }

private:
    void take_line() {
        if (found_.error || found_.malformed) return;
        dom::object line;
        if (parse_unambiguous(splitter_.line()).get_object().get(line) == simdjson::SUCCESS) {
            take(found_, line, which_);
        } else {
            found_.malformed = true;
        }
    }

    line_splitter splitter_;
    findings found_;
    api which_;
};

template <api Which>
void judge_object(dom::element value, const call&, findings& found) {
    dom::object object;
    found.terminal = false;
    if (value.get_object().get(object) == simdjson::SUCCESS) {
        take(found, object, Which);
        found.unfinished = !std::exchange(found.terminal, true);
    } else {
        found.malformed = true;
    }
}

}  // namespace

std::unique_ptr<watcher> watch_answer(form f, api which) {
    if (f == form::ndjson) return std::make_unique<line_watcher>(which);
    return native::watch_value({}, which == api::chat ? judge_object<api::chat> : judge_object<api::generate>);
}

}  // namespace idem::upstream::dialect::ollama
