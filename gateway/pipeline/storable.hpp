#pragma once
// Whether an answer may be stored: only what is provably complete and good. A pure function of what was seen.
#include <cstdint>
#include <string_view>

#include "gateway/config/config.hpp"
#include "upstream/base/reason.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

/// What the head of an answer says, before any body byte.
/// Returns the form in which the body can be watched, or why it never can be stored.
struct head_verdict {
    reason refuse = reason::none;
    upstream::dialect::form form = upstream::dialect::form::json;
};
[[nodiscard]] head_verdict judge_head(const upstream::http::response_head& head, const upstream::dialect::call& call);

/// What the whole answer says. `framing_complete`: the HTTP framing ended as it should.
struct answer_facts {
    reason head = reason::none;  // of judge_head
    upstream::http::body_framing framing = upstream::http::body_framing::none;
    bool framing_complete = false;
    reason broke = reason::none;  // how the upstream's body broke
    bool too_large = false;
    upstream::dialect::verdict content;  // of the dialect's watcher
};
/// `form` is the one that the answer came in.
[[nodiscard]] reason judge_answer(const answer_facts& facts, upstream::dialect::form form,
                                  const upstream::dialect::call& call, const config::policy& policy);

/// Whether a client may be shown a clean end: false for everything that may have been cut.
[[nodiscard]] bool ends_cleanly(const answer_facts& facts, upstream::dialect::form form);

/// Header fields of an answer that are stored and replayed; all others belong to the one response they came with.
[[nodiscard]] bool replayed(std::string_view name) noexcept;

}  // namespace idem::gateway::pipeline
