#pragma once
// What a call's replica is chosen by. Pure but for `none`; any thread.
#include <string_view>

#include "gateway/config/config.hpp"
#include "upstream/base/digest.hpp"

namespace idem::gateway::pipeline {

/// Bytes of the prompt's beginning that calls pinned by prefix are told apart by: what a system prompt is, mostly.
inline constexpr std::size_t pinned_prefix = 1024;

/// request: the request digest. prefix: a digest of dialect, model and the first bytes of what the model reads, in
/// canonical form, so that prompts which begin alike have one replica; the request digest where there is none. none: a
/// random one.
[[nodiscard]] digest pin_of(config::upstream_pool::pinning by, const digest& request, std::string_view dialect,
                            std::string_view model, std::string_view canonical);

}  // namespace idem::gateway::pipeline
