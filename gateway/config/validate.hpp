#pragma once
// What no single key can show: references between keys, contradictions, and settings that would be unsafe together.
// Each message says what to do. Also makes each replica's target from its URL. Pure apart from files that the world
// reads.
#include <string>

#include "gateway/config/loader.hpp"

namespace idem::gateway::config {

/// Adds to `l.errors` and `l.warnings`. `file` is what the whole configuration is called in messages.
void validate(loaded& l, const std::string& file, const world& w);

}  // namespace idem::gateway::config
