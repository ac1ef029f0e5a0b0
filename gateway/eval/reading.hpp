#pragma once
// What one recorded answer says. Pure; any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/eval/record.hpp"

namespace idem::gateway::eval {

/// The normalised output and prompt tokens of one run; nullopt where its answer cannot be read.
struct reading {
    std::string normal, text, fingerprint;
    std::vector<std::int64_t> ids;  // of its tokens, where the engine tells them
    std::uint64_t prompt_tokens = 0;
    // Of the tokens of the first choice, where an answer that is an object tells them; as many names as numbers.
    std::vector<std::string> token_names;
    std::vector<double> logprobs;
};
[[nodiscard]] std::optional<reading> read_run(const run_record& r, std::string_view path);

/// The words of a normalised output, which is JSON of the dialect's own making; all of it where it has none.
[[nodiscard]] std::string words_of(const std::string& normal);

}  // namespace idem::gateway::eval
