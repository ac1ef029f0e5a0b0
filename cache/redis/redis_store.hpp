#pragma once
// The shared second tier on one standalone Redis. Names, commands, ACL and behaviour while Redis is away:
// cache/README.md, "Redis".
//
// One object for all I/O threads; each thread gets connections of its own, made at its first call. close() is called
// from a thread that runs no io_context of those (the main thread), while they still run: it ends the connections on
// their own threads and returns when their coroutines have ended. Every io_context on which the store was used must
// live until then. Calls after close() answer `failed`.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "cache/entry/sealed.hpp"
#include "cache/redis/address.hpp"
#include "cache/store/store.hpp"
#include "upstream/net/tls_settings.hpp"

namespace idem::cache {

struct redis_options {
    redis::address at;
    upstream::net::tls_settings tls;           // with rediss://
    std::string prefix = "idem:";              // of every name; without braces, which mark the part that is hashed
    std::chrono::milliseconds deadline{50};    // without progress
    std::chrono::milliseconds total{500};      // of one call
    std::uint32_t connections = 2;             // a thread
    std::size_t entry = std::size_t{4} << 20;  // largest body; all gateways on one Redis should have the same
    std::shared_ptr<const keyring> keys;       // of entries at rest; null: they are not encrypted
    compression compress = compression::zstd;
    std::chrono::milliseconds ledger{0};             // lifetime of its records; 0: there is none
    std::function<void(std::string_view line)> log;  // called from I/O threads, rate-limited; may be empty
};

/// Null with a sentence in `error` if the options cannot work (prefix, certificate files). Does not connect.
[[nodiscard]] std::unique_ptr<store> make_redis(redis_options options, std::string& error);

}  // namespace idem::cache
