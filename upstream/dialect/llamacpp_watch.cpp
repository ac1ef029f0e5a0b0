// The end of a llama.cpp completion, in either form.
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/native_results.hpp"

namespace idem::upstream::dialect::llamacpp {
namespace {

namespace dom = simdjson::dom;
using native::findings;

void take_result(dom::object result, std::size_t position, native::result_list& results, findings& found) {
    dom::element value;
    std::string_view content;
    bool stop = false;
    const auto index = results.place(result, position, found);
    if (!index) return;
    if (result.at_key("content").get_string().get(content) != simdjson::SUCCESS ||
        (present(result, "stop", value) && value.get_bool().get(stop) != simdjson::SUCCESS)) {
        found.malformed = true;
        return;
    }
    if (found.said.model.empty()) found.said.model = text_of(result, "model");
    if (!stop) return;
    results.finish(*index);
    if (text_of(result, "stop_type") == "limit") found.said.length_limited = true;
    found.count(count_of(result, "tokens_evaluated"), count_of(result, "tokens_predicted"));
}

class stream final : public native::event_watcher {
public:
    explicit stream(unsigned expected) : results_(expected) {}

private:
    void take(const sse_event& event) override {
        if (event.data == nothing_yet) return;
        if (const auto result = native::result_of(event, found)) take_result(*result, 0, results_, found);
    }
    // The marker is each result's own `stop`.
    void settle() override {
        results_.settle(found);
        found.terminal = !found.empty && !found.unfinished;
        found.empty = false;
    }

    native::result_list results_;
};

void judge(dom::element value, const call& asked, findings& found) {
    native::result_list results(asked.choices);
    native::each_result(value, found,
                        [&](dom::object result, std::size_t at) { take_result(result, at, results, found); });
    results.settle(found);
}

}  // namespace

std::unique_ptr<watcher> watch_completion(form f, const call& c) {
    if (f == form::sse) return std::make_unique<stream>(c.choices);
    return native::watch_value(c, judge);
}

}  // namespace idem::upstream::dialect::llamacpp
