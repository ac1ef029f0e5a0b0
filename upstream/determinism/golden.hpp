#pragma once
// Golden prompts: where they come from, and how they become requests. Pure; any thread.
#include <string>
#include <string_view>
#include <vector>

#include "upstream/determinism/reference.hpp"

namespace idem::upstream::determinism {

inline constexpr std::size_t most_golden_prompts = 256;

/// The prompts that come with Idem: short, and of kinds that flip easily: prose with many near-ties, code, numbers,
/// another script.
[[nodiscard]] std::vector<golden_prompt> builtin_golden();

struct golden_file {
    std::vector<golden_prompt> prompts;
    std::string error;  // "line 3: …"; empty if all is well
};
/// One JSON object a line: {"name", "path", "body"} with a whole request body, or {"name", "prompt", "max_tokens"} for
/// a chat; a name is made up where there is none. Empty lines and lines that begin with # are left out.
[[nodiscard]] golden_file parse_golden(std::string_view text);

/// `body`, which is a JSON object, with this model where it names none.
[[nodiscard]] std::string with_model(std::string_view body, std::string_view model);

}  // namespace idem::upstream::determinism
