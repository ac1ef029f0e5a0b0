// The end of a llama.cpp completion, in either form.
#include <vector>

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/native_watch.hpp"

namespace idem::upstream::dialect::llamacpp {
namespace {

namespace dom = simdjson::dom;
using native::findings;

constexpr std::size_t max_results = 65536;

// Which results were seen and which have stopped.
class results {
public:
    explicit results(unsigned expected) : expected_(expected) {}

    void take(findings& found, dom::object result, std::size_t position) {
        dom::element value;
        std::uint64_t index = position;
        std::string_view content;
        bool stop = false;
        if (present(result, "index", value) && value.get_uint64().get(index) != simdjson::SUCCESS) index = max_results;
        if (index >= max_results || result.at_key("content").get_string().get(content) != simdjson::SUCCESS ||
            (present(result, "stop", value) && value.get_bool().get(stop) != simdjson::SUCCESS)) {
            found.malformed = true;
            return;
        }
        if (index >= stopped_.size()) stopped_.resize(index + 1, false);
        if (stopped_[index]) found.malformed = true;
        if (found.said.model.empty()) found.said.model = text_of(result, "model");
        if (!stop) return;
        stopped_[index] = true;
        if (text_of(result, "stop_type") == "limit") found.said.length_limited = true;
        found.count(count_of(result, "tokens_evaluated"), count_of(result, "tokens_predicted"));
    }

    void settle(findings& found) const {
        found.terminal = !stopped_.empty();
        found.empty = stopped_.empty();
        found.unfinished = stopped_.size() < expected_;
        for (const bool stopped : stopped_) found.unfinished = found.unfinished || !stopped;
    }

private:
    unsigned expected_;
    std::vector<bool> stopped_;
};

class stream final : public native::event_watcher {
public:
    explicit stream(unsigned expected) : results_(expected) {}

private:
    void take(const sse_event& event) override {
        dom::object result;
        if (event.data == nothing_yet) return;
        if (parse_padded(event.data).get_object().get(result) != simdjson::SUCCESS) {
            found.malformed = true;
        } else if (native::reports_error(result)) {
            found.error = true;
        } else {
            results_.take(found, result, 0);
        }
    }
    // The marker is each result's own `stop`.
    void settle() override {
        results_.settle(found);
        if (found.unfinished || found.empty) found.terminal = found.empty = false;
    }

    results results_;
};

void judge(dom::element value, const call& asked, findings& found) {
    results all(asked.choices);
    dom::object one;
    dom::array list;
    if (value.get_object().get(one) == simdjson::SUCCESS) {
        all.take(found, one, 0);
    } else if (value.get_array().get(list) == simdjson::SUCCESS) {
        std::size_t position = 0;
        for (const dom::element item : list) {
            if (item.get_object().get(one) != simdjson::SUCCESS) {
                found.malformed = true;
                return;
            }
            all.take(found, one, position++);
        }
    } else {
        found.malformed = true;
    }
    all.settle(found);
    found.terminal = true;
}

}  // namespace

std::unique_ptr<watcher> watch_completion(form f, const call& c) {
    if (f == form::sse) return std::make_unique<stream>(c.choices);
    return native::watch_value(c, judge);
}

}  // namespace idem::upstream::dialect::llamacpp
