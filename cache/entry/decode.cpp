#include <xxhash.h>

#include <concepts>
#include <cstring>

#include "cache/entry/compress.hpp"
#include "cache/entry/entry.hpp"
#include "cache/entry/layout.hpp"

namespace idem::cache {
namespace {

template <std::integral Integer>
Integer get(std::string_view bytes, std::size_t at) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return static_cast<Integer>(value);
}

// Takes values off the front of the variable head. Once something is missing every further take yields zero or empty
// and good() stays false, so that the caller asks once, at the end.
class cursor {
public:
    explicit cursor(std::string_view bytes) noexcept : rest_(bytes) {}
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] bool at_end() const noexcept { return good_ && rest_.empty(); }

    template <std::integral Integer>
    [[nodiscard]] Integer take() noexcept {
        const std::string_view bytes = take_bytes(sizeof(Integer));
        return bytes.empty() ? Integer{0} : get<Integer>(bytes, 0);
    }
    template <class Id>
    void take_into(Id& id) noexcept {
        const std::string_view bytes = take_bytes(id.bytes.size());
        if (!bytes.empty()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
    }
    [[nodiscard]] std::string_view take_text() noexcept { return take_bytes(take<std::uint32_t>()); }
    /// A count of items of at least `item` bytes each: one that cannot be true is refused before anything is allocated.
    [[nodiscard]] std::uint32_t take_count(std::size_t item) noexcept {
        const auto count = take<std::uint32_t>();
        if (count > rest_.size() / item) good_ = false;
        return good_ ? count : 0;
    }

private:
    [[nodiscard]] std::string_view take_bytes(std::size_t size) noexcept {
        if (!good_ || size > rest_.size()) {
            good_ = false;
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool good_ = true;
};

// Not in format 1.
bool take_promise(cursor& in, upstream::determinism::guarantee& promise) {
    using upstream::determinism::isolation;
    using upstream::determinism::level;
    const auto what = in.take<std::uint8_t>(), how = in.take<std::uint8_t>();
    if (what > static_cast<std::uint8_t>(level::sibling_class)) return false;
    if (how > static_cast<std::uint8_t>(isolation::batch_invariant)) return false;
    promise = {static_cast<level>(what), static_cast<isolation>(how), in.take<std::uint32_t>()};
    return true;
}

bool take_head(cursor in, entry& e, std::uint16_t format, std::uint64_t body_size) {
    using namespace layout;
    in.take_into(e.request);
    e.canonical_size = in.take<std::uint64_t>();
    in.take_into(e.epoch);
    in.take_into(e.environment);
    in.take_into(e.output);
    const auto form = in.take<std::uint8_t>();
    if (form > static_cast<std::uint8_t>(upstream::dialect::form::json_base64)) return false;
    e.form = static_cast<upstream::dialect::form>(form);
    const auto marks = in.take<std::uint8_t>();
    if ((marks & ~(mark_length_limited | mark_tokens | mark_usage_event)) != 0) return false;
    e.length_limited = (marks & mark_length_limited) != 0;
    e.upstream_ms = in.take<std::uint32_t>();
    upstream::dialect::usage tokens;
    tokens.input = in.take<std::uint64_t>();
    tokens.output = in.take<std::uint64_t>();
    if ((marks & mark_tokens) != 0) e.tokens = tokens;
    upstream::dialect::byte_range event;
    event.offset = in.take<std::uint64_t>();
    event.size = in.take<std::uint64_t>();
    if ((marks & mark_usage_event) != 0) {
        if (event.offset > body_size || event.size > body_size - event.offset) return false;
        e.usage_event = event;
    }
    for (auto* text :
         {&e.dialect, &e.model, &e.upstream, &e.replica, &e.route, &e.scope_tag, &e.content_type, &e.origin_request_id})
        *text = in.take_text();
    const std::uint32_t tags = in.take_count(4);
    e.tags.reserve(tags);
    for (std::uint32_t i = 0; i < tags && in.good(); ++i) e.tags.emplace_back(in.take_text());
    const std::uint32_t headers = in.take_count(8);
    e.headers.reserve(headers);
    for (std::uint32_t i = 0; i < headers && in.good(); ++i) {
        const std::string_view name = in.take_text();
        e.headers.emplace_back(name, in.take_text());
    }
    if (format > 1 && !take_promise(in, e.promise)) return false;
    return in.at_end();
}

}  // namespace

std::optional<entry_head> decode_head(std::string_view blob) noexcept {
    using namespace layout;
    if (blob.size() < stable_size || !blob.starts_with(magic)) return std::nullopt;
    entry_head head;
    head.format = get<std::uint16_t>(blob, at_format);
    if (head.format == 0) return std::nullopt;
    std::memcpy(head.key.value.bytes.data(), blob.data() + at_key, head.key.value.bytes.size());
    std::memcpy(head.fill.bytes.data(), blob.data() + at_fill, head.fill.bytes.size());
    std::memcpy(head.ban.bytes.data(), blob.data() + at_ban, head.ban.bytes.size());
    head.created = get<unix_ms>(blob, at_created);
    head.fresh_until = get<unix_ms>(blob, at_fresh_until);
    head.keep_until = get<unix_ms>(blob, at_keep_until);
    return head;
}

decoded decode(std::string_view blob, const cache_key& expected, std::size_t body_cap) {
    using namespace layout;
    const decoded corrupt{nullptr, reason::entry_corrupt};
    const decoded unreadable{nullptr, reason::entry_unreadable};
    const auto head = decode_head(blob);
    if (!head || head->key != expected) return corrupt;
    if (head->format > entry_format) return unreadable;
    if (blob.size() < fixed_size + checksum_size) return corrupt;

    const std::string_view covered = blob.substr(0, blob.size() - checksum_size);
    if (XXH3_64bits(covered.data(), covered.size()) != get<std::uint64_t>(blob, covered.size())) return corrupt;
    const auto flags = get<std::uint16_t>(blob, at_flags);
    if ((flags & ~flag_zstd) != 0) return unreadable;

    // Each length is compared with what is there before it is used, so no sum can wrap.
    const std::string_view rest = covered.substr(fixed_size);
    const std::size_t head_size = get<std::uint32_t>(blob, at_head_size);
    const auto body_size = get<std::uint64_t>(blob, at_body_size);
    if (get<std::uint32_t>(blob, at_zero) != 0 || head_size > head_cap || head_size > rest.size()) return corrupt;
    const std::string_view stored = rest.substr(head_size);
    if (get<std::uint64_t>(blob, at_stored_size) != stored.size()) return corrupt;
    // Whole, but more than this gateway is set to hold: not ours to judge.
    if (body_size > body_cap) return unreadable;

    auto e = std::make_shared<entry>();
    e->key = head->key;
    e->fill = head->fill;
    e->ban = head->ban;
    e->created = head->created;
    e->fresh_until = head->fresh_until;
    e->keep_until = head->keep_until;
    if (!take_head(cursor(rest.substr(0, head_size)), *e, head->format, body_size)) return corrupt;
    if ((flags & flag_zstd) != 0) {
        if (!decompress(e->body, stored, static_cast<std::size_t>(body_size))) return corrupt;
    } else {
        if (body_size != stored.size()) return corrupt;
        e->body = stored;
    }
    return {std::move(e), reason::none};
}

}  // namespace idem::cache
