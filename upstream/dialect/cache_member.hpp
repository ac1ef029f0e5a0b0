#pragma once
// LiteLLM's cache control, an object that its clients put into the body under the name `cache`. It speaks to gateways:
// a dialect that has it in its ignored list reads it, no digest holds it and no upstream sees it. Any thread.
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect {

/// Where it stands, as a body rule.
inline constexpr std::string_view cache_member = "/cache";

/// Keeps the member if `key`, as written in the body, is its name; null is no member.
void read_cache_member(call& c, std::string_view key, std::string_view value);

}  // namespace idem::upstream::dialect
