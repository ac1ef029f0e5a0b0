#pragma once
// Deterministic make-believe: the meaning of a JSON value as a number, words that follow from a number, and JSON that
// fits a schema. Sans-I/O, any thread; no clock and no randomness in here.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idem::upstream::simulate {

/// Next value of a hash chain (SplitMix64's finaliser).
[[nodiscard]] std::uint64_t mix(std::uint64_t x) noexcept;
/// Equal for JSON values that mean the same: white space, key order, escapes and spellings of numbers do not count.
/// `token` must be valid JSON.
[[nodiscard]] std::uint64_t meaning(std::string_view token);
/// `count` tokens whose concatenation is a text; token i depends on `state` and i only, so a shorter text is a prefix.
[[nodiscard]] std::vector<std::string> words(std::uint64_t state, std::size_t count);
/// A JSON object with a value for each of the schema's `properties`.
[[nodiscard]] std::string json_for_schema(std::string_view schema, std::uint64_t state);
/// Cuts text into tokens of a few bytes, on code-point boundaries.
[[nodiscard]] std::vector<std::string> slices(std::string_view text);

}  // namespace idem::upstream::simulate
