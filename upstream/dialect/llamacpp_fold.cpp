// The object form of a llama.cpp completion, from its events, and what answers are compared by.
#include <algorithm>
#include <vector>

#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_merge.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/native_watch.hpp"

namespace idem::upstream::dialect::llamacpp {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t max_results = 4096;

// What an event before the last one says besides, and the last one or nobody needs.
bool known_on_the_way(std::string_view key) noexcept {
    static constexpr std::string_view keys[] = {
        "index", "stop", "id_slot", "tokens_predicted", "tokens_evaluated", "timings", "prompt_progress", "model"};
    return std::ranges::find(keys, key) != std::end(keys);
}

bool gathered(std::string_view key) noexcept {
    return key == "content" || key == "tokens" || key == "completion_probabilities";
}

// The settings say which form they were asked for.
std::string with_stream_off(std::string_view settings) {
    const std::string_view stream = find_member(settings, "stream");
    return stream == "true" ? spliced(settings, stream, "false") : std::string(settings);
}

class result_fold {
public:
    void take(std::string_view event) {
        const bool last = find_member(event, "stop") == "true";
        json_members members(event);
        while (members.next()) {
            const std::string_view key = members.key();
            const std::string_view value = members.value();
            if (gathered(key)) {
                gather(key, value);
                if (last) last_.reserve(key);
            } else if (last) {
                last_.take(key, key == "generation_settings" ? with_stream_off(value) : std::string(value),
                           merge_rule::once);
            } else if (!known_on_the_way(key)) {
                last_.mark_lossy();
            }
        }
        if (stopped_) last_.mark_lossy();
        stopped_ = stopped_ || last;
    }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    [[nodiscard]] bool lossy() const noexcept { return last_.lossy() || pieces_.lossy(); }
    /// To be called once.
    [[nodiscard]] std::string text() {
        for (const std::string_view key : {"content", "tokens", "completion_probabilities"}) {
            if (!pieces_.has(key)) continue;
            const char open = key == "content" ? '"' : '[';
            const char close = key == "content" ? '"' : ']';
            last_.put(key, open + std::string(pieces_.inner(key)) + close);
        }
        return last_.text();
    }

private:
    void gather(std::string_view key, std::string_view value) {
        const bool text = key == "content";
        if (kind_of(value) != (text ? json_kind::string : json_kind::array)) {
            pieces_.mark_lossy();
        } else {
            pieces_.take(key, value, text ? merge_rule::concat : merge_rule::append);
        }
    }

    json_merge pieces_;
    json_merge last_;
    bool stopped_ = false;
};

class stream_fold {
public:
    // False if the stream is of no use.
    [[nodiscard]] bool take(const sse_event& event) {
        if (event.data == nothing_yet) return true;
        if (event.type == "error" || parse_padded(event.data).error() != simdjson::SUCCESS) return false;
        const std::string_view data = trim(event.data);
        const std::string_view error = find_member(data, "error");
        if (kind_of(data) != json_kind::object || !(error.empty() || error == "null")) return false;
        const auto at = place_of(data, 0, max_results);
        if (!at) return false;
        if (*at >= results_.size()) results_.resize(*at + 1);
        results_[*at].take(data);
        return true;
    }

    [[nodiscard]] std::optional<folded> finish() {
        if (results_.empty()) return std::nullopt;
        folded out;
        for (result_fold& result : results_) {
            if (!result.stopped()) return std::nullopt;
            if (!out.object.empty()) out.object += ',';
            out.object += result.text();
            if (result.lossy()) out.lossless = false;
        }
        if (results_.size() > 1) out.object = "[" + out.object + "]";
        return out;
    }

private:
    std::vector<result_fold> results_;
};

void append_result(std::string& out, dom::object result) {
    out += '{';
    copy(out, result, "content", {"content"});
    copy(out, result, "stop_type", {"stop_type"});
    copy(out, result, "stopping_word", {"stopping_word"});
    out += '}';
}

}  // namespace

std::optional<folded> fold(std::string_view stream) {
    stream_fold state;
    if (!native::each_event(stream, [&](const sse_event& event) { return state.take(event); })) return std::nullopt;
    return state.finish();
}

std::optional<std::string> normalised(std::string_view object) {
    dom::element top;
    dom::object one;
    dom::array list;
    if (parse_copied(object).get(top) != simdjson::SUCCESS) return std::nullopt;
    std::string out;
    if (top.get_object().get(one) == simdjson::SUCCESS) {
        append_result(out, one);
        return out;
    }
    if (top.get_array().get(list) != simdjson::SUCCESS) return std::nullopt;
    for (const dom::element item : list) {
        if (item.get_object().get(one) != simdjson::SUCCESS) return std::nullopt;
        out += out.empty() ? '[' : ',';
        append_result(out, one);
    }
    return out.empty() ? "[]" : out + "]";
}

}  // namespace idem::upstream::dialect::llamacpp
