#pragma once
// The simulated engine as Gemini: generateContent, streamGenerateContent in both of its forms, countTokens,
// embedContent and batchEmbedContents, of any version and model. Sans-I/O, any thread.
#include <string_view>

#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate {

[[nodiscard]] bool is_gemini_call(std::string_view method, std::string_view path) noexcept;
/// `target` is the path with its query; `body` is whole.
[[nodiscard]] answer gemini_answer(const simulate_options& options, std::string_view target, std::string_view body,
                                   const chance& luck);

}  // namespace idem::upstream::simulate
