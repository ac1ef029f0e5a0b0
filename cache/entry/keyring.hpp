#pragma once
// The keys that entries at rest are encrypted with. A file has one a line, `id hex`: a short name and 32 bytes in
// hexadecimal; `#` begins a comment. The first one encrypts, all decrypt, so that a key is replaced in three steps on
// all gateways: the new one behind the old one, in front of it, alone.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idem::cache {

class keyring {
public:
    static constexpr std::size_t longest_id = 16;

    struct loaded;
    [[nodiscard]] static loaded parse(std::string_view text);

    keyring() = default;
    ~keyring();
    keyring(keyring&&) noexcept = default;
    keyring& operator=(keyring&&) noexcept = default;
    keyring(const keyring&) = delete;
    keyring& operator=(const keyring&) = delete;

    struct key {
        std::string id;
        std::array<std::uint8_t, 32> bytes{};
    };
    /// REQUIRES at least one.
    [[nodiscard]] const key& first() const noexcept { return keys_.front(); }
    /// Null: there is none of this id.
    [[nodiscard]] const key* find(std::string_view id) const noexcept;

private:
    std::vector<key> keys_;
};

struct keyring::loaded {
    keyring keys;
    std::string fault;  // "line 3: …"; empty if all is well. Never shows a key
};

}  // namespace idem::cache
