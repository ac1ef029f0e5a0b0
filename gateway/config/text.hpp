#pragma once
// The scalar notations of the configuration: sizes, durations, addresses. Pure; each parse_ accepts what its format_
// writes. Any thread.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/config/config.hpp"

namespace idem::gateway::config {

/// "64MiB", "10MB", "4096": bytes. Units B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (of 1000); case counts
/// not.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;
/// "40%" of `whole`; 1 to 100.
[[nodiscard]] std::optional<std::uint64_t> parse_share(std::string_view text, std::uint64_t whole) noexcept;
/// "0.02", "1", "0": millionths; at most six digits behind the point.
[[nodiscard]] std::optional<std::uint64_t> parse_ratio(std::string_view text) noexcept;
/// "50ms", "10s", "15m", "6h", "30d", "1h30m", "0".
[[nodiscard]] std::optional<milliseconds> parse_duration(std::string_view text) noexcept;
/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080", ":8080" (every IPv4 interface). Literals only: no name is
/// resolved.
[[nodiscard]] std::optional<address> parse_address(std::string_view text);
/// "true", "false", also yes/no and on/off, as YAML 1.1 reads them.
[[nodiscard]] std::optional<bool> parse_boolean(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::uint64_t> parse_integer(std::string_view text) noexcept;
/// "10.0.0.0/8", "::1", "192.168.1.7".
[[nodiscard]] bool valid_cidr(std::string_view text);

[[nodiscard]] std::string format_size(std::uint64_t bytes);
[[nodiscard]] std::string format_ratio(std::uint64_t millionths);
[[nodiscard]] std::string format_duration(milliseconds d);
[[nodiscard]] std::string format_address(const address& a);

/// `user:password@` of a URL becomes `***@`.
[[nodiscard]] std::string mask_url(std::string_view url);

/// Levenshtein distance, for "did you mean".
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `word`, if it is near enough to be meant.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Text as a YAML scalar: plain where that reads back the same, else in double quotes.
[[nodiscard]] std::string yaml_scalar(std::string_view text);

}  // namespace idem::gateway::config
