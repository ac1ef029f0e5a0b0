#include <array>

#include "gateway/observe/shard.hpp"

namespace idem::gateway::observe::detail {

namespace {

// Codes that mean something of their own on these APIs; an upstream that makes codes up cannot make labels up.
constexpr std::array<std::uint16_t, 33> known{101, 200, 201, 202, 204, 206, 301, 302, 304, 307, 400,
                                              401, 402, 403, 404, 405, 408, 409, 411, 413, 414, 415,
                                              417, 422, 429, 431, 499, 500, 501, 502, 503, 504, 529};
constexpr std::array<std::string_view, 6> classes{"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

constexpr auto numbers = [] {
    std::array<std::uint8_t, 600> out{};
    for (std::size_t s = 100; s < out.size(); ++s) out[s] = static_cast<std::uint8_t>(s / 100);
    for (std::size_t i = 0; i < known.size(); ++i) out[known[i]] = static_cast<std::uint8_t>(classes.size() + i);
    return out;
}();

constexpr auto texts = [] {
    std::array<std::array<char, 3>, known.size()> out{};
    for (std::size_t i = 0; i < known.size(); ++i) {
        out[i] = {static_cast<char>('0' + known[i] / 100), static_cast<char>('0' + known[i] / 10 % 10),
                  static_cast<char>('0' + known[i] % 10)};
    }
    return out;
}();

}  // namespace

std::uint8_t code_number(unsigned status) noexcept {
    return status < numbers.size() ? numbers[status] : 0;
}

std::string_view code_text(std::uint8_t number) noexcept {
    if (number < classes.size()) return classes[number];
    const auto& t = texts[number - classes.size()];
    return {t.data(), t.size()};
}

}  // namespace idem::gateway::observe::detail
