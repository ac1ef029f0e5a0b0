// Who sends a request: its scope, its credential, and whose limits it counts against.
#include "cache/request/headers.hpp"
#include "gateway/pipeline/prepare.hpp"

namespace idem::gateway::pipeline {

namespace {

cache::ip_address address_of(const http::peer& client) noexcept {
    if (client.address.is_v4()) return cache::ip_address::from_v4(client.address.to_v4().to_bytes());
    return cache::ip_address::from_v6(client.address.to_v6().to_bytes());
}

}  // namespace

cache::caller preparer::caller_in(const http::request_head& head, const http::peer& client, std::string_view query,
                                  std::string_view tenant) const {
    std::string_view name;
    if (common_.clients) name = common_.clients->authenticate(head.headers, query).value_or("");
    return {head.headers, query, client.certificate, name, address_of(client), tenant};
}

cache::scope preparer::scope_of(const http::request_head& head, const http::peer& client, std::string_view query,
                                std::string_view tenant) const {
    return cache::scope_of(common_.scope, caller_in(head, client, query, tenant));
}

digest preparer::credential_of(const http::request_head& head, const http::peer& client) const {
    return scope_of(head, client, cache::split_target(head.target).query).credential;
}

digest preparer::caller_of(const http::request_head& head, const http::peer& client) const {
    return cache::caller_id(common_.scope, caller_in(head, client, cache::split_target(head.target).query, {}));
}

}  // namespace idem::gateway::pipeline
