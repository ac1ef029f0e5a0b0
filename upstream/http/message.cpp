#include "upstream/http/message.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "upstream/base/words.hpp"

namespace idem::upstream::http {
namespace {

constexpr bool ends_line(char c) noexcept {
    return c == '\r' || c == '\n' || c == '\0';
}

constexpr std::string_view phrase_of(unsigned status) noexcept {
    switch (status) {
        case 100:
            return "Continue";
        case 101:
            return "Switching Protocols";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 402:
            return "Payment Required";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 421:
            return "Misdirected Request";
        case 422:
            return "Unprocessable Content";
        case 425:
            return "Too Early";
        case 426:
            return "Upgrade Required";
        case 428:
            return "Precondition Required";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 451:
            return "Unavailable For Legal Reasons";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        case 508:
            return "Loop Detected";
        case 529:
            return "Overloaded";
        default:
            return {};
    }
}

constexpr std::array<std::string_view, 9> hop_names = {
    "Connection", "Keep-Alive",         "Proxy-Connection",    "TE", "Trailer", "Transfer-Encoding",
    "Upgrade",    "Proxy-Authenticate", "Proxy-Authorization",
};

}  // namespace

void request_head::clear() noexcept {
    method.clear();
    target.clear();
    version = 11;
    headers.clear();
    framing = body_framing::none;
    length = 0;
    keep_alive = true;
    expect_continue = false;
    upgrade = false;
}

void response_head::clear() noexcept {
    status = 0;
    reason_phrase.clear();
    version = 11;
    headers.clear();
    framing = body_framing::none;
    length = 0;
    keep_alive = true;
}

void append_status_line(std::string& out, unsigned status, std::string_view phrase) {
    std::array<char, 10> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), status).ptr;
    if (phrase.empty()) phrase = phrase_of(status);
    out.append("HTTP/1.1 ").append(digits.data(), end).append(1, ' ').append(phrase).append("\r\n");
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    const std::size_t at = out.append(name).append(": ").size();
    out.append(value);
    // A value is never allowed to end its own line (RFC 9110 section 5.5: CR, LF and NUL are replaced by SP).
    const auto ends = [](std::uint64_t word) {
        return words::equal(word, '\r') | words::equal(word, '\n') | words::equal(word, '\0');
    };
    if (words::any(value, ends))
        std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(at), out.end(), ends_line, ' ');
    out.append("\r\n");
}

bool hop_by_hop(std::string_view name, std::string_view connection) noexcept {
    for (const std::string_view hop : hop_names) {
        if (iequals(name, hop)) return true;
    }
    return list_has(connection, name);
}

}  // namespace idem::upstream::http
