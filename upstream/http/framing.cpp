#include "upstream/http/framing.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "upstream/http/characters.hpp"
#include "upstream/http/request_target.hpp"

namespace idem::upstream::http {
namespace {

verdict bad(std::string_view detail) noexcept {
    return {reason::bad_request, detail};
}

// Fields that a Connection line may not nominate: removing them on the way would change what is asked or by whom.
constexpr std::array<std::string_view, 19> not_nominable = {
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Content-Type",
    "Content-Encoding",
    "Authorization",
    "X-Api-Key",
    "Api-Key",
    "X-Goog-Api-Key",
    "Cookie",
    "Accept",
    "Expect",
    "Cache-Control",
    "Idempotency-Key",
    "Anthropic-Version",
    "Anthropic-Beta",
    "OpenAI-Organization",
    "OpenAI-Project",
    "Via",
};

/// Takes the next item, trimmed, off a comma-separated list; items may be empty.
std::string_view next_item(std::string_view& list) noexcept {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = trim(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    return item;
}

enum class coding : std::uint8_t { chunked, malformed, unknown };

/// A value that holds anything but the one word is refused; the two kinds differ in the status only.
coding read_coding(std::string_view value) noexcept {
    if (iequals(value, "chunked")) return coding::chunked;
    std::size_t chunked = 0;
    for (std::string_view rest = value; !rest.empty();) {
        const std::string_view item = next_item(rest);
        if (!is_token(item.substr(0, item.find_first_of("; \t")))) return coding::malformed;
        chunked += iequals(item, "chunked");
    }
    return value.empty() || chunked > 1 ? coding::malformed : coding::unknown;
}

bool read_length(std::string_view value, std::uint64_t& out) noexcept {
    if (value.empty() || !std::ranges::all_of(value, is_digit)) return false;
    const auto r = std::from_chars(value.data(), value.data() + value.size(), out);
    return r.ec == std::errc{} && r.ptr == value.data() + value.size();
}

/// Body framing by the two fields that may declare one; what is malformed and what is only foreign differ by direction.
template <class Head>
verdict frame_body(const head_facts& facts, Head& head, reason malformed, reason foreign) {
    const noted& te = facts.transfer_encoding;
    const noted& cl = facts.content_length;
    if (te.count > 0) {
        if (cl.count > 0) return {malformed, "both Transfer-Encoding and Content-Length are given"};
        if (te.count > 1) return {malformed, "Transfer-Encoding is given more than once"};
        if (head.version < 11) return {malformed, "Transfer-Encoding does not exist in HTTP/1.0"};
        switch (read_coding(te.value)) {
            case coding::chunked:
                break;
            case coding::malformed:
                return {malformed, "Transfer-Encoding is malformed"};
            case coding::unknown:
                return {foreign, "the only transfer coding understood is chunked"};
        }
        head.framing = body_framing::chunked;
        return {};
    }
    if (cl.count > 1) return {malformed, "Content-Length is given more than once"};
    if (cl.count == 1) {
        if (!read_length(cl.value, head.length)) return {malformed, "Content-Length is not a number"};
        head.framing = body_framing::length;
    }
    return {};
}

/// Several Connection lines count as one list; afterwards there is one line, so that whoever asks for it gets the whole
/// list.
void join_connection(std::uint32_t count, fields& headers) {
    if (count < 2) return;
    std::string joined;
    for (const auto [name, value] : headers) {
        if (!iequals(name, "Connection")) continue;
        if (!joined.empty()) joined += ", ";
        joined += value;
    }
    headers.remove("Connection");
    headers.add("Connection", joined);
}

std::string_view connection_of(const head_facts& facts, const fields& headers) noexcept {
    if (facts.connection.count < 2) return facts.connection.value;
    return headers.find("Connection").value_or(std::string_view{});
}

verdict check_connection(std::string_view list) noexcept {
    if (list.empty() || iequals(list, "keep-alive") || iequals(list, "close")) return {};
    for (const std::string_view name : not_nominable) {
        if (list_has(list, name)) return bad("Connection names a field that must not be removed");
    }
    while (!list.empty()) {
        const std::string_view item = next_item(list);
        if (!item.empty() && !is_token(item)) return bad("Connection is malformed");
        if (item.size() >= 5 && iequals(item.substr(0, 5), "idem-")) {
            return bad("Connection names a field that must not be removed");
        }
    }
    return {};
}

bool keeps_alive(unsigned version, std::string_view connection) noexcept {
    if (list_has(connection, "close")) return false;
    return version >= 11 || list_has(connection, "keep-alive");
}

/// Registered methods are capitals and hyphens; anything else is a probe or a broken line.
bool valid_method(std::string_view method) noexcept {
    return method.size() <= 32 &&
           std::ranges::all_of(method, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

}  // namespace

verdict frame_request(const head_facts& facts, const parse_limits& limits, request_head& head) {
    if (!valid_method(head.method)) return bad("the method is not one of capitals and hyphens");
    if (head.target.size() > limits.target_bytes) return {reason::uri_too_long, "the request target is too long"};
    if (const verdict v = normalise_target(head.method, head.target)) return v;
    if (facts.host.count > 1) return bad("Host is given more than once");
    if (facts.host.count == 0 && head.version >= 11) return bad("Host is missing");
    if (facts.host.count == 1 && !valid_host(facts.host.value)) return bad("Host is malformed");
    if (facts.lookalike) return bad("a field name can be mistaken for a framing or credential field");
    if (const verdict v = frame_body(facts, head, reason::bad_request, reason::unsupported_framing)) return v;
    const bool wants_body = head.method == "POST" || head.method == "PUT" || head.method == "PATCH";
    if (wants_body && head.framing == body_framing::none) {
        return {reason::length_required, "a body needs Content-Length or Transfer-Encoding: chunked"};
    }
    if (facts.expect.count > 0 && head.version >= 11) {
        if (facts.expect.count > 1 || !iequals(facts.expect.value, "100-continue")) {
            return {reason::expectation_failed, "the only expectation understood is 100-continue"};
        }
        head.expect_continue = head.framing == body_framing::chunked || head.length > 0;
    }
    // Changes the fields, and with them what the facts refer to: nothing but counts may be read from those below.
    join_connection(facts.connection.count, head.headers);
    const std::string_view connection = connection_of(facts, head.headers);
    if (const verdict v = check_connection(connection)) return v;
    head.keep_alive = keeps_alive(head.version, connection);
    // RFC 9110 section 7.8 lets a server ignore an upgrade. Only WebSocket (RFC 6455 section 4.1) is tunnelled: h2c and
    // its like would carry requests that nobody looks at.
    head.upgrade = head.version >= 11 && head.method == "GET" && facts.upgrade.count == 1 &&
                   list_has(connection, "upgrade") && list_has(head.headers.find("upgrade").value_or(""), "websocket");
    return {};
}

verdict frame_response(const head_facts& facts, bool head_only, response_head& head) {
    if (head.status < 100 || head.status > 599) return {reason::upstream_malformed, "the status is out of range"};
    if (const verdict v = frame_body(facts, head, reason::upstream_malformed, reason::upstream_malformed)) return v;
    join_connection(facts.connection.count, head.headers);
    head.keep_alive = keeps_alive(head.version, connection_of(facts, head.headers));
    if (head_only || head.status < 200 || head.status == 204 || head.status == 304) {
        head.framing = body_framing::none;
    } else if (head.framing == body_framing::none) {
        head.framing = body_framing::close_delimited;
        head.keep_alive = false;
    }
    return {};
}

}  // namespace idem::upstream::http
