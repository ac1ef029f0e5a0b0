#include "upstream/dialect/openai_fold.hpp"

#include "upstream/dialect/fold_events.hpp"
#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::dialect::openai {
namespace {

constexpr std::size_t max_choices = 4096;

merge_rule rule_of(std::string_view key) noexcept {
    if (key == "id" || key == "model" || key == "system_fingerprint" || key == "service_tier") return merge_rule::text;
    if (key == "created") return merge_rule::first;  // some servers write the time of each chunk
    // usage in every chunk counts up, and so do llama.cpp's timings and vLLM's metrics.
    if (key == "usage" || key == "timings" || key == "metrics") return merge_rule::last;
    return merge_rule::once;
}

class stream_fold {
public:
    stream_fold(std::string_view object, choice_maker make) : object_(object), make_(make) {}

    // False if the stream is of no use.
    bool take(const sse_event& event) {
        if (event.data == "[DONE]") {
            done_ = true;
            return true;
        }
        if (event.type == "error" || done_) return false;
        if (event.type != "message") top_.mark_lossy();
        if (parse_padded(event.data).error() != simdjson::SUCCESS) return false;
        const std::string_view chunk = trim(event.data);
        if (kind_of(chunk) != json_kind::object) return false;
        json_members members(chunk);
        while (members.next()) {
            if (!take_member(members.key(), members.value())) return false;
        }
        return true;
    }

    std::optional<folded> finish() {
        if (!done_ || choices_.empty()) return std::nullopt;
        folded out;
        std::string list = "[";
        for (std::size_t i = 0; i < choices_.size(); ++i) {
            if (!choices_[i]) return std::nullopt;
            if (i > 0) list += ',';
            list += choices_[i]->text();
            if (!choices_[i]->finished() || choices_[i]->lossy()) out.lossless = false;
        }
        if (top_.lossy() || !top_.filled("usage")) out.lossless = false;
        top_.put("choices", list + "]");
        top_.put("object", "\"" + std::string(object_) + "\"");
        out.object = top_.text();
        return out;
    }

private:
    bool take_member(std::string_view key, std::string_view value) {
        if (key == "choices") {
            top_.reserve(key);
            return take_choices(value);
        }
        if (key == "object") {
            top_.reserve(key);
            return value != "\"error\"";
        }
        if (key == "error" && value != "null") return false;
        // Azure's first chunk is not of the model, and has no time of its own.
        if (key == "created" && top_.inner(key) == "0") {
            top_.put(key, std::string(value));
            return true;
        }
        if (key != "obfuscation") top_.take(key, value, rule_of(key));
        return true;
    }

    bool take_choices(std::string_view value) {
        json_items items(value);
        for (std::size_t position = 0; items.next(); ++position) {
            const auto at = place_of(items.value(), position, max_choices);
            if (!at || kind_of(items.value()) != json_kind::object) return false;
            if (*at >= choices_.size()) choices_.resize(*at + 1);
            if (!choices_[*at]) choices_[*at] = make_();
            choices_[*at]->take(items.value());
        }
        return true;
    }

    std::string_view object_;
    choice_maker make_;
    json_merge top_;
    std::vector<std::unique_ptr<choice_fold>> choices_;
    bool done_ = false;
};

}  // namespace

std::optional<folded> fold(std::string_view stream, std::string_view object, choice_maker make) {
    return fold_events(stream, stream_fold(object, make));
}

void nested_fold::take(json_merge& owner, std::string_view value) {
    owner.reserve(key_);
    if (kind_of(value) == json_kind::null) return;
    if (kind_of(value) != json_kind::object) owner.mark_lossy();
    seen_ = true;
    json_members members(value);
    while (members.next()) {
        const json_kind kind = kind_of(members.value());
        const merge_rule rule = rules_(members.key(), kind);
        const bool text = kind == json_kind::string || kind == json_kind::null;
        if (rule == merge_rule::concat && !text) members_.mark_lossy();
        // Each piece of base64 is encoded for itself: behind one that ends in padding nothing can follow.
        if (members.key() == "data" && members_.inner("data").ends_with('=')) members_.mark_lossy();
        members_.take(members.key(), members.value(), rule);
    }
}

void nested_fold::settle(json_merge& owner) const {
    if (seen_) owner.put(key_, members_.text());
}

merge_rule logprobs_rule(std::string_view, json_kind kind) noexcept {
    return kind == json_kind::array ? merge_rule::append : merge_rule::single;
}

}  // namespace idem::upstream::dialect::openai
