#pragma once
// The answers that a release is held to, and two evaluations side by side. Pure; any thread.
#include <map>
#include <string>
#include <string_view>

#include "gateway/eval/ladder.hpp"
#include "gateway/eval/score.hpp"

namespace idem::gateway::eval {

/// The manifest to repeat, and of each prompt its reference.
struct baseline {
    manifest about;
    std::map<std::string, std::string> outputs;  // normalised, by prompt
};
[[nodiscard]] baseline freeze(const recording& all);
[[nodiscard]] std::string to_json(const baseline& b);
[[nodiscard]] bool read_baseline(std::string_view text, baseline& into, std::string& error);

/// What an evaluation is worth beside a baseline: its own verdict, unless that is good: then environment_changed or
/// other_answers where they apply. Adds its reasons, each differing answer with the rung that both still share.
void hold_to(const baseline& b, const recording& all, summary& s, const meaning_judge& means = {});

struct comparison {
    bool same = true;  // no prompt that both have got another answer, and no cell flips more than can be chance
    std::string text;  // a table in Markdown
};
/// Two evaluations side by side. Cells are compared by Fisher's exact test, at the 5 % level corrected over the cells.
[[nodiscard]] comparison compare(const recording& before, const recording& after, const meaning_judge& means = {});

}  // namespace idem::gateway::eval
