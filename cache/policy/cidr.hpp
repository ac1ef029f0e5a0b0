#pragma once
// Address blocks (RFC 4632, RFC 4291 section 2.3): who is trusted to name a scope. Pure; any thread.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace idem::cache {

/// An IP address; IPv4 as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2), so that a dual-stack listener's view of an IPv4
/// peer is the same address.
struct ip_address {
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] static ip_address from_v4(const std::array<std::uint8_t, 4>& v4) noexcept;
    [[nodiscard]] static ip_address from_v6(const std::array<std::uint8_t, 16>& v6) noexcept { return {v6}; }
    /// Dotted or colon text without zone; nullopt otherwise.
    [[nodiscard]] static std::optional<ip_address> parse(std::string_view text) noexcept;
    [[nodiscard]] bool v4() const noexcept;
    bool operator==(const ip_address&) const = default;
};

class cidr {
public:
    /// "10.0.0.0/8", "fd00::/8", or one address. Bits beyond the prefix are cleared. nullopt if it does not parse.
    [[nodiscard]] static std::optional<cidr> parse(std::string_view text) noexcept;
    /// An IPv4 address lies in IPv4 blocks only, and the reverse.
    [[nodiscard]] bool contains(const ip_address& address) const noexcept;

private:
    ip_address network_;
    unsigned prefix_ = 0;  // of 128 bits
    bool v4_ = false;
};

}  // namespace idem::cache
