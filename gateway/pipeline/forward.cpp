#include "gateway/pipeline/forward.hpp"

#include "cache/policy/controls.hpp"
#include "cache/request/headers.hpp"

namespace idem::gateway::pipeline {

using upstream::http::iequals;

namespace {

bool is_credential(std::string_view name) noexcept {
    return iequals(name, "authorization") || iequals(name, "x-api-key") || iequals(name, "api-key") ||
           iequals(name, "x-goog-api-key");
}

}  // namespace

upstream::client::outgoing outgoing_of(const upstream::http::request_head& head, upstream::client::credential& own,
                                       std::string_view via, bool cacheable) {
    upstream::client::outgoing out;
    out.method = head.method;
    const std::string_view connection = head.headers.find("connection").value_or("");
    for (const auto [name, value] : head.headers) {
        if (upstream::http::hop_by_hop(name, connection)) continue;
        if (iequals(name, "host") || iequals(name, "content-length") || iequals(name, "expect")) continue;
        if (cacheable && iequals(name, "accept-encoding")) continue;
        if (own.own() && (is_credential(name) || iequals(name, own.header()))) continue;
        if (cache::control_field(name)) continue;
        out.headers.add(name, value);
    }
    own.add_to(out.headers, upstream::net::clock::now());
    if (cacheable) out.headers.add("Accept-Encoding", "identity");
    out.headers.add("Via", via);
    return out;
}

std::string target_of(std::string_view target, const upstream::client::credential& own) {
    return own.own() ? cache::without_credentials(target) : std::string(target);
}

void forget_body(upstream::http::fields& headers) noexcept {
    for (const std::string_view name : {"content-encoding", "content-digest", "repr-digest", "digest", "content-md5"})
        headers.remove(name);
}

bool loops(const upstream::http::fields& headers, std::string_view via) noexcept {
    const std::string_view pseudonym = via.substr(via.find(' ') + 1);
    for (const auto [name, value] : headers) {
        if (iequals(name, "via") && value.find(pseudonym) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace idem::gateway::pipeline
