#pragma once
// Watchers for Ollama's answers: complete is what says `"done":true` and nothing after it. One belongs to one fill.
#include <memory>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::ollama {

/// Which member holds the words: `message` of chat, `response` of generate.
enum class api : std::uint8_t { chat, generate };

[[nodiscard]] std::unique_ptr<watcher> watch_answer(form f, api which);

}  // namespace idem::upstream::dialect::ollama
