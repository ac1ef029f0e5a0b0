#include "upstream/client/target.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>
#include <cstring>
#include <iterator>

namespace idem::upstream::client {
namespace {

std::string with_brackets(const std::string& host) {
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

/// The last segment of the path, without its slash; empty for the empty path.
std::string_view last_segment(std::string_view path) {
    return path.substr(std::min(path.rfind('/'), path.size() - 1) + 1);
}

/// True if `path` begins with "/" + segment and that segment ends there.
bool begins_with_segment(std::string_view path, std::string_view segment) {
    if (path.size() <= segment.size() || path[0] != '/' || path.substr(1, segment.size()) != segment) return false;
    const std::string_view rest = path.substr(1 + segment.size());
    return rest.empty() || rest[0] == '/' || rest[0] == '?';
}

bool is_version(std::string_view segment) {
    return segment.size() >= 2 && segment[0] == 'v' && segment[1] >= '1' && segment[1] <= '9';
}

// An address in its canonical form, a name in lower case without the dot that ends it.
std::string one_spelling(std::string host) {
    std::ranges::transform(host, host.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
    if (host.ends_with('.')) host.pop_back();
    in_addr four{};
    in6_addr six{};
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool is_six = ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
    if (is_six && IN6_IS_ADDR_V4MAPPED(&six)) std::memcpy(&four, &six.s6_addr[12], sizeof four);
    if (is_six && !IN6_IS_ADDR_V4MAPPED(&six)) {
        host = ::inet_ntop(AF_INET6, &six, text.data(), text.size());
    } else if (is_six || ::inet_aton(host.c_str(), &four) != 0) {
        host = ::inet_ntop(AF_INET, &four, text.data(), text.size());
    }
    // Who connects to the address of everybody comes to this machine.
    constexpr std::string_view here[] = {"127.0.0.1", "::1", "0.0.0.0", "::", "ip6-localhost"};
    const bool local = std::ranges::find(here, host) != std::end(here) || host.ends_with(".localhost");
    return local ? "localhost" : host;
}

}  // namespace

std::string target::authority() const {
    const bool standard = port == (tls ? 443 : 80);
    return standard ? with_brackets(host) : with_brackets(host) + ":" + std::to_string(port);
}

std::string target::join(std::string_view request_target) const {
    if (base_path.empty() || !request_target.starts_with('/')) return std::string(request_target);
    // "http://h/v1" is what users of the SDKs type; their request paths carry the version again.
    const std::string_view last = last_segment(base_path);
    if (is_version(last) && begins_with_segment(request_target, last)) request_target.remove_prefix(1 + last.size());
    std::string joined = base_path;
    joined.append(request_target);
    return joined;
}

std::optional<target> parse_url(std::string_view url, std::string& error) {
    const auto refused = [&](std::string_view why) {
        error.assign(why);
        return std::nullopt;
    };
    const auto parsed = boost::urls::parse_uri(boost::urls::string_view(url.data(), url.size()));
    if (!parsed) return refused("is not a URL like http://host:port");
    const boost::urls::url_view& u = *parsed;
    target out;
    if (u.scheme_id() == boost::urls::scheme::https) {
        out.tls = true;
        out.port = 443;
    } else if (u.scheme_id() != boost::urls::scheme::http) {
        return refused("must begin with http:// or https://");
    }
    if (u.has_userinfo()) return refused("must not hold a user name or password: use credentials");
    if (u.has_query()) return refused("must not have a query");
    if (u.has_fragment()) return refused("must not have a fragment");
    out.host = u.host_address();
    if (out.host.empty()) return refused("names no host");
    const auto not_printable = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '/' || c == '\x7f'; };
    if (std::any_of(out.host.begin(), out.host.end(), not_printable)) return refused("has a host that no name can be");
    if (u.has_port() && !u.port().empty()) {
        // Boost 1.81 wraps large numbers round.
        const std::string digits(u.port());
        const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
        if (ec != std::errc() || out.port == 0) return refused("has a port outside 1 to 65535");
    }
    out.base_path = std::string(u.encoded_path());
    if (!out.base_path.empty() && out.base_path[0] != '/') return refused("has a port that is not a number");
    while (out.base_path.ends_with('/')) out.base_path.pop_back();
    return out;
}

target beside_api(target to) {
    if (last_segment(to.base_path) == "v1") to.base_path.resize(to.base_path.rfind('/'));
    return to;
}

std::string server_of(const target& to) {
    return one_spelling(to.host) + ":" + std::to_string(to.port) + beside_api(to).base_path;
}

}  // namespace idem::upstream::client
