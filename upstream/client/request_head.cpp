#include "upstream/client/request_head.hpp"

#include <algorithm>
#include <charconv>

namespace idem::upstream::client {
namespace {

/// Fields that this hop makes anew, whatever the caller passes.
bool ours(std::string_view name) noexcept {
    switch (name.size()) {
        case 4:
            return http::iequals(name, "host");
        case 6:
            return http::iequals(name, "expect");  // the body goes out at once
        case 14:
            return http::iequals(name, "content-length");
        default:
            return http::hop_by_hop(name, {});
    }
}

/// Servers may answer 411 to a method that usually has content unless it says that there is none.
bool usually_has_content(std::string_view method) noexcept {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

void append_number(std::string& into, std::uint64_t n) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    into.append(digits, end);
}

}  // namespace

bool compose_head(std::string& into, const outgoing& out, const target& to) {
    into.clear();
    // A proxy is told the whole of it (RFC 9112 section 3.2.2); behind a tunnel it is not asked.
    const bool by_proxy = to.through && !to.tls;
    into.append(out.method).append(" ");
    if (by_proxy) into.append("http://").append(to.authority());
    if (!by_proxy || out.target != "*") into.append(out.target);  // RFC 9112 section 3.2.4
    into.append(" HTTP/1.1\r\nHost: ").append(to.authority()).append("\r\n");
    std::ptrdiff_t lines = 3;  // with the empty one
    if (by_proxy && !to.through.authorization.empty()) {
        http::append_field(into, "Proxy-Authorization", to.through.authorization);
        ++lines;
    }
    for (const http::field f : out.headers) {
        if (ours(f.name)) continue;
        http::append_field(into, f.name, f.value);
        ++lines;
    }
    if (out.framing == http::body_framing::chunked) {
        into.append("Transfer-Encoding: chunked\r\n");
        ++lines;
    } else if (out.framing == http::body_framing::length || usually_has_content(out.method)) {
        into.append("Content-Length: ");
        append_number(into, out.framing == http::body_framing::length ? out.length : 0);
        into.append("\r\n");
        ++lines;
    }
    if (out.upgrade) {
        into.append("Connection: upgrade\r\nUpgrade: ").append(out.upgrade_to).append("\r\n");
        lines += 2;
    }
    into.append("\r\n");
    // Whatever was smuggled into a part shows as a line too many; three vectorised passes are cheaper than one per
    // part.
    return std::count(into.begin(), into.end(), '\n') == lines && std::count(into.begin(), into.end(), '\r') == lines &&
           into.find('\0') == std::string::npos;
}

std::optional<unsigned> keep_alive_seconds(std::string_view field) noexcept {
    while (!field.empty()) {
        const std::size_t comma = std::min(field.find(','), field.size());
        std::string_view item = field.substr(0, comma);
        field.remove_prefix(std::min(comma + 1, field.size()));
        item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
        constexpr std::string_view name = "timeout=";
        if (item.size() <= name.size() || !http::iequals(item.substr(0, name.size()), name)) continue;
        unsigned seconds = 0;
        const char* const begin = item.data() + name.size();
        if (std::from_chars(begin, item.data() + item.size(), seconds).ec == std::errc()) return seconds;
    }
    return std::nullopt;
}

}  // namespace idem::upstream::client
