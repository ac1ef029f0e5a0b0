#include "upstream/dialect/sglang_convert.hpp"

#include <vector>

#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_merge.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/native_watch.hpp"

namespace idem::upstream::dialect::sglang {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t max_results = 4096;
constexpr std::string_view done = "data: [DONE]\n\n";

std::size_t length_of(std::string_view array) noexcept {
    std::size_t n = 0;
    json_items items(array);
    while (items.next()) ++n;
    return n;
}

// One result being followed.
class result_fold {
public:
    void take(std::string_view event) {
        last_ = event;
        const std::string_view text = string_inner(find_member(event, "text"));
        const std::string_view ids = find_member(event, "output_ids");
        cumulative_ = cumulative_ && text.starts_with(so_far_);
        so_far_ = text;
        pieces_.append(text);
        if (kind_of(ids) == json_kind::array) {
            const std::string_view inner = trim(ids.substr(1, ids.size() - 2));
            if (!ids_.empty() && !inner.empty()) ids_ += ',';
            ids_.append(inner);
            last_ids_ = length_of(ids);
        }
        ++events_;
    }

    [[nodiscard]] bool seen() const noexcept { return events_ > 0; }
    [[nodiscard]] bool cumulative() const noexcept {
        if (events_ == 1) return true;
        if (!cumulative_) return false;
        // Pieces may happen to look like prefixes of each other; the count of tokens tells.
        const std::string_view counted = find_member(find_member(last_, "meta_info"), "completion_tokens");
        return !last_ids_ || counted.empty() || counted == std::to_string(*last_ids_);
    }

    [[nodiscard]] std::string text() const {
        const bool whole = cumulative();
        json_merge out;
        json_members members(last_);
        while (members.next()) {
            if (members.key() == "index") continue;
            out.take(members.key(), members.value(), merge_rule::first);
        }
        if (!whole && out.has("text")) out.put("text", "\"" + pieces_ + "\"");
        if (!whole && last_ids_) out.put("output_ids", "[" + ids_ + "]");
        return out.text();
    }

private:
    std::string last_, so_far_, pieces_, ids_;
    std::optional<std::size_t> last_ids_;
    std::size_t events_ = 0;
    bool cumulative_ = true;
};

class stream_fold {
public:
    // False if the stream is of no use.
    [[nodiscard]] bool take(const sse_event& event) {
        if (event.data == "[DONE]") {
            done_ = true;
            return true;
        }
        if (done_ || event.type == "error" || parse_padded(event.data).error() != simdjson::SUCCESS) return false;
        const std::string_view data = trim(event.data);
        const std::string_view error = find_member(data, "error");
        if (kind_of(data) != json_kind::object || !(error.empty() || error == "null")) return false;
        if (kind_of(find_member(data, "meta_info")) != json_kind::object) return false;
        const auto at = place_of(data, 0, max_results);
        const bool listed = !find_member(data, "index").empty();
        if (!at || (!results_.empty() && listed_ != listed)) return false;
        listed_ = listed;
        if (*at >= results_.size()) results_.resize(*at + 1);
        results_[*at].take(data);
        return true;
    }

    [[nodiscard]] std::optional<folded> finish() const {
        if (!done_ || results_.empty()) return std::nullopt;
        folded out;
        for (const result_fold& result : results_) {
            if (!result.seen()) return std::nullopt;
            if (!out.object.empty()) out.object += ',';
            out.object += result.text();
            if (!result.cumulative()) out.lossless = false;
        }
        if (listed_) out.object = "[" + out.object + "]";
        return out;
    }

private:
    std::vector<result_fold> results_;
    bool listed_ = false;
    bool done_ = false;
};

bool append_event(std::string& out, std::string_view result, std::string_view index) {
    if (kind_of(result) != json_kind::object || !unique_keys(result)) return false;
    if (kind_of(find_member(result, "meta_info")) != json_kind::object) return false;
    const std::string_view text = find_member(result, "text");
    if (!(text.empty() || kind_of(text) == json_kind::string)) return false;
    std::string event = "{";
    add_member(event, "index", index);
    json_members members(result);
    while (members.next()) {
        if (members.key() == "index" || members.key() == "error") return false;
        add_member(event, members.key(), members.value());
    }
    out += "data: " + event + "}\n\n";
    return true;
}

bool append_result(std::string& out, dom::object result) {
    dom::object meta;
    dom::object finish;
    if (!object_of(result, "meta_info", meta)) return false;
    out += '{';
    copy(out, result, "text", {"text"});
    copy(out, result, "output_ids", {"output_ids"});
    if (object_of(meta, "finish_reason", finish)) {
        copy(out, finish, "finish_reason", {"type"});
        copy(out, finish, "matched", {"matched"});
    }
    out += '}';
    return true;
}

}  // namespace

std::optional<folded> fold(std::string_view stream) {
    stream_fold state;
    if (!native::each_event(stream, [&](const sse_event& event) { return state.take(event); })) return std::nullopt;
    return state.finish();
}

std::optional<std::string> split(std::string_view object) {
    if (!is_json(object)) return std::nullopt;
    object = trim(object);
    std::string out;
    if (kind_of(object) == json_kind::object) {
        if (!append_event(out, object, {})) return std::nullopt;
        return out.append(done);
    }
    json_items results(object);
    std::size_t n = 0;
    for (; results.next(); ++n) {
        if (!append_event(out, results.value(), std::to_string(n))) return std::nullopt;
    }
    if (n == 0) return std::nullopt;
    return out.append(done);
}

std::optional<std::string> normalised(std::string_view object) {
    dom::element top;
    dom::object one;
    dom::array list;
    if (parse_copied(object).get(top) != simdjson::SUCCESS) return std::nullopt;
    std::string out;
    if (top.get_object().get(one) == simdjson::SUCCESS) {
        if (!append_result(out, one)) return std::nullopt;
        return out;
    }
    if (top.get_array().get(list) != simdjson::SUCCESS) return std::nullopt;
    for (const dom::element item : list) {
        out += out.empty() ? '[' : ',';
        if (item.get_object().get(one) != simdjson::SUCCESS || !append_result(out, one)) return std::nullopt;
    }
    return out.empty() ? "[]" : out + "]";
}

}  // namespace idem::upstream::dialect::sglang
