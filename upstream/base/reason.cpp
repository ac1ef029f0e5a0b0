#include "upstream/base/reason.hpp"

#include <array>

namespace idem {
namespace {

// In the order of the enum; the golden test fails if the two drift apart.
constexpr std::array<std::string_view, static_cast<std::size_t>(reason::count_)> words = {
    "",
    "not_cacheable_path",
    "policy_bypass",
    "not_eligible",
    "body_too_large",
    "bodies_too_many",
    "body_not_json",
    "body_invalid_utf8",
    "body_duplicate_key",
    "body_too_deep",
    "body_number_range",
    "body_encoding",
    "content_type",
    "missing_model",
    "stateful_call",
    "time_dependent_call",
    "side_effecting_call",
    "form_unsupported",
    "no_generation",
    "no_store_request",
    "no_cache_request",
    "max_age_exceeded",
    "items_partial",
    "origin_unknown",
    "untrusted_scope",
    "credential_unproven",
    "state_unknown",
    "secret_mismatch",
    "loop_detected",
    "status_not_ok",
    "unexpected_content_type",
    "content_encoded",
    "framing_incomplete",
    "close_delimited",
    "terminal_missing",
    "choice_unfinished",
    "no_choices",
    "error_in_answer",
    "answer_malformed",
    "answer_truncated",
    "content_filtered",
    "entry_too_large",
    "upstream_no_store",
    "fill_cancelled",
    "fill_invalidated",
    "lost_race",
    "lost_race_differs",
    "form_lossy",
    "refreshed",
    "lease_lapsed",
    "abort_unconfirmed",
    "environment_changed",
    "epoch_readonly",
    "prompt_drift",
    "store_unavailable",
    "store_timeout",
    "store_open_breaker",
    "entry_corrupt",
    "entry_unreadable",
    "only_if_cached",
    "offline",
    "parameter_conflict",
    "no_deterministic_form",
    "unauthorized",
    "bad_request",
    "unsupported_framing",
    "header_too_large",
    "uri_too_long",
    "length_required",
    "expectation_failed",
    "request_timeout",
    "overloaded",
    "draining",
    "bad_control",
    "idempotency_mismatch",
    "no_route",
    "upstream_connect",
    "upstream_timeout",
    "upstream_reset",
    "upstream_malformed",
    "upstream_truncated",
    "upstream_unhealthy",
    "rate_limited",
    "too_many_calls",
    "queue_full",
    "queue_timeout",
    "determinism_unavailable",
    "internal_error",
    "client_gone",
};

}  // namespace

std::string_view to_string(reason r) noexcept {
    const auto i = static_cast<std::size_t>(r);
    return i < words.size() ? words[i] : std::string_view{};
}

std::string_view to_string(outcome o) noexcept {
    switch (o) {
        case outcome::hit:
            return "HIT";
        case outcome::miss:
            return "MISS";
        case outcome::coalesced:
            return "COALESCED";
        case outcome::stale:
            return "STALE";
        case outcome::semantic:
            return "SEMANTIC";
        case outcome::bypass:
            return "BYPASS";
    }
    return {};
}

}  // namespace idem
