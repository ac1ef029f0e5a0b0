#pragma once
// The query of an admin request, read once and whole. Pure; any thread.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::gateway::admin {

/// Undoes percent-encoding (RFC 3986 section 2.1); nullopt where it is broken.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

class query {
public:
    /// `error` names what is wrong: a parameter that is none of `known`, one that comes twice, broken escapes.
    query(std::string_view text, std::span<const std::string_view> known);
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    /// Empty where it is not there.
    [[nodiscard]] std::string_view text(std::string_view name) const noexcept;
    /// False where it is absent or 0, true for 1 or the bare name. Anything else is an error, told by error().
    [[nodiscard]] bool flag(std::string_view name);

private:
    std::vector<std::pair<std::string, std::optional<std::string>>> given_;
    std::string error_;
};

}  // namespace idem::gateway::admin
