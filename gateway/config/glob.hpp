#pragma once
// The patterns of routes: `*` stands for any run of characters, everything else for itself. Pure.
#include <string_view>

namespace idem::gateway::config {

/// Case-sensitive; linear in practice, quadratic at worst.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

/// True if every text that `narrow` matches is matched by `wide`; an empty pattern takes everything. May say false
/// where it is hard to tell, never true wrongly.
[[nodiscard]] bool covers(std::string_view wide, std::string_view narrow) noexcept;

}  // namespace idem::gateway::config
