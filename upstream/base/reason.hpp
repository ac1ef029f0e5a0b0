#pragma once
// The one closed list of reasons: why a request was not answered from the cache, why an answer was not stored, why a
// request failed inside Idem. The same word stands in the `Cache-Status` detail, the error body's `code`, the access
// log and the metric label `reason`; tests/golden/reasons.txt freezes the list. It lives on the lowest floor because
// every room names reasons and includes only ever point downward.
#include <cstdint>
#include <string_view>

namespace idem {

enum class reason : std::uint8_t {
    none,  // nothing to explain: a plain hit or a plain miss

    // Why a call is not looked up at all (outcome BYPASS).
    not_cacheable_path,   // no dialect knows this method and path: proxied untouched
    policy_bypass,        // the route's policy is `bypass`
    not_eligible,         // the policy's `eligible` rule excludes this call's sampling
    body_too_large,       // request body above listen.body: streamed through
    bodies_too_many,      // request bodies under way fill their share of memory: streamed through
    body_not_json,        // malformed JSON, or the top level is not an object
    body_invalid_utf8,    // invalid UTF-8 or a lone surrogate escape
    body_duplicate_key,   // one object holds a key twice
    body_too_deep,        // nesting above 256 levels
    body_number_range,    // a number that is not finite as an IEEE double
    body_encoding,        // Content-Encoding that is unknown, broken or expands beyond the cap
    content_type,         // request content type is not JSON
    missing_model,        // the call names no model
    stateful_call,        // the call refers to or creates server-side state
    time_dependent_call,  // web search and the like: the answer depends on when it is asked
    side_effecting_call,  // the call lets the provider act: run code, call other servers
    form_unsupported,     // the answer comes in a form that is not kept: binary, or pieces of one JSON array
    no_generation,        // the call loads, unloads or warms a model, or renders a prompt: nothing is generated
    no_store_request,     // client sent Cache-Control: no-store
    no_cache_request,     // client sent Cache-Control: no-cache: computed anew
    max_age_exceeded,     // entry is older than the client's max-age: computed anew
    items_partial,        // a part of the batch was stored, the rest was fetched
    origin_unknown,       // a browser's page whose origin the upstream has not answered yet: asked for it alone
    untrusted_scope,      // scope header from a peer that is not trusted, or sent twice
    credential_unproven,  // shared scope: this credential has not succeeded upstream recently
    state_unknown,        // the upstream's epoch has not been read from the store yet
    secret_mismatch,      // the gateways on this store have another cache.key_secret
    loop_detected,        // our own Via: the request came round in a circle

    // Why an answer was not stored.
    status_not_ok,            // upstream status is not 200
    unexpected_content_type,  // not the content type of the form that was asked for
    content_encoded,          // upstream compressed although identity was asked
    framing_incomplete,       // connection ended before the framing said so
    close_delimited,          // length unknown: truncation cannot be told from the end
    terminal_missing,         // the dialect's terminal marker never came
    choice_unfinished,        // some choice has no finish reason
    no_choices,               // no choice at all
    error_in_answer,          // an error object or event inside a 200
    answer_malformed,         // the answer does not parse
    answer_truncated,         // ended by `length` and policy says not to store that, or by a word nobody knows
    content_filtered,         // finish reason `content_filter`, or a refusal
    entry_too_large,          // above cache.entry, or asked for what always is
    upstream_no_store,    // upstream said `Vary: *`; its Cache-Control is not obeyed, providers send it on everything
    fill_cancelled,       // the last follower left
    fill_invalidated,     // the entry was deleted or purged while this fill was running
    lost_race,            // another writer stored first
    lost_race_differs,    // another writer stored first, and its answer differs
    form_lossy,           // the stored form cannot be converted without loss
    refreshed,            // computed anew beside a live entry, which stays
    lease_lapsed,         // strict: another gateway may have used the replica meanwhile
    abort_unconfirmed,    // strict: the replica may still have been at work on a call that was given up
    environment_changed,  // the replica's facts were others, or could not be read, at the end of the fill
    epoch_readonly,       // the epoch was gone back to, and no replica is in its environment: 503 under strict
    prompt_drift,         // the same request had another number of prompt tokens before: template or tokenizer changed

    // Store conditions.
    store_unavailable,   // second tier could not be asked or written
    store_timeout,       // second tier did not answer within its deadline
    store_open_breaker,  // second tier is not asked: its breaker is open
    entry_corrupt,       // checksum, length or embedded key did not match
    entry_unreadable,    // newer format, or unknown encryption key id

    // Failures answered by Idem itself.
    only_if_cached,           // 504: client allowed stored answers only
    offline,                  // 504: the policy is `offline`, and no answer is stored
    parameter_conflict,       // 400: the request sets what strict or seeded fixes
    no_deterministic_form,    // 400: strict or seeded, and this engine has no deterministic form of this call
    unauthorized,             // 401: caller is not in listen.clients
    bad_request,              // 400: framing, target, Host or field syntax
    unsupported_framing,      // 501: transfer coding other than chunked
    header_too_large,         // 431
    uri_too_long,             // 414
    length_required,          // 411
    expectation_failed,       // 417
    request_timeout,          // 408: head or body came too slowly
    overloaded,               // 503: connection, request or memory cap, or limits.calls, reached
    draining,                 // 503: the drain was over before the answer was
    bad_control,              // 400: an Idem-* or Cache-Control field that does not parse
    idempotency_mismatch,     // 422: the Idempotency-Key was used for another request within 24 hours
    no_route,                 // 404: no route and no upstream for this request
    upstream_connect,         // 502: name resolution, connect or TLS failed
    upstream_timeout,         // 504: connect, first-byte, between-bytes or total deadline
    upstream_reset,           // 502: connection lost before the head was complete
    upstream_malformed,       // 502: upstream broke HTTP framing
    upstream_truncated,       // 502: an answer that is not whole, however it is framed
    upstream_unhealthy,       // 503: every replica is ejected or cannot be reached
    rate_limited,             // 429: above limits.caller.per_minute
    too_many_calls,           // 429: above limits.caller.calls
    queue_full,               // 503: too many calls wait for the replica
    queue_timeout,            // 503: the replica was not free within concurrency.queue_timeout
    determinism_unavailable,  // 503: no replica is admitted in the environment of the epoch
    internal_error,           // 500: a fault of ours, logged
    client_gone,              // the client left before the answer was complete
    count_                    // number of reasons, not a reason
};

/// The wire word, e.g. "body_too_large". Never empty except for `none`. Any thread.
[[nodiscard]] std::string_view to_string(reason r) noexcept;

/// What happened to a request as a whole: `X-Cache`, log field `cache` and metric label `cache`.
enum class outcome : std::uint8_t { hit, miss, coalesced, stale, semantic, bypass };

/// "HIT", "MISS", … . Any thread.
[[nodiscard]] std::string_view to_string(outcome o) noexcept;

}  // namespace idem
