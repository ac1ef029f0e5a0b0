#pragma once
// Whether one pattern of a route takes everything that another takes. Pure.
#include <string_view>

namespace idem::gateway::config {

/// True if every text that `narrow` matches is matched by `wide` (globs with *). May say false where it is hard
/// to tell, never true wrongly.
[[nodiscard]] bool covers(std::string_view wide, std::string_view narrow) noexcept;

}  // namespace idem::gateway::config
