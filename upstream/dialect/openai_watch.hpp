#pragma once
// Watchers for the OpenAI dialects: is an answer complete and good enough to be stored? Complete means: every choice
// 0..n-1 has a finish reason, a stream has shown [DONE], nothing reports an error. One watcher belongs to one fill.
#include <memory>
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::openai {

/// For answers made of `choices`. `payload` is what every choice of the object form must hold: "message" or "text".
[[nodiscard]] std::unique_ptr<watcher> watch_choices(form f, const call& c, std::string_view payload);
/// For an embeddings answer: one non-empty embedding for each input.
[[nodiscard]] std::unique_ptr<watcher> watch_embeddings(const call& c);

}  // namespace idem::upstream::dialect::openai
