#pragma once
// Request targets and hosts as we accept them (RFC 9112 section 3.2, RFC 3986 section 3.2.2). Pure.
#include <string>
#include <string_view>

#include "upstream/http/head_grammar.hpp"

namespace idem::upstream::http {

/// Checks the target and makes an absolute one origin-form; its authority is checked and dropped, since we never route
/// by host. Refuses authority-form and CONNECT, fragments, control characters and bytes above 0x7E; "*" is for OPTIONS.
[[nodiscard]] verdict normalise_target(std::string_view method, std::string& target);
/// uri-host [ ":" port ], without user information; an empty host is refused.
[[nodiscard]] bool valid_host(std::string_view host) noexcept;

}  // namespace idem::upstream::http
