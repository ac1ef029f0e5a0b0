#include "gateway/pipeline/storable.hpp"

#include <algorithm>
#include <array>

#include "upstream/http/fields.hpp"

namespace idem::gateway::pipeline {

using upstream::dialect::form;
using upstream::http::body_framing;
using upstream::http::iequals;

namespace {

/// The media type without its parameters: "text/event-stream; charset=utf-8" is "text/event-stream".
std::string_view media_type(std::string_view value) {
    value = value.substr(0, value.find(';'));
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    return value;
}

}  // namespace

head_verdict judge_head(const upstream::http::response_head& head, const upstream::dialect::call& call) {
    head_verdict v{.form = call.wanted};
    if (head.status != 200) {
        v.refuse = reason::status_not_ok;
        return v;
    }
    const std::string_view type = media_type(head.headers.find("content-type").value_or(""));
    // An upstream may answer a stream request with an object (or the reverse); that is relayed, and kept out of the
    // store.
    if (!iequals(type, upstream::dialect::content_type(call.wanted))) {
        v.refuse = reason::unexpected_content_type;
        return v;
    }
    const std::string_view coding = head.headers.find("content-encoding").value_or("identity");
    if (head.headers.count("content-encoding") > 1 || (!coding.empty() && !iequals(coding, "identity"))) {
        v.refuse = reason::content_encoded;
        return v;
    }
    // An upstream's own no-store on inference calls is a habit, not a statement about this answer: providers send
    // `no-cache` and `private` on everything, so only `Vary: *`, which says that something unseen decided, is obeyed.
    if (head.headers.find("vary").value_or("") == "*") v.refuse = reason::upstream_no_store;
    return v;
}

reason judge_answer(const answer_facts& facts, form f, const upstream::dialect::call& call,
                    const config::policy& policy) {
    if (facts.broke != reason::none) return facts.broke;
    if (!facts.framing_complete) return reason::framing_incomplete;
    if (!ends_cleanly(facts, f)) return reason::upstream_truncated;
    if (facts.head != reason::none) return facts.head;
    if (facts.framing == body_framing::close_delimited) return reason::close_delimited;
    if (facts.too_large) return reason::entry_too_large;
    if (facts.content.refuse == reason::content_filtered && policy.store_filtered) return reason::none;
    if (facts.content.refuse != reason::none) return facts.content.refuse;
    if (facts.content.length_limited && !(policy.store_truncated && call.limit_set)) return reason::answer_truncated;
    return reason::none;
}

bool ends_cleanly(const answer_facts& facts, form f) {
    // Who stands between the engine and us may frame well what it got only a part of.
    if (!facts.framing_complete || facts.content.cut) return false;
    // RFC 9112 section 8: a close-delimited body cannot be told from a truncated one, so the content has to prove
    // itself.
    if (facts.framing != body_framing::close_delimited || facts.head == reason::status_not_ok) return true;
    if (is_object(f)) return facts.content.refuse != reason::answer_malformed;
    return facts.content.refuse != reason::terminal_missing && facts.content.refuse != reason::answer_malformed;
}

bool replayed(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 4> names = {"content-language", "openai-model", "x-prompt-tokens",
                                                              "x-generated-tokens"};
    return std::ranges::any_of(names, [&](std::string_view n) { return iequals(n, name); });
}

}  // namespace idem::gateway::pipeline
