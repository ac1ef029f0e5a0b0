#pragma once
// The commands that Idem sends, formatted by hiredis. None blocks, none flushes; scan alone enumerates names, for an
// administrator. No I/O.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cache/redis/reply.hpp"

namespace idem::cache::redis {

/// The reply types that can answer a command; any other type means that replies no longer match commands. An error
/// reply is always possible.
struct answer_set {
    unsigned bits = 1u << static_cast<unsigned>(reply_type::error);
    [[nodiscard]] bool has(reply_type t) const noexcept { return (bits >> static_cast<unsigned>(t) & 1u) != 0; }
    void add(reply_type t) noexcept { bits |= 1u << static_cast<unsigned>(t); }
};

/// A formatted command. Move-only.
class command {
public:
    [[nodiscard]] std::string_view wire() const noexcept { return {bytes_.get(), size_}; }
    [[nodiscard]] answer_set answers() const noexcept { return answers_; }

    /// `user` empty: the default user, as before Redis 6.
    [[nodiscard]] static command auth(std::string_view user, std::string_view password);
    [[nodiscard]] static command client_setname(std::string_view name);
    [[nodiscard]] static command select(std::uint32_t database);
    [[nodiscard]] static command ping(std::string_view nonce);
    [[nodiscard]] static command get(std::string_view key);
    /// Create if absent; answers nil if it was created, else the value that is there (Redis 7). `ttl_ms` 0: no expiry.
    [[nodiscard]] static command set_nx_get(std::string_view key, std::string_view value, std::int64_t ttl_ms);
    /// At most most_keys; answers an array.
    [[nodiscard]] static command mget(std::span<const std::string> keys);
    static constexpr std::size_t most_keys = 64;
    /// One step through the names that fit a pattern. Not for the way of a request.
    [[nodiscard]] static command scan(std::string_view cursor, std::string_view pattern, std::string_view about);
    [[nodiscard]] static command unlink(std::string_view key);
    [[nodiscard]] static command evalsha(std::string_view sha1, std::string_view key,
                                         std::span<const std::string_view> arguments);
    [[nodiscard]] static command eval(std::string_view source, std::string_view key,
                                      std::span<const std::string_view> arguments);

private:
    struct freer {
        void operator()(char* p) const noexcept;
    };
    command(std::span<const std::string_view> words, std::initializer_list<reply_type> answers);

    std::unique_ptr<char, freer> bytes_;
    std::size_t size_ = 0;
    answer_set answers_;
};

}  // namespace idem::cache::redis
