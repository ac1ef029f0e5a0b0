#include "gateway/app/open_store.hpp"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "cache/redis/redis_store.hpp"
#include "cache/store/embedded.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace {

void say(std::string_view line) {
    observe::log(observe::level::warning, "store", line);
}

// Null without a file; an error text where it cannot be used.
std::shared_ptr<const cache::keyring> read_keys(const std::string& path, std::string& error) {
    if (path.empty()) return nullptr;
    std::ifstream file(path);
    if (!file) {
        error = "cache.encryption.key_file: cannot read " + path;
        return nullptr;
    }
    struct stat about{};
    if (stat(path.c_str(), &about) == 0 && (about.st_mode & (S_IRGRP | S_IROTH)) != 0)
        observe::log(observe::level::warning, "key_file_open", path + " can be read by others than its owner");
    std::string text(std::istreambuf_iterator<char>(file), {});
    auto read = cache::keyring::parse(text);
    OPENSSL_cleanse(text.data(), text.size());
    if (!read.fault.empty()) {
        error = "cache.encryption.key_file: " + path + ": " + read.fault;
        return nullptr;
    }
    return std::make_shared<const cache::keyring>(std::move(read.keys));
}

std::unique_ptr<cache::store> open_redis(const config::cache& settings, cache::compression compress,
                                         std::shared_ptr<const cache::keyring> keys, std::string& error) {
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
    options.keys = std::move(keys);
    options.compress = compress;
    options.ledger = settings.ledger;
    options.log = say;
    return cache::make_redis(std::move(options), error);
}

}  // namespace

std::unique_ptr<cache::store> open_second_tier(const config::cache& settings, std::string& error) {
    const cache::compression compress = settings.zstd ? cache::compression::zstd : cache::compression::none;
    std::shared_ptr<const cache::keyring> keys = read_keys(settings.key_file, error);
    if (!error.empty()) return nullptr;
    if (settings.store == config::cache::tier::redis) return open_redis(settings, compress, std::move(keys), error);
    cache::embedded_options options;
    options.path = settings.embedded_path;
    options.size = settings.embedded_size;
    options.reading = {static_cast<std::size_t>(settings.entry), std::move(keys)};
    options.compress = compress;
    options.ledger = settings.ledger;
    options.log = say;
    return cache::open_embedded(std::move(options), error);
}

}  // namespace idem::gateway::app
