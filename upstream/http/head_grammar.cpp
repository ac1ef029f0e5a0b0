#include "upstream/http/head_grammar.hpp"

#include <array>

#include "upstream/http/characters.hpp"

namespace idem::upstream::http {
namespace {

constexpr std::array<std::string_view, 9> guarded = {
    "transferencoding", "contentlength", "contenttype",   "contentencoding",    "xapikey",
    "apikey",           "xgoogapikey",   "authorization", "proxyauthorization",
};

/// Gateways that map names to variables fold "-" and "_" into one: Transfer_Encoding or X--Api-Key may come to mean the
/// real field behind us.
bool is_lookalike(std::string_view name) noexcept {
    std::array<char, 24> squeezed{};
    std::size_t n = 0;
    for (const char c : name) {
        if (c == '-' || c == '_') continue;
        if (n == squeezed.size()) return false;
        squeezed[n++] = c;
    }
    const std::string_view folded(squeezed.data(), n);
    if (n >= 4 && iequals(folded.substr(0, 4), "idem")) return true;
    for (const std::string_view g : guarded) {
        if (iequals(folded, g)) return true;
    }
    return false;
}

void note(noted& n, std::string_view value) noexcept {
    ++n.count;
    n.value = value;
}

/// Lengths tell the names apart, so that most fields are compared with none.
void remember(std::string_view name, std::string_view value, head_facts& facts) noexcept {
    switch (name.size()) {
        case 4:
            if (iequals(name, "Host")) note(facts.host, value);
            break;
        case 6:
            if (iequals(name, "Expect")) note(facts.expect, value);
            break;
        case 7:
            if (iequals(name, "Upgrade")) note(facts.upgrade, value);
            break;
        case 10:
            if (iequals(name, "Connection")) note(facts.connection, value);
            break;
        case 14:
            if (iequals(name, "Content-Length")) note(facts.content_length, value);
            break;
        case 17:
            if (iequals(name, "Transfer-Encoding")) note(facts.transfer_encoding, value);
            break;
        default:
            break;
    }
}

/// Takes a line off the front, without its CRLF; head_scan has seen to it that every LF follows a CR.
std::string_view take_line(std::string_view& rest) noexcept {
    const std::size_t lf = rest.find('\n');
    const std::string_view line = rest.substr(0, lf - 1);
    rest.remove_prefix(lf + 1);
    return line;
}

/// The lines after the start line. field-line = field-name ":" OWS field-value OWS (RFC 9112 section 5).
std::string_view parse_fields(std::string_view rest, fields& out, head_facts& facts) {
    for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
        const std::size_t colon = line.find(':');
        if (colon == 0 || colon == std::string_view::npos) return "a field line has no name";
        const std::string_view name = line.substr(0, colon);
        bool token = true;
        bool doubtful = name.front() == '-' || name.back() == '-';
        char before = 0;
        for (const char c : name) {
            token &= is_token_character(c);
            doubtful |= c == '_' || (c == '-' && before == '-');
            before = c;
        }
        if (!token) return "a field name is malformed";
        const std::string_view value = trim(line.substr(colon + 1));
        if (has_control(value)) return "a field value is malformed";
        out.add_held(name, value);
        remember(name, value, facts);
        if (doubtful && is_lookalike(name)) facts.lookalike = true;
    }
    return {};
}

bool read_version(std::string_view text, unsigned& version) noexcept {
    version = text == "HTTP/1.1" ? 11 : 10;
    return version == 11 || text == "HTTP/1.0";
}

/// method SP request-target SP HTTP-version (RFC 9112 section 3)
std::string_view parse_start(std::string_view line, request_head& head) {
    const std::size_t first = line.find(' ');
    if (first == std::string_view::npos || !is_token(line.substr(0, first))) return "the method is malformed";
    const std::size_t second = line.find(' ', first + 1);
    if (second == std::string_view::npos || second == first + 1) return "the request target is malformed";
    if (!read_version(line.substr(second + 1), head.version)) return "the HTTP version is malformed or not supported";
    head.method.assign(line.substr(0, first));
    head.target.assign(line.substr(first + 1, second - first - 1));
    return {};
}

/// HTTP-version SP status-code SP [reason-phrase] (RFC 9112 section 4); the last SP is missed by some servers.
std::string_view parse_start(std::string_view line, response_head& head) {
    constexpr std::size_t code_at = 9;
    constexpr std::size_t phrase_at = 13;
    if (line.size() < code_at || line[code_at - 1] != ' ' || !read_version(line.substr(0, code_at - 1), head.version)) {
        return "the HTTP version is malformed or not supported";
    }
    const std::string_view code = line.substr(code_at, 3);
    const bool separated = line.size() < phrase_at || line[phrase_at - 1] == ' ';
    if (code.size() != 3 || !std::ranges::all_of(code, is_digit) || !separated) return "the status is malformed";
    head.status = 0;
    for (const char c : code) head.status = head.status * 10 + static_cast<unsigned>(c - '0');
    const std::string_view phrase = line.size() < phrase_at ? std::string_view{} : line.substr(phrase_at);
    if (has_control(phrase)) return "the reason phrase is malformed";
    head.reason_phrase.assign(phrase);
    return {};
}

template <class Head>
std::string_view parse(std::string_view raw, Head& head, head_facts& facts) {
    std::string_view rest = raw;
    const std::string_view line = take_line(rest);
    if (const std::string_view wrong = parse_start(line, head); !wrong.empty()) return wrong;
    return parse_fields(head.headers.hold(rest), head.headers, facts);
}

}  // namespace

verdict parse_head(std::string_view raw, request_head& head, head_facts& facts) {
    const std::string_view wrong = parse(raw, head, facts);
    return {wrong.empty() ? reason::none : reason::bad_request, wrong};
}

verdict parse_head(std::string_view raw, response_head& head, head_facts& facts) {
    const std::string_view wrong = parse(raw, head, facts);
    return {wrong.empty() ? reason::none : reason::upstream_malformed, wrong};
}

}  // namespace idem::upstream::http
