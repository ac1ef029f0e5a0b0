#pragma once
// Watchers for Gemini answers. One is complete if every candidate 0..n-1 has a finish reason and nothing reports an
// error; candidates that are absent because the prompt was blocked count as filtered. STOP and MAX_TOKENS (length
// limited) are good ends, those for safety, recitation and the like count as filtered, and all others, as of calls that
// the model got wrong, are errors. One watcher belongs to one fill.
#include <memory>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::gemini {

[[nodiscard]] std::unique_ptr<watcher> watch_answer(form f, unsigned candidates);

}  // namespace idem::upstream::dialect::gemini
