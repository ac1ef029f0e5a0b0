#pragma once
// An OpenAI embeddings call taken apart into its inputs: strings, or lists of token ids.
#include "upstream/dialect/batching.hpp"

namespace idem::upstream::dialect::openai {

[[nodiscard]] const batching& embedding_inputs() noexcept;

}  // namespace idem::upstream::dialect::openai
