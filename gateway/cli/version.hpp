#pragma once
// What `idem version` prints, and the `version` label of idem_build_info.
#include <string>
#include <string_view>

namespace idem::gateway::cli {

[[nodiscard]] std::string_view version() noexcept;  // "0.1.0"
[[nodiscard]] std::string version_text(bool json);

}  // namespace idem::gateway::cli
