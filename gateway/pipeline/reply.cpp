#include "gateway/pipeline/reply.hpp"

#include <charconv>

#include "cache/policy/freshness.hpp"
#include "gateway/pipeline/storable.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

using upstream::http::append_field;
using upstream::http::append_status_line;
using upstream::http::iequals;

namespace {

void append_number(std::string& out, std::int64_t n) {
    char text[24];
    const auto end = std::to_chars(text, text + sizeof text, n).ptr;
    out.append(text, end);
}

void append_hex_field(std::string& out, std::string_view name, std::span<const std::uint8_t> bytes) {
    out += name;
    out += ": ";
    const std::size_t at = out.size();
    out.resize(at + 2 * bytes.size());
    to_hex(bytes, out.data() + at);
    out += "\r\n";
}

// RFC 9211: `hit`, or `fwd` with why the request went forward.
void append_cache_status(std::string& out, const account& a, std::string_view upstream_members) {
    out += "Cache-Status: ";
    if (!upstream_members.empty()) {
        out += upstream_members;
        out += ", ";
    }
    out += "idem";
    switch (a.what) {
        case outcome::hit:
        case outcome::stale:
        case outcome::semantic:
            out += "; hit";
            break;
        case outcome::bypass:
            out += "; fwd=bypass";
            break;
        case outcome::miss:
        case outcome::coalesced:
            out += a.why == reason::no_cache_request || a.why == reason::max_age_exceeded ? "; fwd=request"
                   : a.why == reason::items_partial                                       ? "; fwd=partial"
                                                                                          : "; fwd=miss";
            break;
    }
    if (a.what == outcome::coalesced) out += "; collapsed";
    if (a.stored && *a.stored) out += "; stored";
    if (a.ttl_s) {
        out += "; ttl=";
        append_number(out, *a.ttl_s);
    }
    const std::string_view detail = a.why != reason::none ? to_string(a.why) : a.tier;
    if (!detail.empty()) {
        out += "; detail=";
        out += detail;
    }
    if (a.unconfirmed) out += "; unconfirmed";
    out += "\r\n";
}

// Milliseconds with two decimals, as Server-Timing's `dur` wants them.
void append_timing(std::string& out, std::string_view name, std::uint32_t us) {
    out += name;
    out += ";dur=";
    append_number(out, us / 1000);
    out += '.';
    const std::uint32_t hundredths = us % 1000 / 10;
    out += static_cast<char>('0' + hundredths / 10);
    out += static_cast<char>('0' + hundredths % 10);
}

void append_promise(std::string& out, const upstream::determinism::guarantee& promise) {
    out += "Idem-Guarantee: ";
    upstream::determinism::append(out, promise);
    out += "\r\n";
}

// Fields of an upstream's answer that speak of one caller's request and account.
bool personal(std::string_view name) noexcept {
    static constexpr std::string_view exact[] = {"set-cookie",          "x-request-id",         "request-id",
                                                 "openai-organization", "openai-processing-ms", "cf-ray",
                                                 "server-timing",       "traceparent",          "tracestate"};
    for (std::string_view n : exact) {
        if (iequals(n, name)) return true;
    }
    auto starts = [&](std::string_view prefix) {
        return name.size() >= prefix.size() && iequals(name.substr(0, prefix.size()), prefix);
    };
    return starts("x-ratelimit-") || starts("anthropic-ratelimit-") || starts("access-control-");
}

}  // namespace

account account_of(const cache::entry& e, cache::unix_ms now) {
    account a;
    a.key = &e.key;
    a.request = &e.request;
    a.output = &e.output;
    a.environment = &e.environment;
    a.promise = &e.promise;
    a.replica = e.replica;
    a.age_s = cache::age_seconds(e.created, now);
    a.ttl_s = (e.fresh_until - now) / 1000;
    return a;
}

void append_account(std::string& head, const account& a, exposure expose, std::string_view upstream_cache_status) {
    if (!a.request_id.empty()) append_field(head, "x-request-id", a.request_id);
    if (!a.request_id.empty() && !a.id_field.empty()) append_field(head, a.id_field, a.request_id);
    if (!a.via.empty()) append_field(head, "Via", a.via);
    head += a.cors;
    if (expose == exposure::none) return;
    if (a.age_s) {
        head += "Age: ";
        append_number(head, *a.age_s);
        head += "\r\n";
    }
    append_field(head, "X-Cache", to_string(a.what));
    if (expose == exposure::minimal) return;
    append_cache_status(head, a, upstream_cache_status);
    if (a.key) append_hex_field(head, "Idem-Key", a.key->value.bytes);
    if (a.request) append_hex_field(head, "Idem-Request", a.request->bytes);
    if (a.epoch) {
        append_hex_field(head, "Idem-Epoch", a.epoch->id.bytes);
        append_hex_field(head, "Idem-Environment", (a.environment ? *a.environment : a.epoch->environment).bytes);
    }
    if (a.promise) append_promise(head, *a.promise);
    if (!a.replica.empty()) append_field(head, "Idem-Replica", a.replica);
    if (a.output) append_hex_field(head, "Idem-Digest", a.output->bytes);
    if (!a.receipt.empty()) append_field(head, "Idem-Receipt", a.receipt);
    head += "Server-Timing: ";
    append_timing(head, "idem", a.took_us);
    if (a.upstream_ms != 0) {
        head += ", ";
        append_timing(head, "upstream", a.upstream_ms * 1000);
    }
    head += "\r\n";
}

