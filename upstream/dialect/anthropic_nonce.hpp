#pragma once
// Claude Code begins the system prompt of every request with a line of its own, for the provider's billing:
//     x-anthropic-billing-header: cc_version=2.1.100.7b4; cc_entrypoint=cli; cch=eb6c6;
// Its values differ from request to request, so no two requests would ever be the same. Only a line of exactly that
// grammar is taken out, at the beginning of `system` or of one of its text blocks: prose that merely begins like it is
// a prompt. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::anthropic {

/// See dialect::without_nonces. A text block in which nothing else stands is left out whole.
[[nodiscard]] std::optional<std::string> without_nonces(std::string_view body);

}  // namespace idem::upstream::dialect::anthropic
