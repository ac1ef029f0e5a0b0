#pragma once
// A complete answer of the admin API. Pure data.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::gateway::admin {

struct response {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  // besides Content-Type and the fixed ones
};

/// An error as RFC 9457 problem details.
[[nodiscard]] response problem(unsigned status, std::string_view detail);
/// Status line and fields, each ended by CRLF. No answer of this API may be stored or sniffed.
[[nodiscard]] std::string head_of(const response& r);

}  // namespace idem::gateway::admin
