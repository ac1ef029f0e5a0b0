#include "gateway/app/open_store.hpp"

#include "cache/redis/redis_store.hpp"
#include "cache/store/embedded.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace {

void say(std::string_view line) {
    observe::log(observe::level::warning, "store", line);
}

std::unique_ptr<cache::store> open_redis(const config::cache& settings, cache::compression compress,
                                         std::string& error) {
    const config::redis& r = settings.redis;
    if (r.urls.empty()) {
        error = "cache.redis.urls is empty";
        return nullptr;
    }
    auto at = cache::redis::parse_address(r.urls.front(), error);
    if (!at) {
        error = "cache.redis.urls: " + error;
        return nullptr;
    }
    if (!r.user.empty()) at->user = r.user;
    if (!r.password.empty()) at->password = r.password;
    cache::redis_options options;
    options.at = std::move(*at);
    options.tls = r.tls;
    options.prefix = r.prefix;
    options.deadline = r.deadline;
    options.total = r.total;
    options.connections = r.connections;
    options.entry = static_cast<std::size_t>(settings.entry);
    options.compress = compress;
    options.ledger = settings.ledger;
    options.log = say;
    return cache::make_redis(std::move(options), error);
}

}  // namespace

std::unique_ptr<cache::store> open_second_tier(const config::cache& settings, std::string& error) {
    const cache::compression compress = settings.zstd ? cache::compression::zstd : cache::compression::none;
    if (settings.store == config::cache::tier::redis) return open_redis(settings, compress, error);
    cache::embedded_options options;
    options.path = settings.embedded_path;
    options.size = settings.embedded_size;
    options.entry_cap = static_cast<std::size_t>(settings.entry);
    options.compress = compress;
    options.ledger = settings.ledger;
    options.log = say;
    return cache::open_embedded(std::move(options), error);
}

}  // namespace idem::gateway::app
