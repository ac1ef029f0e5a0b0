#pragma once
// SHA-256 values and their text form. Identity in Idem is SHA-256 only (FIPS 180-4); XXH3 is used where a collision
// costs nothing. Any thread; no allocation except in to_hex.
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace idem {

/// 32 bytes of SHA-256.
struct digest {
    std::array<std::uint8_t, 32> bytes{};
    auto operator<=>(const digest&) const = default;
};

/// 16 random bytes: epoch ids, fill ids, lineage.
struct id128 {
    std::array<std::uint8_t, 16> bytes{};
    auto operator<=>(const id128&) const = default;
};

/// Streaming SHA-256 over tagged, length-prefixed parts. `part(tag, data)` appends one tag byte, the length as eight
/// big-endian bytes and the data, so that no two part lists share an encoding.
class hasher {
public:
    hasher();
    ~hasher();
    hasher(const hasher&) = delete;
    hasher& operator=(const hasher&) = delete;
    void update(std::string_view data) noexcept;
    void part(char tag, std::string_view data) noexcept;
    /// What finish() would give after part(tag, data). This computation goes on as if nothing had been asked.
    [[nodiscard]] digest with_part(char tag, std::string_view data) noexcept;
    /// Ends the computation; the object is ready for the next one.
    [[nodiscard]] digest finish() noexcept;

private:
    void flush() noexcept;

    void* context_;
    std::array<char, 512> pending_;  // small pieces go to OpenSSL together: a call costs more than hashing a few bytes
    std::size_t pending_size_ = 0;
};

[[nodiscard]] digest sha256(std::string_view data) noexcept;
/// HMAC-SHA-256 (RFC 2104).
[[nodiscard]] digest hmac_sha256(std::string_view secret, std::string_view data) noexcept;

/// Lower-case hexadecimal.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
void to_hex(std::span<const std::uint8_t> bytes, char* out) noexcept;
[[nodiscard]] std::optional<digest> digest_from_hex(std::string_view hex) noexcept;
[[nodiscard]] std::optional<id128> id128_from_hex(std::string_view hex) noexcept;

/// From the operating system's generator. A shell calls it; cores take ids as arguments.
[[nodiscard]] id128 random_id();

[[nodiscard]] inline std::string_view view(const digest& d) noexcept {
    return {reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()};
}
[[nodiscard]] inline std::string_view view(const id128& d) noexcept {
    return {reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()};
}

}  // namespace idem
