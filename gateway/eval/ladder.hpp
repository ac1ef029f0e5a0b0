#pragma once
// What two answers to one prompt still have in common. For reports; only equal normalised outputs are the same. Any
// thread.
#include <functional>
#include <string>

#include "gateway/eval/record.hpp"
#include "upstream/determinism/compare/divergence.hpp"

namespace idem::gateway::eval {

/// Whether two texts mean the same; whoever has no way to tell has none of these. May block.
using meaning_judge = std::function<bool(const std::string& a, const std::string& b)>;

/// Of two normalised outputs. `means` is asked where nothing else is common.
[[nodiscard]] upstream::determinism::rung shared_rung(const prompt& p, const std::string& a, const std::string& b,
                                                      const meaning_judge& means = {});

}  // namespace idem::gateway::eval
