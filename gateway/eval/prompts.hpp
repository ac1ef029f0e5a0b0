#pragma once
// The prompts that an evaluation puts: a set that comes with Idem, or a file. Pure; any thread.
#include <string>
#include <string_view>
#include <vector>

#include "gateway/eval/record.hpp"

namespace idem::gateway::eval {

/// Written for this purpose: short facts, JSON, tool calls, code, long text, reasoning, long context, several scripts
/// in Chinese and English, and near-ties, where two answers are about as probable and the smallest difference decides.
[[nodiscard]] std::vector<prompt> builtin_prompts();

/// One JSON object a line, as golden prompts are written: {"name", "path", "body"}, or {"name", "prompt", "max_tokens"}
/// for a chat; "check" may say what the answer's task value is (upstream/determinism/compare/task.hpp). `error` names
/// the line or the prompt.
[[nodiscard]] std::vector<prompt> parse_prompts(std::string_view text, std::string& error);

inline constexpr std::string_view near_tie = "near-tie";

}  // namespace idem::gateway::eval
