#pragma once
// Which bytes after a head belong to it, decided before the first of them is touched (RFC 9112 section 6, RFC 9110
// sections 7.2, 7.6.1 and 10.1.1). Stricter than the RFC where two readers of one message could disagree. Pure.
#include "upstream/http/head_grammar.hpp"

namespace idem::upstream::http {

/// Fills framing, length, keep_alive, expect_continue and upgrade, makes the target origin-form and joins several
/// Connection lines into one; or says why the request is refused.
[[nodiscard]] verdict frame_request(const head_facts& facts, const parse_limits& limits, request_head& head);
/// Likewise for an answer; `head_only` for one to HEAD.
[[nodiscard]] verdict frame_response(const head_facts& facts, bool head_only, response_head& head);

}  // namespace idem::upstream::http
