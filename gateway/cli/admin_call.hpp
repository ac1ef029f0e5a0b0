#pragma once
// One request to the admin API of a running gateway, for commands. Blocks, within a limit.
#include <chrono>
#include <string>
#include <string_view>

#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

struct admin_answer {
    std::string trouble;  // no answer: why, for people; empty if there is one
    unsigned status = 0;
    std::string body;
    /// The `detail` of a problem document (RFC 9457), or the status.
    [[nodiscard]] std::string problem() const;
};

/// The token is that of IDEM_ADMIN_TOKEN, else of the configuration, else of the file in its data directory.
[[nodiscard]] admin_answer call_admin(const admin_flags& where, std::string_view method, std::string_view target,
                                      std::string body = {},
                                      std::chrono::milliseconds limit = std::chrono::seconds(10));

/// As one segment of a path or a value of a query (RFC 3986 section 2.1).
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace idem::gateway::cli
