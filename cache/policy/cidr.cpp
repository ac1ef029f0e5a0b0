#include "cache/policy/cidr.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace idem::cache {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::array<std::uint8_t, 16> masked(std::array<std::uint8_t, 16> bytes, unsigned prefix) noexcept {
    for (unsigned i = 0; i < 16; ++i) {
        const unsigned kept = std::min(8u, prefix > 8 * i ? prefix - 8 * i : 0u);
        bytes[i] = static_cast<std::uint8_t>(bytes[i] & (0xff00u >> kept));
    }
    return bytes;
}

}  // namespace

ip_address ip_address::from_v4(const std::array<std::uint8_t, 4>& v4) noexcept {
    ip_address a;
    std::copy(mapped_prefix.begin(), mapped_prefix.end(), a.bytes.begin());
    std::copy(v4.begin(), v4.end(), a.bytes.begin() + 12);
    return a;
}

std::optional<ip_address> ip_address::parse(std::string_view text) noexcept {
    char terminated[64];
    if (text.size() >= sizeof terminated || text.find('\0') != std::string_view::npos) return std::nullopt;
    std::memcpy(terminated, text.data(), text.size());
    terminated[text.size()] = 0;
    std::array<std::uint8_t, 4> v4;
    if (inet_pton(AF_INET, terminated, v4.data()) == 1) return from_v4(v4);
    ip_address a;
    if (inet_pton(AF_INET6, terminated, a.bytes.data()) == 1) return a;
    return std::nullopt;
}

bool ip_address::v4() const noexcept {
    return std::equal(mapped_prefix.begin(), mapped_prefix.end(), bytes.begin());
}

std::optional<cidr> cidr::parse(std::string_view text) noexcept {
    const std::size_t slash = text.find('/');
    const auto address = ip_address::parse(text.substr(0, slash));
    if (!address) return std::nullopt;
    const bool dotted = text.substr(0, slash).find(':') == std::string_view::npos;
    const unsigned most = dotted ? 32 : 128;
    unsigned prefix = most;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
        if (digits.empty() || read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || prefix > most) {
            return std::nullopt;
        }
    }
    cidr c;
    c.prefix_ = dotted ? prefix + 96 : prefix;
    c.network_.bytes = masked(address->bytes, c.prefix_);
    c.v4_ = address->v4() && c.prefix_ >= 96;
    return c;
}

bool cidr::contains(const ip_address& address) const noexcept {
    return address.v4() == v4_ && masked(address.bytes, prefix_) == network_.bytes;
}

}  // namespace idem::cache
