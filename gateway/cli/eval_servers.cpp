#include "gateway/cli/eval_servers.hpp"

#include <algorithm>
#include <cstdlib>

#include "gateway/config/credential.hpp"
#include "gateway/config/sources.hpp"

namespace idem::gateway::cli {

namespace {

using upstream::client::target;

std::string find(const std::string& flag, const std::string& url, target& into) {
    std::string error;
    auto found = upstream::client::parse_url(url, error);
    if (!found) return flag + ": " + error;
    into = std::move(*found);
    return {};
}

std::string of_flags(const eval_action& a, eval::manifest& m, eval::run_settings& settings) {
    m.target = a.target;
    if (std::string error = find("--target", a.target, settings.to); !error.empty()) return error;
    if (a.replicas.empty()) return {};
    m.replicas.push_back({a.target, a.target, {}});
    settings.replicas.push_back(settings.to);
    for (const std::string& url : a.replicas) {
        if (std::ranges::find(m.replicas, url, &eval::server::url) != m.replicas.end())
            return "--replica: " + url + " is named twice";
        m.replicas.push_back({url, url, {}});
        if (std::string error = find("--replica", url, settings.replicas.emplace_back()); !error.empty()) return error;
    }
    return {};
}

std::string of_upstream(const eval_action& a, eval::manifest& m, eval::run_settings& settings) {
    config::sources from;
    if (!a.config.empty()) from.file = a.config;
    const config::outcome_of_load got = config::load_from(from);
    if (!got.result.errors.empty()) return got.result.errors.front().text();
    const auto& known = got.result.value.upstreams;
    const auto at = std::ranges::find(known, a.upstream, &config::upstream_pool::name);
    if (at == known.end()) return "--upstream: the configuration has no upstream \"" + a.upstream + "\"";
    m.engine = at->engine;
    m.target = at->replicas.front().url;
    settings.to = at->replicas.front().at;
    settings.timeouts = {at->connect, at->first_byte, at->between_bytes, at->total};
    for (const config::replica& r : at->replicas) {
        if (at->replicas.size() < 2) break;
        m.replicas.push_back({r.id, r.url, {}});
        settings.replicas.push_back(r.at);
    }
    if (!at->own_credential()) return {};
    upstream::client::credential own(config::credential_of(*at));
    own.add_to(settings.credential, upstream::net::clock::now());
    return {};
}

}  // namespace

std::string find_servers(const eval_action& a, eval::manifest& m, eval::run_settings& settings) {
    m.replicas.clear();
    m.upstream = a.upstream;
    m.gateway = a.gateway;
    std::string error = a.upstream.empty() ? of_flags(a, m, settings) : of_upstream(a, m, settings);
    if (error.empty() && !a.gateway.empty()) error = find("--gateway", a.gateway, settings.gateway.emplace());
    if (!error.empty() || a.bearer_env.empty()) return error;
    const char* token = std::getenv(a.bearer_env.c_str());
    if (!token) return "--bearer-env: the environment has no " + a.bearer_env;
    settings.credential = {};
    if (a.key_header.empty())
        settings.credential.add("Authorization", std::string("Bearer ") + token);
    else
        settings.credential.add(a.key_header, token);
    return {};
}

}  // namespace idem::gateway::cli
