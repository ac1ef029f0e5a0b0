#include "cache/request/key.hpp"

#include <algorithm>
#include <cstring>

namespace idem::cache {
namespace {

// Tags of the parts; part of the key specification in cache/README.md.
void number_part(hasher& h, char tag, std::uint64_t n) {
    char big_endian[8];
    for (int i = 0; i < 8; ++i) big_endian[i] = static_cast<char>(n >> (56 - 8 * i));
    h.part(tag, {big_endian, sizeof big_endian});
}

void take_request(hasher& h, const request_parts& parts) noexcept {
    h.part('v', key_version);
    h.part('d', parts.dialect);
    h.part('m', parts.method);
    h.part('p', parts.path);
    h.part('q', parts.query);
    for (const auto& [name, value] : parts.headers) {
        h.part('h', name);
        h.part('=', value);
    }
    number_part(h, 's', parts.sample);
    h.part('t', view(parts.treatment));
    h.part('b', parts.body);
}

}  // namespace

digest request_digest(const request_parts& parts) noexcept {
    thread_local hasher h;
    take_request(h, parts);
    return h.finish();
}

std::uint32_t derived_seed(const digest& request) noexcept {
    std::uint32_t seed = 0;
    for (std::size_t i = 0; i < 4; ++i) seed = seed << 8 | request.bytes[i];
    return std::max(seed & 0x7fffffffU, 1U);
}

std::vector<digest> item_digests(const request_parts& parts, std::span<const std::string_view> items) {
    std::vector<digest> out;
    out.reserve(items.size());
    thread_local hasher h;
    take_request(h, parts);
    for (const std::string_view item : items) out.push_back(h.with_part('I', item));
    static_cast<void>(h.finish());
    return out;
}

cache_key make_key(const key_parts& parts) noexcept {
    thread_local hasher h;
    h.part('v', key_version);
    h.part('r', view(parts.request));
    h.part('o', view(parts.scope));
    h.part('n', parts.name_space);
    h.part('u', parts.upstream);
    h.part('e', view(parts.epoch));
    const digest plain = h.finish();
    return {parts.secret.empty() ? plain : hmac_sha256(parts.secret, view(plain))};
}

cache_key key_beside(const cache_key& first, upstream::dialect::form form) noexcept {
    thread_local hasher h;
    h.part('v', key_version);
    h.part('k', view(first.value));
    const bool base64 = form == upstream::dialect::form::json_base64;
    h.part('f', base64 ? "application/json;base64" : upstream::dialect::content_type(form));
    return {h.finish()};
}

digest idempotency_name(std::string_view key, const digest& scope, std::string_view route) noexcept {
    thread_local hasher h;
    h.part('v', key_version);
    h.part('i', key);
    h.part('o', view(scope));
    h.part('R', route);
    return h.finish();
}

digest treatment_digest(std::span<const std::string_view> statements) noexcept {
    thread_local hasher h;
    h.part('v', key_version);
    for (std::string_view statement : statements) h.part('t', statement);
    return h.finish();
}

}  // namespace idem::cache
