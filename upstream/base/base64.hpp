#pragma once
// Base64 (RFC 4648 section 4): the standard alphabet with padding, without line breaks. Pure.
#include <optional>
#include <string>
#include <string_view>

namespace idem {

[[nodiscard]] std::string base64_of(std::string_view bytes);
/// Strict: whole groups of four, nothing outside of the alphabet, padding at the end alone. nullopt on anything else
/// and on texts above 64 MiB.
[[nodiscard]] std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace idem
