#include <xxhash.h>

#include <concepts>
#include <limits>

#include "cache/entry/compress.hpp"
#include "cache/entry/entry.hpp"
#include "cache/entry/layout.hpp"

namespace idem::cache {
namespace {

// Below this a frame's own head eats what it saves.
constexpr std::size_t compress_from = 512;
// Hash-table slot, list links, allocator heads and the ghost record of the memory tier.
constexpr std::size_t bookkeeping = 192;

template <std::integral Integer>
void put(std::string& out, Integer value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
        out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff));
}

template <std::integral Integer>
void put_at(std::string& out, std::size_t at, Integer value) noexcept {
    for (std::size_t i = 0; i < sizeof value; ++i)
        out[at + i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
}

void put_text(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint32_t>(text.size()));
    out.append(text);
}

std::size_t head_size(const entry& e) noexcept {
    std::size_t size = 256 + e.dialect.size() + e.model.size() + e.upstream.size() + e.replica.size() + e.route.size() +
                       e.scope_tag.size() + e.content_type.size() + e.origin_request_id.size();
    for (const auto& tag : e.tags) size += 4 + tag.size();
    for (const auto& [name, value] : e.headers) size += 8 + name.size() + value.size();
    return size;
}

void put_fixed(std::string& out, const entry& e) {
    out.append(layout::magic);
    put(out, entry_format);
    put(out, std::uint16_t{0});
    out.append(view(e.key.value)).append(view(e.fill)).append(view(e.ban));
    put(out, e.created);
    put(out, e.fresh_until);
    put(out, e.keep_until);
    out.append(layout::fixed_size - out.size(), '\0');
}

void put_head(std::string& out, const entry& e) {
    using namespace layout;
    out.append(view(e.request));
    put(out, e.canonical_size);
    out.append(view(e.epoch)).append(view(e.environment)).append(view(e.output));
    put(out, static_cast<std::uint8_t>(e.form));
    put(out, static_cast<std::uint8_t>((e.length_limited ? mark_length_limited : 0) | (e.tokens ? mark_tokens : 0) |
                                       (e.usage_event ? mark_usage_event : 0)));
    put(out, e.upstream_ms);
    const auto tokens = e.tokens.value_or(upstream::dialect::usage{});
    put(out, tokens.input);
    put(out, tokens.output);
    const auto event = e.usage_event.value_or(upstream::dialect::byte_range{});
    put(out, event.offset);
    put(out, event.size);
    for (const auto* text :
         {&e.dialect, &e.model, &e.upstream, &e.replica, &e.route, &e.scope_tag, &e.content_type, &e.origin_request_id})
        put_text(out, *text);
    put(out, static_cast<std::uint32_t>(e.tags.size()));
    for (const auto& tag : e.tags) put_text(out, tag);
    put(out, static_cast<std::uint32_t>(e.headers.size()));
    for (const auto& [name, value] : e.headers) {
        put_text(out, name);
        put_text(out, value);
    }
    put(out, static_cast<std::uint8_t>(e.promise.what));
    put(out, static_cast<std::uint8_t>(e.promise.how));
    put(out, e.promise.runs);
}

}  // namespace

std::size_t charge(const entry& e) noexcept {
    return sizeof(entry) + bookkeeping + head_size(e) + e.tags.size() * sizeof(std::string) +
           e.headers.size() * 2 * sizeof(std::string) + e.body.size();
}

std::string encode(const entry& e, compression c) {
    const std::size_t head = head_size(e);
    if (head > layout::head_cap) return {};
    std::string out;
    out.reserve(layout::fixed_size + head + e.body.size() + layout::checksum_size);
    put_fixed(out, e);
    put_head(out, e);
    put_at(out, layout::at_head_size, static_cast<std::uint32_t>(out.size() - layout::fixed_size));
    const std::size_t body_at = out.size();
    const bool compressed = c == compression::zstd && e.body.size() >= compress_from && append_compressed(out, e.body);
    if (!compressed) out.append(e.body);
    put_at(out, layout::at_flags, compressed ? layout::flag_zstd : std::uint16_t{0});
    put_at(out, layout::at_stored_size, static_cast<std::uint64_t>(out.size() - body_at));
    put_at(out, layout::at_body_size, static_cast<std::uint64_t>(e.body.size()));
    put(out, static_cast<std::uint64_t>(XXH3_64bits(out.data(), out.size())));
    return out;
}

}  // namespace idem::cache
