#pragma once
// Pieces that the renderings of several APIs are made of. Pure; any thread.
#include <string>
#include <string_view>
#include <vector>

#include "upstream/simulate/render.hpp"

namespace idem::upstream::simulate {

/// As a JSON string, with its quotes.
[[nodiscard]] std::string quoted(std::string_view text);
[[nodiscard]] std::string joined(const std::vector<std::string>& tokens);
/// What a model that was asked to think thinks before this choice; empty for one that was not.
[[nodiscard]] std::vector<std::string> thoughts(const asked& a, const choice_text& c);

}  // namespace idem::upstream::simulate
