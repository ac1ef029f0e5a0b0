#pragma once
// The two-step key. Step one, the request digest, says what was asked and is the same on every machine; step two, the
// key, adds whose answer it is and which epoch of the upstream gave it. Pure functions; any thread. Changing anything
// here is a new key_version: tests/golden/keys.json must show it.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upstream/base/digest.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::cache {

inline constexpr std::string_view key_version = "idem1";

/// Names an entry. A type of its own, so that no request digest is ever taken for it.
struct cache_key {
    digest value;
    auto operator<=>(const cache_key&) const = default;
};

/// Everything of a request that enters its digest.
struct request_parts {
    std::string_view dialect;
    std::string_view method;
    std::string_view path;                                     // as the dialect normalises it
    std::string_view query;                                    // sorted pairs without credentials; empty where none
    std::vector<std::pair<std::string, std::string>> headers;  // lower-case name, normalised value; sorted by name
    std::uint32_t sample = 0;                                  // Idem-Sample
    digest treatment;                                          // what the policy does to the request
    std::string_view body;                                     // canonical form
};
[[nodiscard]] digest request_digest(const request_parts& parts) noexcept;
/// The seed that a request gets which has to be sampled alike each time: the first four bytes of its digest as a
/// number, big-endian, without the top bit; 1 instead of 0. From 1 to 2^31-1, so that every engine takes it.
[[nodiscard]] std::uint32_t derived_seed(const digest& request) noexcept;
/// The digest of each of the things that one call asks for: `parts.body` is the canonical form of what they share,
/// `items` that of each. What such a digest names is never taken for a whole call's.
[[nodiscard]] std::vector<digest> item_digests(const request_parts& parts, std::span<const std::string_view> items);

/// Whose answer, and of which upstream and epoch. `secret` empty: plain SHA-256, else HMAC-SHA-256.
struct key_parts {
    digest request;
    digest scope;
    std::string_view name_space;  // Idem-Namespace
    std::string_view upstream;
    id128 epoch;
    std::string_view secret;
};
[[nodiscard]] cache_key make_key(const key_parts& parts) noexcept;

/// Where an answer lies whose form cannot be made of the one under `first` without loss: beside it, under a key of its
/// own.
[[nodiscard]] cache_key key_beside(const cache_key& first, upstream::dialect::form form) noexcept;

/// What a client's Idempotency-Key is known by: it means nothing beyond its scope and route.
[[nodiscard]] digest idempotency_name(std::string_view key, const digest& scope, std::string_view route) noexcept;

/// Digest of all that a policy does to a request; each statement is a short text such as "usage:inject".
[[nodiscard]] digest treatment_digest(std::span<const std::string_view> statements) noexcept;

}  // namespace idem::cache

template <>
struct std::hash<idem::cache::cache_key> {
    std::size_t operator()(const idem::cache::cache_key& k) const noexcept {
        std::size_t h;
        __builtin_memcpy(&h, k.value.bytes.data(), sizeof h);  // already uniform
        return h;
    }
};
