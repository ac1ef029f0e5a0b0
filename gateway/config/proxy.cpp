#include "gateway/config/proxy.hpp"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "cache/policy/cidr.hpp"
#include "upstream/base/base64.hpp"
#include "upstream/http/fields.hpp"

namespace idem::gateway::config {
namespace {

using upstream::http::iequals;
using upstream::net::proxy_settings;

constexpr std::uint16_t usual_port = 3128;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// HOST or HOST:PORT, where a host may be an address in brackets.
struct place_name {
    std::string_view host, port;
};
place_name place_of(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t end = std::min(text.find(']'), text.size());
        const std::string_view rest = text.substr(std::min(end + 1, text.size()));
        return {text.substr(1, end - 1), rest.starts_with(':') ? rest.substr(1) : std::string_view{}};
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return {text, {}};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

bool below(std::string_view host, std::string_view name) {
    if (name.starts_with("*.")) name.remove_prefix(1);
    if (name.starts_with('.')) name.remove_prefix(1);
    if (name.empty() || host.size() < name.size()) return false;
    if (!iequals(host.substr(host.size() - name.size()), name)) return false;
    return host.size() == name.size() || host[host.size() - name.size() - 1] == '.';
}

bool names(std::string_view exception, const upstream::client::target& to) {
    if (exception == "*") return true;
    const auto address = cache::ip_address::parse(to.host);
    if (const auto block = cache::cidr::parse(exception)) return address && block->contains(*address);
    const auto [host, port] = place_of(exception);
    if (!port.empty() && port != std::to_string(to.port)) return false;
    if (const auto one = cache::ip_address::parse(host)) return address && *address == *one;
    return !address && below(to.host, host);
}

bool excepted(std::string_view list, const upstream::client::target& to) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view exception = trimmed(list.substr(0, comma));
        if (!exception.empty() && names(exception, to)) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

bool on_this_machine(const std::string& host) {
    if (below(host, "localhost")) return true;
    const auto address = cache::ip_address::parse(host);
    static const auto v4 = cache::cidr::parse("127.0.0.0/8");
    static const auto v6 = cache::cidr::parse("::1");
    return address && (v4->contains(*address) || v6->contains(*address));
}

}  // namespace

std::optional<proxy_settings> parse_proxy(std::string_view url, std::string& error) {
    const auto refused = [&](std::string_view why) {
        error.assign(why);
        return std::nullopt;
    };
    const auto parsed = boost::urls::parse_uri(boost::urls::string_view(url.data(), url.size()));
    if (!parsed) return refused("is not a URL like http://host:3128");
    const boost::urls::url_view& u = *parsed;
    if (u.scheme_id() != boost::urls::scheme::http) return refused("must begin with http://");
    if (u.has_query() || u.has_fragment() || u.encoded_path().size() > 1)
        return refused("must end with its host and port");
    // The rest is what a server's address has to be, too.
    std::string bare = "http://" + std::string(u.encoded_host());
    if (u.has_port()) bare += ":" + std::string(u.port());
    const auto at = upstream::client::parse_url(bare, error);
    if (!at) return std::nullopt;
    proxy_settings out{at->host, u.has_port() ? at->port : usual_port, {}};
    if (u.has_userinfo()) out.authorization = "Basic " + base64_of(u.user() + ":" + u.password());
    return out;
}

std::optional<proxy_settings> proxy_of_environment(const upstream::client::target& to,
                                                   const environment_lookup& environment, std::string& variable,
                                                   std::string& error) {
    const auto first_of = [&](std::initializer_list<const char*> list) {
        for (const char* name : list) {
            auto value = environment(name);
            if (!value || value->empty()) continue;
            variable = name;
            return *value;
        }
        return std::string();
    };
    const std::string exceptions = first_of({"no_proxy", "NO_PROXY"});
    const std::string url = to.tls ? first_of({"https_proxy", "HTTPS_PROXY"}) : first_of({"http_proxy", "HTTP_PROXY"});
    if (url.empty() || on_this_machine(to.host) || excepted(exceptions, to)) return proxy_settings{};
    return parse_proxy(url.find("://") == std::string::npos ? "http://" + url : url, error);
}

}  // namespace idem::gateway::config
