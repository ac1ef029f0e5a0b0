#pragma once
// Which proxy leads to a server: the configured one, or what the environment says, as curl and most clients read it.
// Pure but for the look-up of variables.
#include <optional>
#include <string>
#include <string_view>

#include "gateway/config/expand.hpp"
#include "upstream/client/target.hpp"

namespace idem::gateway::config {

/// http://[USER:PASSWORD@]HOST[:PORT], port 3128 where none is given. On failure nullopt, and why in `error`, without
/// the credential.
[[nodiscard]] std::optional<upstream::net::proxy_settings> parse_proxy(std::string_view url, std::string& error);

/// From https_proxy or HTTPS_PROXY for https:// servers, http_proxy or HTTP_PROXY for others, unless no_proxy or
/// NO_PROXY excepts the server: names with all below them, addresses, address blocks, each with or without a port, or
/// `*`. A server on this machine is always excepted. `variable` is the one that counted. nullopt with `error` if its
/// value is no proxy; without a host if there is none.
[[nodiscard]] std::optional<upstream::net::proxy_settings> proxy_of_environment(const upstream::client::target& to,
                                                                                const environment_lookup& environment,
                                                                                std::string& variable,
                                                                                std::string& error);

}  // namespace idem::gateway::config