void append_hit_head(std::string& head, const cache::entry& e, std::string_view form_type, const account& a,
                     exposure expose) {
    head += "HTTP/1.1 200 OK\r\n";
    append_field(head, "Content-Type", form_type.empty() ? std::string_view(e.content_type) : form_type);
    for (const auto& [name, value] : e.headers) append_field(head, name, value);
    append_account(head, a, expose);
}

bool replaced(std::string_view name, exposure expose) noexcept {
    if (iequals(name, "date")) return true;
    return expose != exposure::none && (iequals(name, "x-cache") || iequals(name.substr(0, 5), "idem-"));
}

void append_relayed_head(std::string& head, const cache::answer_head& from, bool own, const account& a,
                         exposure expose) {
    append_status_line(head, from.status);
    if (!from.content_type.empty()) append_field(head, "Content-Type", from.content_type);
    std::string_view upstream_status;
    account told = a;
    bool has_id = false;
    for (const auto& [name, value] : from.headers) {
        if (iequals(name, "cache-status")) {
            upstream_status = value;
            continue;
        }
        if (replaced(name, expose) || (!own && personal(name))) continue;
        has_id = has_id || iequals(name, "x-request-id");
        if (iequals(name, told.id_field)) told.id_field = {};
        append_field(head, name, value);
    }
    if (has_id) told.request_id = {};
    if (own) told.cors = {};
    append_account(head, told, expose, upstream_status);
}

void append_error_head(std::string& head, unsigned status, const account& a, exposure expose) {
    append_status_line(head, status);
    append_field(head, "Content-Type", "application/json");
    if (status == 503 || status == 429) append_field(head, "Retry-After", std::to_string(a.retry_after));
    if (a.why == reason::only_if_cached || a.why == reason::offline) append_field(head, "x-should-retry", "false");
    append_account(head, a, expose);
}

unsigned status_of(reason why) noexcept {
    switch (why) {
        case reason::bad_request:
        case reason::bad_control:
        case reason::body_not_json:
        case reason::body_invalid_utf8:
        case reason::body_duplicate_key:
        case reason::body_too_deep:
        case reason::body_number_range:
        case reason::body_encoding:
        case reason::parameter_conflict:
        case reason::no_deterministic_form:
            return 400;
        case reason::unauthorized:
            return 401;
        case reason::no_route:
            return 404;
        case reason::request_timeout:
            return 408;
        case reason::length_required:
            return 411;
        case reason::body_too_large:
            return 413;
        case reason::uri_too_long:
            return 414;
        case reason::content_type:
            return 415;
        case reason::expectation_failed:
            return 417;
        case reason::idempotency_mismatch:
            return 422;
        case reason::rate_limited:
        case reason::too_many_calls:
            return 429;
        case reason::header_too_large:
            return 431;
        case reason::client_gone:
            return 499;  // nobody reads it; nginx's number for the log
        case reason::unsupported_framing:
            return 501;
        case reason::bodies_too_many:
        case reason::overloaded:
        case reason::draining:
        case reason::store_unavailable:
        case reason::upstream_unhealthy:
        case reason::queue_full:
        case reason::queue_timeout:
        case reason::determinism_unavailable:
        case reason::epoch_readonly:
            return 503;
        case reason::only_if_cached:
        case reason::offline:
        case reason::upstream_timeout:
            return 504;
        case reason::loop_detected:
            return 508;
        case reason::internal_error:
            return 500;
        default:
            return 502;
    }
}

std::string_view sentence_of(reason why) noexcept {
    switch (why) {
        case reason::only_if_cached:
            return "no stored answer, and the request allows nothing else (Cache-Control: only-if-cached)";
        case reason::offline:
            return "no stored answer, and the policy offline gives nothing else";
        case reason::parameter_conflict:
            return "the request sets parameters that the policy fixes";
        case reason::no_deterministic_form:
            return "the engine has no deterministic form of this call, and the policy asks for one";
        case reason::body_too_large:
            return "the request body is larger than the gateway holds, and the policy has to read it";
        case reason::bodies_too_many:
            return "too many request bodies are held at the moment, and the policy has to read this one";
        case reason::idempotency_mismatch:
            return "this Idempotency-Key was used for another request within the last 24 hours";
        case reason::unauthorized:
            return "the credential is not in the list of clients of this gateway";
        case reason::no_route:
            return "no route of this gateway matches the request";
        case reason::loop_detected:
            return "the request has passed through this gateway before (Via)";
        case reason::store_unavailable:
            return "the store is unavailable and the policy requires it";
        case reason::upstream_connect:
            return "the upstream could not be reached";
        case reason::upstream_timeout:
            return "the upstream did not answer in time";
        case reason::determinism_unavailable:
            return "no replica is admitted in the epoch's environment";
        case reason::epoch_readonly:
            return "an operator went back to an epoch whose environment no replica has: only what is stored is given";
        case reason::upstream_unhealthy:
            return "every replica of the upstream is out of service";
        case reason::overloaded:
            return "the gateway has as many calls under way as it may";
        case reason::rate_limited:
            return "this caller has made as many calls in the last minute as it may";
        case reason::too_many_calls:
            return "this caller has as many calls under way as it may";
        case reason::queue_full:
            return "too many calls wait for this replica already";
        case reason::queue_timeout:
            return "the replica was busy with other calls for too long";
        case reason::upstream_malformed:
            return "the upstream's answer is not valid HTTP";
        case reason::upstream_truncated:
        case reason::framing_incomplete:
            return "the upstream's answer ended before it was complete";
        case reason::draining:
            return "the gateway is shutting down";
        case reason::internal_error:
            return "the gateway failed; its log says why";
        default:
            return to_string(why);
    }
}

}  // namespace idem::gateway::pipeline
